"""What `OnlineRobustPCA` learns from a stream."""

import numpy as np
import pytest
from sklearn.decomposition import IncrementalPCA
from sklearn.utils.estimator_checks import parametrize_with_checks
from stream_samples import STEPS, noise_penalties, rows_of, stream_of

import unmingle
from unmingle import OnlineRobustPCA, RobustPCA
from unmingle.metrics import relative_error, subspace_angle
from unmingle.synth import subspace_stream


@parametrize_with_checks(
    [
        OnlineRobustPCA(random_state=0),
        OnlineRobustPCA(n_components=2, random_state=0, start_size=8, dictionary_step="direct"),
        OnlineRobustPCA(n_components=2, random_state=0, start_size=4, batch_size=3, dictionary_step="recursive"),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("seed", [0, 1])
def test_stationary_stream_with_default_settings(seed):
    """One pass over 4000 samples of 400 features, rank 10, a tenth of all entries outliers: 1.3 % at the end."""
    model, errors = OnlineRobustPCA(random_state=0), []
    for k, block in enumerate(subspace_stream(4000, 400, 10, random_state=seed)):
        if k >= 36:
            errors.append(relative_error(model.decompose(block.X).low_rank, block.low_rank))
        model.partial_fit(block.X)
    assert max(errors) < 0.013


@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("options", [{}, {"forgetting": 0.99}, {"forgetting": 0.99, "dictionary_step": "recursive"}])
def test_follows_a_subspace_that_turns(noise, options):
    """90 degrees in 10 000 samples, a tenth of all entries outliers: within 5 degrees, 8 with automatic forgetting."""
    model, plain, angles = OnlineRobustPCA(10, random_state=0, **options), IncrementalPCA(10), []
    for k, block in enumerate(subspace_stream(10_000, 200, 10, rotation=90.0, noise=noise, random_state=0)):
        model.partial_fit(block.X)
        plain.partial_fit(block.X)
        if k >= 20 and k % 10 == 0:
            angles.append(subspace_angle(model.components_, block.basis))
    limit = 5.0 if options else 8.0
    assert max(angles) < limit
    assert subspace_angle(plain.components_, block.basis) > 20


@pytest.mark.parametrize("step", STEPS)
def test_learns_what_the_estimator_of_one_matrix_learns(step):
    X, basis = rows_of(3000)
    online = OnlineRobustPCA(dictionary_step=step, forgetting=1.0, random_state=0).fit(X)
    whole = RobustPCA(**noise_penalties(X), random_state=0).fit(X)
    assert online.n_components_ == whole.n_components_ == 3
    assert online.rank_penalty_ == pytest.approx(whole.rank_penalty_, rel=0.05)
    assert subspace_angle(online.components_, whole.components_) < 0.2
    assert subspace_angle(online.components_, basis) < 1.2 * subspace_angle(whole.components_, basis) + 0.05
    assert np.allclose(np.linalg.norm(online.components_, axis=1), np.linalg.norm(whole.components_, axis=1), rtol=0.05)


def test_the_start_need_not_be_clean():
    """The first hundred samples have nearly three times as many outliers as the rest."""
    X, basis = rows_of(1000)
    rng = np.random.default_rng(1)
    hit = rng.random((100, 60)) < 0.2
    X[:100][hit] += rng.choice([-8.0, 8.0], np.count_nonzero(hit))
    assert subspace_angle(OnlineRobustPCA(3, random_state=0).fit(X[:100]).components_, basis) < 3
    assert subspace_angle(OnlineRobustPCA(3, random_state=0).fit(X).components_, basis) < 0.5
    assert subspace_angle(IncrementalPCA(3).fit(X[:100]).components_, basis) > 15


def test_missing_entries_and_samples():
    X, basis = rows_of(2000)
    X[np.random.default_rng(2).random(X.shape) < 0.3] = np.nan
    X[[0, 5, 700]] = np.nan
    model = OnlineRobustPCA(random_state=0).fit(X)
    assert model.n_samples_seen_ == 2000
    assert subspace_angle(model.components_, basis) < 1
    assert np.isfinite(model.components_).all()


def test_strangers_do_not_poison_the_components():
    """Samples unlike all others, in no relation to each other, up to a third of the stream."""
    X, basis = rows_of(2000)
    rng = np.random.default_rng(3)
    strange = (rng.random(len(X)) < 0.3) & (np.arange(len(X)) > 100)
    X[strange] = 5 * rng.standard_normal((np.count_nonzero(strange), 60))
    model = OnlineRobustPCA(random_state=0).fit(X)
    assert model.n_jumps_ == 0
    assert subspace_angle(model.components_, basis) < 0.5
    plain = IncrementalPCA(3).fit(X)
    assert subspace_angle(plain.components_, basis) > 2


@pytest.mark.parametrize("options", [{}, {"n_components": 3}, {"dictionary_step": "recursive"}, {"batch_size": 10}])
def test_a_jump_opens_new_components(options):
    before, old = rows_of(1500)
    rng = np.random.default_rng(4)
    new = np.linalg.qr(rng.standard_normal((60, 3)))[0].T
    after = rng.standard_normal((300, 3)) * np.sqrt(20) @ new + 0.05 * rng.standard_normal((300, 60))
    after[rng.random(after.shape) < 0.1] += 3
    model = OnlineRobustPCA(random_state=0, **options).fit(before)
    assert model.n_jumps_ == 0
    model.partial_fit(after[:64])
    assert model.n_jumps_ == 1
    assert subspace_angle(model.components_, new) < 15
    model.partial_fit(after[64:])
    assert model.n_jumps_ == 1
    assert subspace_angle(model.components_, new) < (5 if "batch_size" in options else 2)
    if options == {}:
        assert subspace_angle(model.components_, old) < 2, "what was there before is remembered for a while"
    assert model.n_components is None or model.n_components_ == 3


def test_a_feature_whose_part_of_the_dictionary_went_wrong_is_learnt_again():
    """From one sample to the next a tenth of the sensors is swapped: too few entries for a jump."""
    X, truth, _ = stream_of(4000, noise=0.01)
    for rows in (X, truth):
        rows[2000:, :6] = rows[2000:, 5::-1].copy()
    model = OnlineRobustPCA(forgetting=0.99, random_state=0).fit(X[:2000])
    assert relative_error(model.decompose(X[2000:2100]).low_rank, truth[2000:2100]) > 0.2
    model.partial_fit(X[2000:])
    assert model.n_jumps_ == 0
    assert relative_error(model.decompose(X[-100:]).low_rank, truth[-100:]) < 0.02


def test_noise_level_follows_the_stream():
    X, _ = rows_of(4000, outlier_fraction=0.05)
    X[2000:] += 0.2 * np.random.default_rng(5).standard_normal((2000, 60))
    model = OnlineRobustPCA(random_state=0).fit(X[:2000])
    assert model.noise_level_ == pytest.approx(0.05, rel=0.15)
    model.partial_fit(X[2000:])
    assert model.noise_level_ == pytest.approx(np.hypot(0.05, 0.2), rel=0.15)


@pytest.mark.parametrize("scale", [1e-200, 1e-3, 1e200])
def test_scale_does_not_matter(scale):
    X, _ = rows_of(500)
    one, other = (OnlineRobustPCA(random_state=0).fit(rows) for rows in (X, X * scale))
    assert np.allclose(other.components_ / np.sqrt(scale), one.components_, rtol=1e-6, atol=1e-8)
    assert other.rank_penalty_ / scale == pytest.approx(one.rank_penalty_, rel=1e-6)


def test_float32_stays_float32():
    X, basis = rows_of(1500)
    model = OnlineRobustPCA(random_state=0).fit(X.astype(np.float32))
    assert model.components_.dtype == model.transform(X[:5].astype(np.float32)).dtype == np.float32
    assert subspace_angle(model.components_, basis) < 0.5


def test_given_penalties_are_used_as_they_are():
    X, basis = rows_of(1000)
    per_feature = np.full(60, 0.2)
    model = OnlineRobustPCA(rank_penalty=3.0, outlier_penalty=per_feature, random_state=0).fit(X)
    assert model.rank_penalty_ == 3.0
    assert np.array_equal(model.outlier_penalty_, per_feature)
    assert subspace_angle(model.components_, basis) < 1


def test_transform_is_the_exact_projection():
    X, _ = rows_of(800)
    model = OnlineRobustPCA(random_state=0).fit(X)
    part = model.decompose(X[:50])
    gap = unmingle.core.objective.projection_gap(
        X[:50], model.components_, part.codes, model.rank_penalty_, model.outlier_penalty_
    )
    assert gap.max() < 1e-9
    assert np.array_equal(model.transform(X[:50]), part.codes)


def test_zeros_and_nothing_known_are_no_harm():
    model = OnlineRobustPCA(random_state=0, start_size=10)
    model.partial_fit(np.zeros((25, 4)))
    assert model.n_components_ == 0
    model.partial_fit(np.full((25, 4), np.nan))
    X = np.outer(np.arange(1.0, 101.0), [1.0, 2.0, 3.0, 4.0])
    model.partial_fit(X)
    assert subspace_angle(model.components_, [[1.0, 2.0, 3.0, 4.0]]) < 1
    assert np.isfinite(model.transform(X)).all()


def test_short_windows_follow_too():
    """Twenty samples in the window, ten components: what the rank penalty takes off must not count as outliers."""
    X, truth, basis = stream_of(2000, m=200, rank=10, noise=0.0)
    model = OnlineRobustPCA(10, forgetting=0.95, random_state=0).fit(X[:1900])
    assert subspace_angle(model.components_, basis) < 0.1
    assert relative_error(model.decompose(X[1900:]).low_rank, truth[1900:]) < 1e-3


def test_rounded_data_carry_rounding_noise():
    """A still picture in 256 levels: most pixels never change, yet the noise level is that of the rounding."""
    scene = unmingle.synth.surveillance_scene(150, 24, 32, n_people=1, n_cars=1, noise=0.0, random_state=0)
    X = (np.round(255 * scene.background) / 255).reshape(150, -1).astype(np.float32)
    X[:, :400] = X[0, :400]
    model = OnlineRobustPCA(3, start_size=40, random_state=0).fit(X)
    assert model.noise_level_ >= 0.99 / 255 / np.sqrt(12)
    assert model.n_jumps_ == 0
    assert relative_error(model.decompose(X[-20:]).low_rank, X[-20:]) < 0.03
