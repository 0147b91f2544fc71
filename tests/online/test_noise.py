"""The noise level of a stream: what it follows, what it does not, and how it sets the window."""

import numpy as np
import pytest

from unmingle.core.linalg.units import Units
from unmingle.core.online.noise import NoiseLevel


def deviations(level, n=50, m=40, seed=0):
    return np.abs(level * np.random.default_rng(seed).standard_normal((n, m)))


def fed(level, blocks, tracker=None, **options):
    tracker = tracker or started()
    for seed in range(blocks):
        tracker = tracker.update(deviations(level, seed=seed, **options), freedom=1.0, shortest=100)
    return tracker


def started(level=1.0, floor=0.0):
    return NoiseLevel.of_start(100, level, floor)


def test_the_level_is_the_standard_deviation():
    assert fed(0.3, 60).level == pytest.approx(0.3, rel=0.02)


def test_a_projection_that_takes_off_half_of_the_noise_is_made_up_for():
    tracker = started()
    for seed in range(60):
        tracker = tracker.update(np.sqrt(0.5) * deviations(0.3, seed=seed), freedom=0.5, shortest=100)
    assert tracker.level == pytest.approx(0.3, rel=0.02)


def test_outliers_hardly_matter():
    tracker = started()
    for seed in range(60):
        rows = deviations(0.3, seed=seed)
        rows[np.random.default_rng(seed).random(rows.shape) < 0.1] = 1e6
        tracker = tracker.update(rows, freedom=1.0, shortest=100)
    assert tracker.level == pytest.approx(0.3, rel=0.2)


def test_the_level_does_not_fall_below_its_floor():
    assert fed(0.0, 60, started(floor=0.01)).level == pytest.approx(0.01, rel=1e-6)


def test_nothing_known_says_nothing():
    untouched = fed(0.3, 3)
    tracker = untouched.update(np.full((20, 40), np.nan), freedom=1.0, shortest=100)
    assert tracker == untouched


def test_the_window_grows_to_a_third_of_the_stream_and_shrinks_with_drift():
    """Weights of the past multiply: their sum over a long steady stream is a third of its age."""
    steady = fed(1.0, 100)
    assert steady.age == 300 + 100 * 50
    factors = NoiseLevel(age=300.0).forgetting(5000)
    assert np.sum(np.cumprod(factors[::-1])) == pytest.approx((300 + 5000) / 3, rel=0.01)
    drifting = fed(2.0, 10, steady)
    assert 300 <= drifting.age < 1000
    assert fed(2.0, 10).age >= 300, "the window never is shorter than it may be"


def test_units_change_the_levels_and_not_the_age():
    tracker = fed(0.3, 3, started(floor=1e-3))
    level, floor, least, age = tracker.level, tracker.floor, tracker.least, tracker.age
    tracker = tracker.to_units(Units(8.0))
    assert (tracker.level, tracker.floor, tracker.least) == (level / 64, floor / 64, least / 64)
    assert tracker.age == age
