"""The splitting of (1) and (2): each pass against NumPy, its answers against other methods, its bounds against them."""

from math import inf

import numpy as np
import pytest
from reference import mixture

from unmingle import decompose, pursue
from unmingle.core import objective
from unmingle.core.linalg.low_rank import LowRank
from unmingle.core.linalg.thresholding import gram_threshold
from unmingle.core.solvers.pcp import pursuit_iterates
from unmingle.core.solvers.proximal import proximal_iterates
from unmingle.core.solvers.splitting import AdaptivePenalty, is_high, splitting_iterates
from unmingle.kernels.matrix import multiplier_sums, splitting_sweep


@pytest.fixture(scope="module")
def slow():
    """A matrix whose spectrum falls slowly, with outliers: the answer has many components."""
    rng = np.random.default_rng(7)
    left, right = (np.linalg.qr(rng.standard_normal((n, 60)))[0] for n in (60, 150))
    X = (left * (40.0 / np.arange(1, 61))) @ right.T + 0.01 * rng.standard_normal((60, 150))
    X[rng.random(X.shape) < 0.05] += 1.0
    return X


def low_rank_of(X, rank):
    left, values, right = np.linalg.svd(np.nan_to_num(X), full_matrices=False)
    return LowRank(*(part.astype(X.dtype) for part in (left[:, :rank], values[:rank], right[:rank])))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("rho", "softness"), [(0.1, 1.0), (0.5, 0.0)])
def test_a_pass_is_its_formula(dtype, rho, softness, rng):
    X = mixture(70, 33, 3, missing=0.1).astype(dtype)
    Z, point, lam = (
        low_rank_of(X, 4),
        rng.standard_normal(X.shape).astype(dtype),
        rng.uniform(0.1, 0.2, 33).astype(dtype),
    )
    z = Z.scaled_left @ Z.right
    u = 0.5 * (point - z)
    r = np.nan_to_num(X - z)
    b = r + u
    reach = softness + 1 / rho
    e = np.where(np.abs(b) <= reach * lam, softness / reach * b, b - np.sign(b) * lam / rho)
    other = np.where(np.isnan(X), z - u, X - e)
    expected = 1.8 * other - 0.8 * z + u
    push = rho * u
    y = np.where(np.isnan(X), 0, np.clip(push, -lam, lam))
    h = lam * (np.abs(r) - 0.5 * softness * lam)
    h = np.where(np.abs(r) < softness * lam, 0.5 * r**2, h) * ~np.isnan(X)
    sums = ((other - z) ** 2, u**2, h, h + 0.5 * softness * y**2 - r * y, z * (push - y))
    numbers = [dtype(value) for value in (0.5, rho, softness, 1.8)]
    found = splitting_sweep(X, Z.scaled_left, Z.right, point, *numbers, lam)
    scale = np.abs(expected).max()
    assert np.abs(point - expected).max() <= 50 * np.finfo(dtype).eps * scale
    assert found == pytest.approx([float(np.sum(one, dtype=np.float64)) for one in sums], rel=1e-4, abs=1e-3)
    assert min(np.min(one) for one in sums[:4]) >= -1e-6  # Fenchel's inequality, entry by entry


@pytest.mark.parametrize("linear", [False, True])
def test_sums_of_the_multiplier_are_its_formulas(linear, rng):
    X = mixture(70, 33, 3, missing=0.1)
    Z, point, lam = low_rank_of(X, 4), rng.standard_normal(X.shape), rng.uniform(0.1, 0.2, 33)
    y = np.empty_like(X)
    found = multiplier_sums(X, Z.scaled_left, Z.right, point, 0.3, float(not linear), lam, y)
    r = np.nan_to_num(X - Z.scaled_left @ Z.right)
    s = np.clip(r, -lam, lam)
    value = np.sum(lam * np.abs(r)) if linear else np.sum(s * (r - 0.5 * s))
    expected = np.where(np.isnan(X), 0.0, np.clip(0.3 * (point - Z.scaled_left @ Z.right), -lam, lam))
    assert np.allclose(y, expected, rtol=1e-12)
    assert np.allclose(found, [value, np.sum(np.nan_to_num(X) * y), np.sum(y**2)], rtol=1e-10)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_it_takes_over_and_meets_plain_proximal_steps(slow, missing):
    X = np.where(np.random.default_rng(1).random(slow.shape) < missing, np.nan, slow)
    lam_star, lam = 0.5, np.full(150, 0.05)
    part = decompose(X, rank_penalty=lam_star, outlier_penalty=0.05, tol=1e-9, max_iter=2000, random_state=0)
    L = np.zeros_like(X)
    for _ in range(6000):
        step = np.clip(np.nan_to_num(X - L), -lam, lam)
        thresholded = gram_threshold(L + step, lam_star)
        L = thresholded.scaled_left @ thresholded.right
    value = objective.certify_unconstrained(X, thresholded, lam_star, lam).objective
    assert is_high(part.rank, X.shape)
    assert part.converged
    assert part.objective == pytest.approx(value, rel=1e-7)
    assert np.abs(part.low_rank - L).max() < 1e-3


@pytest.mark.parametrize("tol", [1e-3, 1e-4, 1e-7])
def test_the_gap_of_pursuit_is_certified(slow, tol):
    part = pursue(slow, tol=tol, max_iter=3000, random_state=0)
    best = pursue(slow, tol=1e-9, max_iter=5000, random_state=0)
    assert is_high(best.rank, slow.shape)
    assert part.converged
    assert part.gap <= tol
    least = best.objective * (1 - best.gap)
    assert least <= part.objective * (1 + 1e-12)
    assert part.objective - least <= (tol + best.gap) * part.objective
    lam = 1 / np.sqrt(150)
    own = np.linalg.norm(part.low_rank, "nuc") + lam * np.abs(slow - part.low_rank).sum()
    assert part.objective == pytest.approx(own, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_every_bound_is_below_every_cost(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, int(rng.integers(48, 90)))) * rng.uniform(0.1, 3.0)
    X[rng.random(X.shape) < 0.1] = np.nan
    lam_star, lam = rng.uniform(0.5, 3.0), np.full(X.shape[1], rng.uniform(0.05, 0.5))
    start = low_rank_of(X, 10)
    for linear, weight in ((False, 0.1), (True, 1.0)):
        star = 1.0 if linear else lam_star
        iterates = splitting_iterates(
            X, star, lam, start, np.zeros_like(X), curvature=inf if linear else 1.0, rho=weight
        )
        found = [
            objective.certify_splitting(X, one.low_rank, one.point, one.rho, star, lam, linear=linear)
            for one, _ in zip(iterates, range(40), strict=False)
        ]
        assert max(one.bound for one in found) <= min(one.objective for one in found) * (1 + 1e-10)


def test_float32_inside_is_judged_outside(slow):
    rough = decompose(slow, rank_penalty=0.5, outlier_penalty=0.05, tol=1e-4, random_state=0)
    fine = decompose(slow, rank_penalty=0.5, outlier_penalty=0.05, tol=1e-8, max_iter=2000, random_state=0)
    assert rough.low_rank.dtype == np.float64
    assert rough.gap <= 1e-4
    assert fine.objective <= rough.objective <= fine.objective / (1 - 1.1e-4)


def test_weights_come_to_rest():
    weight, changes = AdaptivePenalty(1.0), []
    for step in range(100):
        primal = 10.0 if weight.rho < 3.0 else 0.01
        changes.append(weight.balance(primal, 1.0))
        assert changes[-1] == 1.0 or step % 5 == 4
    turned = [abs(np.log(change)) for change in changes if change != 1.0]
    assert turned[-1] < 0.1 * turned[0]
    assert 1.5 < weight.rho < 6.0


def test_what_is_cheaper_goes_by_the_shape():
    assert not is_high(10, (1000, 40))
    assert not is_high(100, (1000, 1000), 20)
    assert is_high(200, (1000, 1000), 20)
    assert is_high(10, (100, 10000), 20)
    assert not is_high(10, (100, 10000), 6)
    assert is_high(17, (100, 10000), 6)


def test_long_steps_are_taken_in_float32_and_short_ones_in_float64(slow):
    X = np.tile(slow, (1, 15))
    lam = np.full(X.shape[1], 0.05)
    kinds = [
        sweep.low_rank.values.dtype.name
        for sweep, _ in zip(proximal_iterates(X, 0.5, lam, rng=np.random.default_rng(0)), range(400), strict=False)
    ]
    assert kinds[0] == "float32"
    assert kinds[-1] == "float64"
    assert kinds == sorted(kinds)  # never back
    exact = decompose(X, rank_penalty=0.5, outlier_penalty=0.05, tol=1e-10, max_iter=2000)
    assert exact.converged
    assert exact.low_rank.dtype == np.float64


def test_noise_that_is_allowed_for_is_not_split(slow):
    iterates = pursuit_iterates(slow, np.full(150, 0.08), 1.0, rng=np.random.default_rng(0))
    states = [state for state, _ in zip(iterates, range(20), strict=False)]
    assert is_high(states[-1].low_rank.rank, slow.shape)
    assert all(hasattr(state, "residual") for state in states)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_huge_outliers_do_not_drown_the_rest(slow, dtype):
    spoilt = np.where(np.random.default_rng(3).random(slow.shape) < 0.02, 1e6, slow).astype(dtype)
    part = decompose(spoilt, rank_penalty=0.5, outlier_penalty=0.05, tol=1e-4, random_state=0)
    assert part.converged
    assert is_high(part.rank, spoilt.shape)
    exact = decompose(spoilt.astype(np.float64), rank_penalty=0.5, outlier_penalty=0.05, tol=1e-9, random_state=0)
    assert np.abs(part.low_rank - exact.low_rank).max() < 0.05
