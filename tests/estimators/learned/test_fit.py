"""What `LearnedRobustPCA` learns from one matrix."""

import numpy as np
import pytest
from learned_models import M, Q, assert_same, learned
from sklearn.utils.estimator_checks import parametrize_with_checks
from stream_samples import noise_penalties

import unmingle
from unmingle import Encoder, LearnedRobustPCA, RobustPCA
from unmingle.core.encoder.answers import exact_answer
from unmingle.learn import Training
from unmingle.metrics import subspace_angle


@parametrize_with_checks(
    [
        LearnedRobustPCA(training=Training(passes=2), random_state=0),
        LearnedRobustPCA(2, update_dictionary=True, n_layers=2, training=Training(passes=2), random_state=0),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_the_components_are_those_of_the_factored_problem(X, model):
    exact = RobustPCA(Q, **noise_penalties(X), random_state=0).fit(X)
    assert model.n_components_ == Q
    assert model.rank_penalty_ == pytest.approx(exact.rank_penalty_, rel=1e-3)
    assert subspace_angle(model.components_, exact.components_) < 0.1
    assert subspace_angle(model.components_, np.random.default_rng(99).standard_normal((Q, M))) < 2


def test_training_brings_new_samples_nearer_to_the_exact_answer(X, new, model):
    start = model.encoder_.untrained()
    exact = exact_answer(start, new)
    least, before, after = (
        start.cost(new, *answer).mean() for answer in (exact, start.encode(new), model.encoder_.encode(new))
    )
    assert before - after > 0.15 * (before - least)
    assert len(model.history_) > 10


def test_history_and_card_are_in_units_of_the_data(X):
    data = 37 * X
    model = learned(validation=0.0, update_dictionary=True).fit(data)
    plain = RobustPCA(Q, **noise_penalties(data), random_state=0).fit(data)
    weights = None
    for encoder, cost in (
        (Encoder.from_components(plain.components_, rank_penalty=model.rank_penalty_,
                                 outlier_penalty=model.outlier_penalty_, n_layers=3), model.history_[0, 1]),
        (model.encoder_, model.history_[:, 1].min()),
    ):  # fmt: skip
        size = model.rank_penalty_ / (2 * len(X)) * np.sum(encoder.components**2)
        f = encoder.cost(data, *encoder.encode(data))
        weights = 1 / np.maximum(1, f / np.median(f)) if weights is None else weights  # those of the start
        assert np.average(f, weights=weights) + size == pytest.approx(cost, rel=1e-3)
    assert model.card_["validation cost, untrained"] == model.history_[0, 1]
    assert model.card_["validation cost, trained"] == model.history_[:, 1].min()
    assert (model.card_["samples"], model.card_["features"], model.card_["components"]) == (300, M, Q)
    assert model.card_["steps"] == model.history_[-1, 0] == 40


def test_dictionary_too(X, model):
    moved = learned(update_dictionary=True, passes=50).fit(X)
    assert not np.array_equal(moved.components_, model.components_)
    assert np.array_equal(moved.components_, moved.encoder_.components)
    assert subspace_angle(moved.components_, model.components_) < 3
    assert moved.history_[:, 1].min() < moved.history_[0, 1]


@pytest.mark.parametrize("options", [{"tied": False}, {"structure": "full"}, {"loss": "imitation"}], ids=str)
def test_settings_reach_the_network(options, X):
    model = learned(**options).fit(X)
    assert model.encoder_.tied == options.get("tied", True)
    assert model.encoder_.structure == options.get("structure", "low_rank")
    assert model.encoder_.n_layers == 3
    assert model.history_[:, 1].min() < model.history_[0, 1]


def test_penalties_that_were_given(X):
    lam = np.linspace(0.2, 0.4, M)
    model = learned(rank_penalty=3.0, outlier_penalty=lam).fit(X)
    assert model.rank_penalty_ == model.encoder_.rank_penalty == 3.0
    assert np.array_equal(model.outlier_penalty_, lam)
    assert np.allclose(model.encoder_.outlier_penalty, lam, rtol=1e-15)


def test_seeds(X):
    one, again, other = (learned(random_state=seed).fit(X) for seed in (0, 0, 1))
    assert_same(one, again)
    assert not np.array_equal(one.encoder_.layers.decoder, other.encoder_.layers.decoder)


def test_budget(X):
    assert learned(passes=3).fit(X).history_[-1, 0] == 12, "270 samples to learn from, 4 batches a pass"
    assert learned(passes=3, max_steps=5).fit(X).history_[-1, 0] == 5


def test_scale_is_a_matter_of_units(X, new):
    """A power of two loses no digit anywhere."""
    c = 2.0**20
    plain, large = (learned(update_dictionary=True).fit(rows) for rows in (X, c * X))
    assert large.rank_penalty_ == pytest.approx(c * plain.rank_penalty_, rel=1e-12)
    assert np.allclose(large.history_[:, 1], c**2 * plain.history_[:, 1], rtol=1e-9)
    one, other = plain.decompose(new), large.decompose(c * new)
    assert np.allclose(other.low_rank, c * one.low_rank, rtol=1e-9, atol=1e-9 * c)
    assert np.allclose(other.outliers, c * one.outliers, rtol=1e-9, atol=1e-9 * c)
    assert np.allclose(other.codes, np.sqrt(c) * one.codes, rtol=1e-9, atol=1e-9 * np.sqrt(c))
    assert np.allclose(other.sample_gap, one.sample_gap, rtol=1e-6)


def test_float32_stays_float32(X, new):
    model = learned(update_dictionary=True).fit(X.astype(np.float32))
    for _ in range(2):
        assert model.components_.dtype == model.encoder_.layers.decoder.dtype == np.float32
        part = model.decompose(new.astype(np.float32))
        parts = model.transform(new.astype(np.float32)), part.codes, part.low_rank, part.outliers, part.residual
        assert {part.dtype for part in parts} == {np.dtype(np.float32)}
        assert model.transform(new).dtype == np.float64
        assert model.history_[:, 1].min() < model.history_[0, 1]
        model.partial_fit(X[:20].astype(np.float32))


def test_interrupted_fit_goes_on(X, tmp_path):
    def interrupt(progress):
        if progress.done == 17:
            raise KeyboardInterrupt

    path = tmp_path / "c.safetensors"
    for seed in (0, None):
        with pytest.raises(KeyboardInterrupt):
            learned(random_state=seed).fit(X, checkpoint=path, callback=interrupt)
        resumed = learned(random_state=seed).fit(X, checkpoint=path)
        path.unlink()
        assert resumed.history_[-1, 0] > 17
        if seed == 0:
            assert_same(resumed, learned().fit(X))
    assert learned().fit(X, callback=lambda progress: progress.done == 4).history_[-1, 0] == 4


def test_a_checkpoint_of_other_settings_is_refused(X, tmp_path):
    path = tmp_path / "c.safetensors"
    learned().fit(X, checkpoint=path, callback=lambda progress: True)
    for other in ({"n_layers": 4}, {"rank_penalty": 1.0}, {"n_components": 2}, {"loss": "imitation"}):
        with pytest.raises(ValueError, match="belongs to other data or settings"):
            learned(**other).fit(X, checkpoint=path)
    with pytest.raises(ValueError, match="belongs to other data or settings"):
        learned().fit(X[::-1], checkpoint=path)


def spectra(n, seed):
    """Broad bands that overlap, with spikes: few untrained layers are far from the answer."""
    places, made = np.linspace(0, 1, 40), np.random.default_rng(9)
    bands = np.exp(-(((places - made.random((4, 1))) / 0.15) ** 2)) + 0.5 * made.random((4, 1))
    rng = np.random.default_rng(seed)
    X = rng.gamma(1.0, 1.0, (n, 4)) @ bands + 0.02 * rng.random((n, 40))
    hit = rng.random(X.shape) < 0.1
    return X + np.where(hit, rng.uniform(0.5, 3, X.shape), 0)


def test_defaults_gain_with_sixty_samples(recwarn):
    model, new = LearnedRobustPCA(4, n_layers=2).fit(spectra(60, 0)), spectra(200, 1)
    untrained = model.encoder_.untrained()
    least = untrained.cost(new, *exact_answer(untrained, new)[:2]).mean()
    before, after = (one.cost(new, *one.encode(new)).mean() - least for one in (untrained, model.encoder_))
    assert after < 0.8 * before
    assert model.history_[-1, 0] > 100
    assert not recwarn.list
    assert model.card_["gain of training"] > 0.02


def test_training_that_gains_nothing_ends_early_and_says_so():
    X = unmingle.synth.low_rank_plus_sparse(300, 60, 2, noise=0.05, random_state=0).X
    with pytest.warns(UserWarning, match="gained nothing worth speaking of .* fewer layers will do") as told:
        model = LearnedRobustPCA(2, n_layers=6).fit(X)
    assert len(told) == 1
    assert model.history_[-1, 0] < 0.5 * Training().max_steps
    assert abs(model.card_["gain of training"]) < 1e-3
