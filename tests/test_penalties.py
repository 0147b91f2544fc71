import numpy as np
import pytest
from faulty_tables import made

from unmingle import decompose
from unmingle.core.cells.columns import column_scales
from unmingle.core.penalties import from_noise, from_residual, noise_fit, noise_floor, noise_level


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


@pytest.mark.parametrize(
    ("n", "m", "rank", "strength"),
    [(2000, 5, 1, 30), (2000, 5, 2, 30), (5, 2000, 2, 30), (200, 8, 3, 5), (100, 4, 1, 30), (1000, 60, 4, 5)],
)
def test_noise_level_of_every_shape(n, m, rank, strength):
    """With few columns, strong components and faults; it was up to 16 times too high."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, rank)) * strength @ rng.standard_normal((rank, m)) + rng.standard_normal((n, m))
    bad = rng.random((n, m)) < 0.02
    X[bad] += rng.uniform(6, 40, np.count_nonzero(bad))
    assert 0.7 < noise_level(X, rng) < 1.5


@pytest.mark.parametrize(("n", "m"), [(3000, 30), (30, 3000), (300, 200), (500, 8)])
@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_penalties_of_a_table_keep_noise_out_and_good_cells_free(n, m, gaps):
    """lam_* is the spectral norm of clipped noise, of other noise than that of the table; few cells are outliers."""
    X, _, bad = made(n, m, 2 if min(n, m) > 8 else 1, faults=0.01, gaps=gaps)
    rng = np.random.default_rng(0)
    fit = noise_fit(X, rng)
    lam_star, lam = from_residual(X, fit, rng)
    assert 1.7 < lam < 2.6
    noise = np.where(np.isnan(X), 0, np.clip(rng.standard_normal((n, m)), -lam, lam))
    assert lam_star == pytest.approx(np.linalg.norm(noise, 2), rel=0.12)
    part = decompose(X, random_state=0)
    assert np.mean(part.outliers[~bad] != 0) < 0.09
    assert (part.rank_penalty, part.outlier_penalty) == pytest.approx((lam_star, lam), rel=1e-6)


def test_columns_with_noise_of_their_own():
    """Columns in equal scales differ in their noise: the noisiest one must not pass for a component."""
    rng = np.random.default_rng(0)
    noise = np.geomspace(0.1, 1, 40)
    X = rng.standard_normal((2000, 1)) @ rng.standard_normal((1, 40)) * 3 + noise * rng.standard_normal((2000, 40))
    X /= column_scales(X)
    assert decompose(X, random_state=0).rank == 1


def test_structure_stays_out_of_the_low_rank_part():
    """A bright square that moves: twice the noise as outlier penalty would open a component for every few frames."""
    rng = np.random.default_rng(0)
    frames = np.tile(rng.random((1, 40, 50)), (60, 1, 1)) + 0.02 * rng.standard_normal((60, 40, 50))
    for t in range(60):
        frames[t, 10:20, t // 2 : t // 2 + 10] += 0.1
    X = frames.reshape(60, -1)
    fit = noise_fit(X, rng)
    assert from_residual(X, fit, rng) == from_noise(fit.level, *X.shape)
    part = decompose(X, random_state=0)
    assert part.rank <= 5
    assert decompose(X, rank_penalty=part.rank_penalty, outlier_penalty=2 * fit.level).rank > 1.5 * part.rank
