"""`OnlineRobustPCA`: what it learns, what it does not, and how it goes on."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import zarr
from sklearn.decomposition import IncrementalPCA
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import unmingle
from unmingle import OnlineRobustPCA, RobustPCA, store
from unmingle.metrics import relative_error, subspace_angle
from unmingle.synth import subspace_stream

STEPS = ("block", "direct", "recursive")


@parametrize_with_checks(
    [
        OnlineRobustPCA(random_state=0),
        OnlineRobustPCA(n_components=2, random_state=0, start_size=8, dictionary_step="direct"),
        OnlineRobustPCA(n_components=2, random_state=0, start_size=4, batch_size=3, dictionary_step="recursive"),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def stream_of(n, m=60, rank=3, **options):
    """All samples of a stream, their low-rank part, and the basis at its end."""
    blocks = list(subspace_stream(n, m, rank, random_state=0, **{"noise": 0.05, **options}))
    return *(np.concatenate(parts) for parts in zip(*((b.X, b.low_rank) for b in blocks), strict=True)), blocks[
        -1
    ].basis


def rows_of(n, **options):
    """All samples of a stream, and the basis at its end."""
    X, _, basis = stream_of(n, **options)
    return X, basis


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
    whole = RobustPCA(random_state=0).fit(X)
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


def test_a_feature_whose_part_of_the_dictionary_went_wrong_is_learnt_anew():
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
    gap = unmingle.objective.projection_gap(
        X[:50], model.components_, part.codes, model.rank_penalty_, model.outlier_penalty_
    )
    assert gap.max() < 1e-9
    assert np.array_equal(model.transform(X[:50]), part.codes)


class TestSources:
    """The same samples from anywhere give the same numbers."""

    X = rows_of(700)[0]
    expected = OnlineRobustPCA(random_state=0).fit(X).components_

    def check(self, source):
        assert np.array_equal(OnlineRobustPCA(random_state=0).fit(source).components_, self.expected)

    def test_blocks_of_any_size(self):
        ends = [0, 1, 4, 4, 100, 333, 700]
        self.check(self.X[i:j] for i, j in pairwise(ends))

    def test_single_samples(self):
        self.check(iter(self.X))

    def test_list_of_blocks(self):
        self.check([self.X[:300], self.X[300:]])

    def test_nested_lists(self):
        self.check(self.X.tolist())

    def test_frame(self):
        self.check(pd.DataFrame(self.X, columns=[f"sensor {k}" for k in range(60)]))

    def test_memory_map(self, tmp_path):
        np.save(tmp_path / "X.npy", self.X)
        self.check(np.load(tmp_path / "X.npy", mmap_mode="r"))

    @pytest.mark.parametrize("chunk", [37, 64, 1000])
    def test_zarr(self, tmp_path, chunk):
        array = zarr.create_array(tmp_path / "X.zarr", shape=self.X.shape, chunks=(chunk, 60), dtype="f8")
        array[:] = self.X
        self.check(zarr.open_array(tmp_path / "X.zarr", mode="r"))

    def test_partial_fit_in_batches(self):
        model = OnlineRobustPCA(random_state=0)
        for start in range(0, 700, 100):
            model.partial_fit(self.X[start : start + 100])
        assert np.array_equal(model.components_, self.expected)

    def test_partial_fit_sample_by_sample_ends_near(self):
        model = OnlineRobustPCA(random_state=0)
        for row in self.X:
            model.partial_fit(row)
        assert model.n_samples_seen_ == 700
        assert subspace_angle(model.components_, self.expected) < 0.5


def test_there_is_a_model_from_the_first_sample_on():
    X, _ = rows_of(30)
    model = OnlineRobustPCA(random_state=0)
    for k, row in enumerate(X):
        model.partial_fit(row)
        assert model.transform(X[: k + 1]).shape == (k + 1, model.n_components_)


def test_frozen_is_frozen_bit_for_bit(tmp_path):
    X, _ = rows_of(1000)
    model = OnlineRobustPCA(random_state=0).fit(X[:500]).freeze()
    model.save(tmp_path / "before.safetensors")
    model.partial_fit(X[500:])
    model.save(tmp_path / "after.safetensors")
    assert (tmp_path / "before.safetensors").read_bytes() == (tmp_path / "after.safetensors").read_bytes()
    assert unmingle.load(tmp_path / "after.safetensors").frozen_
    before = model.components_.copy()
    model.freeze(False).partial_fit(X[500:])
    assert not np.array_equal(model.components_, before)
    with pytest.raises(NotFittedError):
        OnlineRobustPCA().freeze()


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seen", [3, 70, 500])
def test_a_saved_model_goes_on_as_if_nothing_had_happened(tmp_path, step, seen):
    X, _ = rows_of(900)
    X[600:] = X[600:][:, ::-1]  # a jump, so that strangers are waiting somewhere
    model = OnlineRobustPCA(dictionary_step=step, random_state=0, batch_size=8)
    model.partial_fit(X[:seen])
    model.save(tmp_path / "model.safetensors")
    other = unmingle.load(tmp_path / "model.safetensors")
    assert np.array_equal(other.transform(X[:5]), model.transform(X[:5]))
    for rows in (X[seen:650], X[650:]):
        model.partial_fit(rows)
        other.partial_fit(rows)
        assert np.array_equal(other.components_, model.components_)
        assert other.rank_penalty_ == model.rank_penalty_


def test_model_with_feature_names_and_penalty_per_feature_is_saved(tmp_path):
    X, _ = rows_of(200)
    frame = pd.DataFrame(X, columns=[f"sensor {k}" for k in range(60)])
    model = OnlineRobustPCA(outlier_penalty=np.full(60, 0.2), random_state=0).fit(frame)
    model.save(tmp_path / "model.safetensors")
    other = unmingle.load(tmp_path / "model.safetensors")
    assert list(other.feature_names_in_) == list(frame.columns)
    assert np.array_equal(other.partial_fit(frame).components_, model.partial_fit(frame).components_)


def test_an_incomplete_file_is_refused(tmp_path):
    X, _ = rows_of(200)
    path = tmp_path / "model.safetensors"
    OnlineRobustPCA(random_state=0).fit(X).save(path)
    kind, _, parameters, arrays = store.read(path)
    for spoilt in (parameters | {"stream": {}}, {k: v for k, v in parameters.items() if k != "stream"}):
        store.write(path, kind, spoilt, arrays)
        with pytest.raises(store.StoreError, match="complete OnlineRobustPCA"):
            unmingle.load(path)
    del arrays["stream.tracker.A"]
    store.write(path, kind, parameters, arrays)
    with pytest.raises(store.StoreError, match="complete OnlineRobustPCA"):
        unmingle.load(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"forgetting": 0.0}, "forgetting must be above 0 and at most 1, or 'auto', got 0.0"),
        ({"forgetting": 1.5}, "got 1.5"),
        ({"forgetting": "never"}, "got 'never'"),
        ({"forgetting": None}, "got None"),
        ({"dictionary_step": "sgd"}, "dictionary_step must be one of 'block', 'direct', 'recursive', got 'sgd'"),
        ({"n_components": 0}, "n_components must be a whole number"),
        ({"start_size": 0}, "start_size must be a whole number"),
        ({"batch_size": 2.5}, "batch_size must be a whole number"),
        ({"rank_penalty": -1.0}, "rank_penalty must be a finite number above 0"),
        ({"outlier_penalty": np.ones(3)}, "one for each of the 60 features"),
    ],
)
def test_bad_parameters_get_one_sentence(options, message):
    X, _ = rows_of(100)
    with pytest.raises(ValueError, match=message):
        OnlineRobustPCA(**options).fit(X)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (iter(()), ValueError, "no samples"),
        (iter([np.zeros((2, 3, 4))]), ValueError, "3 dimensions"),
        (iter([np.ones((5, 3)), np.ones((5, 4))]), ValueError, "equally many features, got 3 and then 4"),
        (iter([np.full((5, 3), np.inf)]), ValueError, "infinity"),
        (np.full((5, 3), np.nan), ValueError, "only NaN"),
        ("file.npy", ValueError, "must hold numbers"),
    ],
)
def test_bad_data_get_one_sentence(X, error, message):
    with pytest.raises(error, match=message):
        OnlineRobustPCA().fit(X)


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


class TestTrouble:
    """Streams as they are: things break, start late, come slowly."""

    @pytest.mark.parametrize("nonsense", [-9999.0, 1e6, "wild"])
    @pytest.mark.parametrize("options", [{}, {"n_components": 3, "forgetting": 0.99}])
    def test_a_broken_sensor_does_not_bend_the_others(self, nonsense, options):
        X, truth, _ = stream_of(3000, outlier_fraction=0.02)
        rng = np.random.default_rng(6)
        X[1000:, 7] = 100 * rng.standard_normal(2000) if nonsense == "wild" else nonsense
        model = OnlineRobustPCA(random_state=0, **options).fit(X)
        error = np.delete(model.decompose(X[-200:]).low_rank - truth[-200:], 7, axis=1)
        assert np.sqrt(np.mean(error**2)) < 0.05
        assert model.n_jumps_ == 0

    @pytest.mark.parametrize("ramp", [1, 2000])
    def test_a_direction_that_comes_slowly_is_found(self, ramp):
        X, basis = rows_of(6000)
        rng = np.random.default_rng(7)
        new = np.linalg.qr(np.concatenate([basis, rng.standard_normal((1, 60))]).T)[0][:, 3]
        rise = np.clip((np.arange(6000) - 1000) / ramp, 0, 1)
        X += np.outer(rise * rng.standard_normal(6000) * np.sqrt(20), new)
        model = OnlineRobustPCA(random_state=0).fit(X)
        assert subspace_angle(model.components_, np.concatenate([basis, new[None]])) < 2
        assert model.n_components_ == 4
        assert model.noise_level_ == pytest.approx(0.05, rel=0.2)

    @pytest.mark.parametrize("step", STEPS)
    def test_units_change_when_the_sensors_are_switched_on(self, step):
        X, basis = rows_of(1500)
        X[:100] = 1e-17 * np.random.default_rng(8).standard_normal((100, 60))
        model = OnlineRobustPCA(random_state=0, dictionary_step=step).fit(X)
        assert subspace_angle(model.components_, basis) < 1
        assert model.noise_level_ == pytest.approx(0.05, rel=0.2)

    def test_a_start_that_tells_nothing_takes_more_samples(self):
        X, basis = rows_of(600, m=20, rank=2)
        model = OnlineRobustPCA(random_state=0, start_size=2).fit(X)
        assert subspace_angle(model.components_, basis) < 8

    def test_the_steps_agree_in_the_estimator_too(self):
        X, _ = rows_of(2000)
        found = [OnlineRobustPCA(dictionary_step=step, random_state=0).fit(X).components_ for step in STEPS]
        for components in found[:1] + found[2:]:
            assert np.abs(components - found[1]).max() < 1e-3 * np.abs(found[1]).max()

    def test_nothing_known_says_nothing_about_the_noise(self):
        X, _ = rows_of(1000)
        model = OnlineRobustPCA(random_state=0).fit(X)
        before = model.noise_level_
        model.partial_fit(np.full((50, 60), np.nan))
        assert model.noise_level_ == before

    def test_more_components_than_features(self):
        X, _ = rows_of(300, m=20, rank=2)
        model = OnlineRobustPCA(5000, random_state=0).fit(X)
        assert not model._tracker.starting
        assert model.n_components_ <= 20


class TestStates:
    X = rows_of(300)[0]

    def test_only_nan_is_refused_from_a_stream_as_well(self):
        with pytest.raises(ValueError, match="only NaN"):
            OnlineRobustPCA().fit(iter([np.full((5, 3), np.nan)]))
        model = OnlineRobustPCA().partial_fit(np.full((5, 3), np.nan))
        assert model.n_components_ == 0
        assert np.isfinite(model.score_samples(np.ones((2, 3)))).all()

    def test_a_failed_first_call_leaves_nothing_fitted(self):
        model = OnlineRobustPCA(forgetting=7)
        with pytest.raises(ValueError, match="forgetting"):
            model.partial_fit(self.X)
        with pytest.raises(NotFittedError):
            model.transform(self.X)

    def test_a_failed_refit_forgets_the_old_model(self, tmp_path):
        model = OnlineRobustPCA(random_state=0).fit(self.X)
        with pytest.raises(ValueError, match="infinity"):
            model.fit(iter([np.full((5, 3), np.inf)]))
        with pytest.raises(NotFittedError):
            model.save(tmp_path / "model.safetensors")

    def test_parameters_may_change_on_the_way(self, tmp_path):
        model = OnlineRobustPCA(dictionary_step="recursive", random_state=0).fit(self.X)
        model.set_params(dictionary_step="direct", forgetting=0.9).partial_fit(self.X)
        model.save(tmp_path / "model.safetensors")
        again = unmingle.load(tmp_path / "model.safetensors").partial_fit(self.X)
        assert np.array_equal(again.components_, model.partial_fit(self.X).components_)
        with pytest.raises(ValueError, match="forgetting"):
            model.set_params(forgetting=-1).partial_fit(self.X)

    def test_a_list_of_numbers_is_a_sample(self):
        model = OnlineRobustPCA(random_state=0).partial_fit(self.X[0].tolist())
        assert model.n_samples_seen_ == 1

    def test_a_stream_that_falls_silent_is_no_error(self):
        rows = np.concatenate([self.X, np.zeros((3000, 60))])
        model = OnlineRobustPCA(random_state=0, forgetting=0.9).fit(rows)
        assert model.n_samples_seen_ == 3300
        assert np.abs(model.decompose(np.zeros((2, 60))).low_rank).max() == 0
