"""Streams as they are: things break, start late, come slowly."""

import numpy as np
import pytest
from stream_samples import STEPS, rows_of, stream_of

from unmingle import OnlineRobustPCA
from unmingle.metrics import subspace_angle


@pytest.mark.parametrize("nonsense", [-9999.0, 1e6, "wild"])
@pytest.mark.parametrize("options", [{}, {"n_components": 3, "forgetting": 0.99}])
def test_a_broken_sensor_does_not_bend_the_others(nonsense, options):
    X, truth, _ = stream_of(3000, outlier_fraction=0.02)
    rng = np.random.default_rng(6)
    X[1000:, 7] = 100 * rng.standard_normal(2000) if nonsense == "wild" else nonsense
    model = OnlineRobustPCA(random_state=0, **options).fit(X)
    error = np.delete(model.decompose(X[-200:]).low_rank - truth[-200:], 7, axis=1)
    assert np.sqrt(np.mean(error**2)) < 0.05
    assert model.n_jumps_ == 0


@pytest.mark.parametrize("ramp", [1, 2000])
def test_a_direction_that_comes_slowly_is_found(ramp):
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
def test_units_change_when_the_sensors_are_switched_on(step):
    X, basis = rows_of(1500)
    X[:100] = 1e-17 * np.random.default_rng(8).standard_normal((100, 60))
    model = OnlineRobustPCA(random_state=0, dictionary_step=step).fit(X)
    assert subspace_angle(model.components_, basis) < 1
    assert model.noise_level_ == pytest.approx(0.05, rel=0.2)


def test_a_start_that_tells_nothing_takes_more_samples():
    X, basis = rows_of(600, m=20, rank=2)
    model = OnlineRobustPCA(random_state=0, start_size=2).fit(X)
    assert subspace_angle(model.components_, basis) < 8


def test_the_steps_agree_in_the_estimator_too():
    X, _ = rows_of(2000)
    found = [OnlineRobustPCA(dictionary_step=step, random_state=0).fit(X).components_ for step in STEPS]
    for components in found[:1] + found[2:]:
        assert np.abs(components - found[1]).max() < 1e-3 * np.abs(found[1]).max()


def test_nothing_known_says_nothing_about_the_noise():
    X, _ = rows_of(1000)
    model = OnlineRobustPCA(random_state=0).fit(X)
    before = model.noise_level_
    model.partial_fit(np.full((50, 60), np.nan))
    assert model.noise_level_ == before


def test_more_components_than_features():
    X, _ = rows_of(300, m=20, rank=2)
    model = OnlineRobustPCA(5000, random_state=0).fit(X)
    assert not model._stream.tracker.starting
    assert model.n_components_ <= 20
