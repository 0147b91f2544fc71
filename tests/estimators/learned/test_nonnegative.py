"""`LearnedRobustNMF`: the same model with signs."""

import numpy as np
import pandas as pd
import pytest
from learned_models import assert_same, with_training
from sklearn.utils.estimator_checks import parametrize_with_checks

import unmingle
from unmingle import Encoder, LearnedRobustNMF, export
from unmingle.core.encoder.answers import exact_answer
from unmingle.learn import Training

M, Q = 24, 3
STREAM = {"window": 20, "window_step": 5, "passes": 5}


@parametrize_with_checks(
    [
        LearnedRobustNMF(training=Training(passes=2), random_state=0),
        LearnedRobustNMF(
            2,
            tied=False,
            update_dictionary=True,
            n_layers=2,
            training=Training(passes=2),
            random_state=0,
        ),
    ],
    expected_failed_checks=lambda _: dict.fromkeys(
        ("check_outliers_fit_predict", "check_outliers_train"), "they give negative rows, whatever the tags say"
    ),
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def learned(n_components=Q, **options):
    options = {"passes": 10, "n_layers": 3, "random_state": 0, **options}
    return LearnedRobustNMF(n_components, **with_training(options))


def samples(n, seed):
    """Nonnegative factors with outliers, their low-rank part and their outliers."""
    U = np.random.default_rng(99).exponential(size=(Q, M))
    rng = np.random.default_rng(seed)
    low_rank = rng.exponential(size=(n, Q)) @ U
    outliers = np.where(rng.random((n, M)) < 0.15, rng.uniform(0, 10, (n, M)), 0)
    return low_rank + outliers + 0.05 * rng.random((n, M)), low_rank, outliers


@pytest.fixture(scope="module")
def X():
    return samples(300, 1)[0]


@pytest.fixture(scope="module")
def new():
    return samples(200, 2)[0]


@pytest.fixture(scope="module")
def model(X):
    return learned(passes=50, tied=False).fit(X)


def F(model, rows, answer):
    n, lam_star = 300, model.rank_penalty_
    return model.encoder_.cost(rows, *answer).mean() + lam_star / (2 * n) * np.sum(model.components_**2)


def test_untrained_it_is_the_projected_gradient_method_cut_off(model, new):
    """Written out: every layer is a step of length 1 / Lip from the code before, the first one from o = 0."""
    U, lam, lam_star = (getattr(model, name) for name in ("components_", "outlier_penalty_", "rank_penalty_"))
    encoder = Encoder.from_components(
        U, rank_penalty=lam_star, outlier_penalty=lam, n_layers=7, nonnegative_codes=True, nonnegative_outliers=True
    )
    steepest = np.linalg.norm(U, 2) ** 2 + lam_star
    c = np.maximum(0, new @ U.T / steepest)
    for _ in range(7):
        before = np.maximum(new - c @ U - lam, 0)
        slope = (c @ U + before - new) @ U.T + lam_star * c
        c = np.maximum(0, c - slope / steepest)
    codes, outliers = encoder.encode(new)
    assert np.abs(codes - c).max() <= 1e-12 * np.abs(c).max()
    assert np.abs(outliers - before).max() <= 1e-12 * np.abs(before).max()


def test_all_parts_are_nonnegative_and_near_the_truth(model, new):
    part = model.decompose(new)
    assert min(part.codes.min(), part.components.min(), part.outliers.min()) >= 0
    exact = F(model, new, exact_answer(model.encoder_, new))
    own, untrained = (F(model, new, one.encode(new)) for one in (model.encoder_, model.encoder_.untrained()))
    assert exact <= own < 1.05 * exact
    assert own < untrained
    _, low_rank, _ = samples(200, 2)
    assert np.linalg.norm(part.low_rank - low_rank) < 0.1 * np.linalg.norm(low_rank)
    assert np.array_equal(model.transform(new), part.codes)


def test_every_sample_carries_its_gap(model, new):
    part = model.decompose(new)
    own = model.encoder_.cost(new, part.codes, part.outliers)
    least = model.encoder_.cost(new, *exact_answer(model.encoder_, new))
    assert (own * (1 - part.sample_gap) <= least * (1 + 1e-9)).all()
    assert np.median(part.sample_gap) < 0.2


@pytest.mark.parametrize("loss", ["unsupervised", "imitation", "source"])
def test_every_loss_learns_with_the_dictionary(loss):
    X, low_rank, outliers = samples(300, 1)
    y = np.stack([low_rank, outliers], axis=1) if loss == "source" else None
    model = learned(loss=loss, update_dictionary=True, passes=30).fit(X, y)
    assert model.history_[:, 1].min() < model.history_[0, 1]
    assert model.components_.min() >= 0
    assert model.transform(X).min() >= 0


def test_a_stream_is_followed(tmp_path):
    X = samples(90, 3)[0]
    options = {**STREAM, "update_dictionary": True}
    whole, half = learned(**options), learned(**options)
    whole.partial_fit(X[:40]).partial_fit(X[40:])
    half.partial_fit(X[:40]).save(tmp_path / "half.safetensors")
    resumed = unmingle.load(tmp_path / "half.safetensors").partial_fit(X[40:])
    assert_same(resumed, whole)
    assert whole.components_.min() >= 0
    assert whole.n_samples_seen_ == 90


def test_a_file_and_a_graph_give_the_same_answers(model, new, tmp_path):
    model.save(tmp_path / "m.safetensors")
    again = unmingle.load(tmp_path / "m.safetensors")
    assert type(again) is LearnedRobustNMF
    assert_same(again, model)
    assert np.array_equal(again.transform(new), model.transform(new))
    export.to_onnx(model, tmp_path / "m.onnx")
    codes, _, outliers = export.run(tmp_path / "m.onnx", new)
    for mine, other in zip((codes, outliers), model.encoder_.encode(new), strict=True):
        assert np.abs(mine - other).max() <= 1e-11 * np.abs(other).max()


def test_penalties_and_number_of_components_are_found(X, new):
    model = LearnedRobustNMF(n_layers=3, tied=False, training=Training(passes=10)).fit(X)
    assert model.n_components_ == Q
    doubled = LearnedRobustNMF(n_layers=3, tied=False, training=Training(passes=10)).fit(4 * X)
    assert np.allclose(doubled.transform(4 * new), 2 * model.transform(new), rtol=1e-6, atol=1e-9)


def test_missing_entries_are_no_obstacle(X, new):
    rng = np.random.default_rng(4)
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    model = learned(passes=30, tied=False).fit(holes)
    assert np.isfinite(model.decompose(np.where(rng.random(new.shape) < 0.1, np.nan, new)).low_rank).all()


def test_negative_entries_are_refused_with_their_place(model, X, new):
    bad = new.copy()
    bad[7, 5] = bad[9, 2] = -0.5
    for call in (learned().fit, model.transform, model.decompose, learned(**STREAM).partial_fit):
        with pytest.raises(ValueError, match=r"Negative values .* first is -0.5 in row 7, column 5;"):
            call(bad)
    frame = pd.DataFrame(bad, columns=[f"bin {k}" for k in range(M)])
    with pytest.raises(ValueError, match=r"in row 7, column 'bin 5';"):
        learned().fit(frame)
    with pytest.raises(ValueError, match="use 'low_rank'"):
        learned(structure="full").fit(X)
    with pytest.raises(ValueError, match="no nonnegative dictionary"):
        learned().begin_passes(X)
