import numpy as np
import pytest

from unmingle.penalties import from_noise, noise_floor, noise_level


@pytest.mark.parametrize("step", [1 / 255, 1.0, 0.25])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floor_of_rounded_values_is_their_rounding_error(rng, step, dtype):
    X = (np.round(rng.standard_normal((80, 60)) * 20) * step).astype(dtype)
    exact = X.astype(np.float64) + rng.uniform(-step / 2, step / 2, X.shape)
    assert noise_floor(X) == pytest.approx(np.std(exact - X), rel=0.05)


@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).standard_normal((80, 60)),
        np.outer(np.random.default_rng(0).uniform(0.5, 2, 80), np.ones(60)),  # few values, but no step
        np.where(np.eye(60), 1.0, 0.0),
    ],
    ids=["continuous", "constant rows", "two values"],
)
def test_floor_of_other_values_is_a_millionth_of_the_median(X):
    assert noise_floor(X) == pytest.approx(1e-6 * np.median(np.abs(X[X != 0])))


def test_floor_survives_nothing_known():
    assert noise_floor(np.full((3, 3), np.nan)) > 0
    assert noise_floor(np.zeros((3, 3))) > 0


def test_noise_level_is_found_and_never_below_the_floor(rng):
    X = rng.standard_normal((300, 3)) @ rng.standard_normal((3, 200)) + 0.1 * rng.standard_normal((300, 200))
    assert noise_level(X, rng) == pytest.approx(0.1, rel=0.15)
    still = np.round(np.repeat(rng.uniform(0, 255, (1, 200)), 300, axis=0))
    still[:, :50] += rng.integers(-1, 2, (300, 50))
    assert noise_level(still, rng) == pytest.approx(1 / np.sqrt(12), rel=0.01)
    assert from_noise(0.1, 100, 400) == (3.0, 0.15)
