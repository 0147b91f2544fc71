import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import unmingle
from unmingle import RobustPCA, store
from unmingle.core import objective
from unmingle.metrics import subspace_angle


@parametrize_with_checks(
    [
        RobustPCA(random_state=0),
        RobustPCA(n_components=2, random_state=0),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def world():
    """Components, clean training samples with outliers, and clean new samples."""
    rng = np.random.default_rng(0)
    U = rng.standard_normal((3, 80))
    train, new = (rng.standard_normal((n, 3)) @ U + 0.05 * rng.standard_normal((n, 80)) for n in (200, 100))
    hit = rng.random(train.shape) < 0.1
    train[hit] += 6 * rng.choice([-1, 1], hit.sum())
    return U, train, new


@pytest.fixture(scope="module")
def model(world):
    return RobustPCA(random_state=0).fit(world[1])


def test_components_resist_what_bends_plain_pca(world, model):
    U, train, _ = world
    plain = PCA(3).fit(train)
    assert model.n_components_ == 3
    assert subspace_angle(model.components_, U) < 2
    assert subspace_angle(plain.components_, U) > 5
    assert model.converged_
    assert model.gap_ <= model.tol


def test_transform_takes_outliers_off_new_data(world, model):
    _, _, new = world
    rng = np.random.default_rng(1)
    hit = rng.random(new.shape) < 0.15
    dirty = np.where(hit, new + rng.choice([-9, 9], new.shape), new)
    assert np.abs(model.transform(dirty) - model.transform(new)).max() < 0.1 * np.abs(model.transform(new)).max()
    restored = model.inverse_transform(model.transform(dirty))
    assert np.sqrt(np.mean((restored - new) ** 2)) < 0.1
    part = model.decompose(dirty)
    assert (part.outliers[hit] != 0).mean() > 0.99
    assert (np.abs(part.outliers[hit]) > 5).mean() > 0.99
    assert (part.outliers[~hit] != 0).mean() < 0.15


def test_every_projection_is_certified(world, model):
    part = model.decompose(world[2])
    assert part.sample_gap.shape == (100,)
    assert part.sample_gap.max() <= 1e-10
    own = objective.projection_gap(world[2], model.components_, part.codes, model.rank_penalty_, model.outlier_penalty_)
    assert own.max() < 1e-9
    cost = objective.projection(
        world[2], model.components_, part.codes, part.outliers, model.rank_penalty_, model.outlier_penalty_
    )
    assert np.isclose(part.objective, cost.sum())


def test_each_row_is_projected_on_its_own(world, model):
    new = world[2]
    whole = model.transform(new)
    assert np.allclose(model.transform(new[7:8]), whole[7:8], atol=1e-9)
    assert np.allclose(model.transform(new[::-1]), whole[::-1], atol=1e-9)


@pytest.mark.parametrize(
    "estimator",
    [
        RobustPCA(2),
        unmingle.OnlineRobustPCA(2),
        unmingle.LearnedRobustPCA(2, n_layers=2, training=unmingle.learn.Training(max_steps=5)),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_the_same_data_give_the_same_numbers(estimator, world):
    """Without a seed, and with the seed 0; another one gives other last digits."""
    X = world[1]
    seeds = (None, None, 0, 1)
    bits = [clone(estimator).set_params(random_state=seed).fit(X).components_.tobytes() for seed in seeds]
    assert bits[0] == bits[1] == bits[2] != bits[3]


def test_fit_transform_is_fit_then_transform(world):
    train = world[1]
    one = RobustPCA(random_state=0).fit_transform(train)
    assert np.array_equal(one, RobustPCA(random_state=0).fit(train).transform(train))


def test_missing_entries_of_new_data_are_imputed(world, model):
    new = world[2].copy()
    holes = np.random.default_rng(2).random(new.shape) < 0.3
    holes[5] = True
    part = model.decompose(np.where(holes, np.nan, new))
    rest = holes & (np.arange(len(new)) != 5)[:, None]
    assert np.sqrt(np.mean((part.low_rank - new)[rest] ** 2)) < 0.1
    assert (part.codes[5] == 0).all()
    assert np.isfinite(model.score_samples(np.where(holes, np.nan, new))).all()


def apart(bad, good):
    """Share of pairs in which the bad one has the lower score."""
    return np.mean(bad[:, None] < good)


def test_strange_samples_score_low_and_alarms_keep_their_rate(world, model):
    U = world[0]
    rng = np.random.default_rng(3)
    ordinary = rng.standard_normal((2000, 3)) @ U + 0.05 * rng.standard_normal((2000, 80))
    strange = rng.standard_normal((50, 80)) * 2
    assert apart(model.score_samples(strange), model.score_samples(ordinary)) > 0.99
    clean = RobustPCA(random_state=0).fit(ordinary[:1000])
    for rate in (0.01, 0.05):
        alarms = clean.outlier_flags(ordinary[1000:], false_alarm_rate=rate).mean()
        assert abs(alarms - rate) < 0.02
    assert clean.outlier_flags(strange).all()
    assert clean.score_samples(strange).max() < clean.score_samples(ordinary).min()


@pytest.mark.parametrize(("m", "rank"), [(5, 1), (8, 2), (10, 2), (20, 3)])
def test_false_alarms_on_few_features_are_as_many_as_asked_for(m, rank):
    """Mean over models; each alone depends on its training data."""
    rates = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        V = 3 * rng.standard_normal((rank, m))
        train, new = (rng.standard_normal((n, rank)) @ V + rng.standard_normal((n, m)) for n in (800, 5000))
        model = RobustPCA(random_state=0).fit(train)
        rates.append([model.outlier_flags(new, false_alarm_rate=rate).mean() / rate for rate in (0.05, 0.01)])
    assert np.mean(rates, axis=0) == pytest.approx(1.0, abs=0.4)


def test_too_few_components_leave_the_gap_open(world):
    model = RobustPCA(n_components=2, random_state=0).fit(world[1])
    assert model.n_components_ == 2
    assert model.converged_
    assert model.gap_ > 1e-2


def test_more_components_than_features_are_capped(world):
    assert RobustPCA(n_components=1000, random_state=0).fit(world[1]).n_components_ == 3


@pytest.mark.parametrize(("dtype", "sizes"), [(np.float64, (1e6, 1e20, 1e200)), (np.float32, (1e6, 1e20, 9.97e36))])
def test_a_huge_outlier_changes_neither_its_own_code_nor_other_rows(dtype, sizes, world):
    model = RobustPCA(random_state=0).fit(world[1].astype(dtype))
    new = world[2].astype(dtype)
    new[3, 5] = 100
    expected = model.transform(new)
    for size in sizes:
        new[3, 5] = size
        part = model.decompose(new)
        assert np.allclose(part.codes, expected, rtol=1e-5, atol=1e-5)
        assert part.sample_gap.max() < (1e-9 if dtype == np.float64 else 1e-4)


def test_float32_data_in_a_float64_model(world, model):
    part = model.decompose(world[2].astype(np.float32))
    assert part.low_rank.dtype == part.residual.dtype == np.float32
    assert model.inverse_transform(part.codes).dtype == np.float32


def test_shares_of_variance_count_missing_entries_as_imputed(world, model):
    holes = np.random.default_rng(4).random(world[1].shape) < 0.4
    shares = RobustPCA(random_state=0).fit(np.where(holes, np.nan, world[1])).explained_variance_ratio_
    assert np.allclose(shares, model.explained_variance_ratio_, atol=0.03)


@pytest.mark.parametrize("n_features", [5, 20])
def test_alarms_keep_near_their_rate_on_narrow_tables(n_features):
    rng = np.random.default_rng(5)
    U = rng.standard_normal((2, n_features))
    rows = rng.standard_normal((4000, 2)) @ U + 0.05 * rng.standard_normal((4000, n_features))
    model = RobustPCA(random_state=0).fit(rows[:2000])
    assert model.outlier_flags(rows[2000:], false_alarm_rate=0.01).mean() < 0.04


def test_files_with_a_wrong_content_are_refused(world, tmp_path):
    model = RobustPCA(n_components=3, random_state=0).fit(world[1])
    good = {"init": model.get_params(), "fitted": {"transform": 1}}
    for parameters in ({}, good, {"init": {"surprise": 1}, "fitted": {}}):
        store.write(tmp_path / "odd.safetensors", "RobustPCA", parameters, {"components_": np.eye(3)})
        with pytest.raises(store.StoreError, match="complete RobustPCA"):
            unmingle.load(tmp_path / "odd.safetensors")


def test_shares_of_variance(world, model):
    assert (np.diff(model.explained_variance_ratio_) <= 0).all()
    assert 0.9 < model.explained_variance_ratio_.sum() <= 1
    assert np.allclose(model.singular_values_, np.linalg.norm(model.components_, axis=1) ** 2)


def test_pipeline_grid_search_clone_and_pickle(world):
    U, train, new = world
    y = train @ np.linalg.pinv(U)[:, 0]
    pipe = make_pipeline(StandardScaler(with_std=False), RobustPCA(random_state=0), LinearRegression())
    search = GridSearchCV(pipe, {"robustpca__n_components": [1, 3]}, cv=2).fit(train, y)
    assert search.best_params_ == {"robustpca__n_components": 3}
    alone = GridSearchCV(RobustPCA(random_state=0), {"n_components": [1, 3]}, cv=2).fit(train)
    assert alone.best_params_ == {"n_components": 3}
    fitted = RobustPCA(n_components=3, random_state=0).fit(train)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.transform(new), fitted.transform(new))
    assert clone(fitted).get_params() == fitted.get_params()


def test_frames_in_frames_out(world):
    train = pd.DataFrame(world[1], columns=[f"pixel {j}" for j in range(80)])
    model = RobustPCA(random_state=0).set_output(transform="pandas").fit(train)
    codes = model.transform(train)
    assert list(codes.columns) == ["robustpca0", "robustpca1", "robustpca2"]
    part = model.decompose(train)
    assert list(part.outliers.columns) == list(train.columns)
    assert list(model.feature_names_in_) == list(train.columns)


@pytest.mark.parametrize("penalty", ["auto", 0.1, "vector"])
def test_saved_models_come_back_the_same(penalty, world, tmp_path):
    if penalty == "vector":
        penalty = np.linspace(0.1, 0.2, 80)
    train = pd.DataFrame(world[1], columns=[f"pixel {j}" for j in range(80)])
    model = RobustPCA(n_components=3, outlier_penalty=penalty, random_state=0).fit(train)
    model.save(tmp_path / "model.safetensors")
    again = unmingle.load(tmp_path / "model.safetensors")
    assert vars(again).keys() == vars(model).keys()
    assert np.array_equal(again.outlier_flags(train), model.outlier_flags(train))
    assert np.array_equal(again.transform(train), model.transform(train))
    assert list(again.feature_names_in_) == list(train.columns)
    assert str(again.get_params()) == str(model.get_params())


def test_float32_stays_float32(world):
    train = world[1].astype(np.float32)
    model = RobustPCA(random_state=0).fit(train)
    assert model.components_.dtype == np.float32
    part = model.decompose(train)
    assert part.codes.dtype == part.outliers.dtype == part.low_rank.dtype == np.float32
    assert part.sample_gap.max() < 1e-4
    exact = RobustPCA(random_state=0).fit(world[1])
    assert np.allclose(np.abs(model.transform(train)), np.abs(exact.transform(world[1])), atol=1e-2)


@pytest.mark.parametrize("scale", [1e-180, 1e180])
def test_models_of_any_scale(scale, world):
    train = world[1]
    small, plain = RobustPCA(random_state=0).fit(scale * train), RobustPCA(random_state=0).fit(train)
    one, other = small.decompose(scale * train), plain.decompose(train)
    assert np.allclose(one.low_rank / scale, other.low_rank, atol=1e-3)
    assert np.allclose(small.score_samples(scale * train), plain.score_samples(train), rtol=1e-2)


def test_refusals_are_clear(world):
    with pytest.raises(NotFittedError):
        RobustPCA().transform(world[1])
    with pytest.raises(ValueError, match="n_components"):
        RobustPCA(n_components=0).fit(world[1])
    model = RobustPCA(n_components=1).fit(world[1])
    with pytest.raises(ValueError, match="1 columns"):
        model.inverse_transform(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="false_alarm_rate"):
        model.outlier_flags(world[1], false_alarm_rate=2)


def test_progress_is_told(world):
    seen = []
    RobustPCA(random_state=0).fit(world[1], callback=lambda progress: seen.append(progress.done))
    assert seen == list(range(1, len(seen) + 1))


def test_shadows_are_outliers_of_a_lit_face(data_dir):
    """Real data: one person under many lights, half of the images for training."""
    faces = np.load(data_dir / "faces" / "yaleB_half_8subjects.npz")
    one = faces["images"][faces["subject"] == 15].reshape(-1, 96 * 84).astype(np.float32) / 255
    model = RobustPCA(n_components=9, random_state=0).fit(one[::2])
    part = model.decompose(one[1::2])
    assert model.converged_
    assert part.sample_gap.max() <= 1e-4
    codes = (one[1::2] @ np.linalg.pinv(model.components_)).astype(np.float32)
    plain = objective.projection_gap(one[1::2], model.components_, codes, model.rank_penalty_, model.outlier_penalty_)
    assert plain.min() > part.sample_gap.max()
    explained = np.median(np.abs(one[1::2] - part.low_rank), axis=1)
    assert np.median(explained) < np.median(np.abs(one[1::2] - codes @ model.components_))
