"""Optimality against a general convex solver, agreement among the solvers, and the certificates they reach."""

import numpy as np
import pytest
import reference

from unmingle import decompose, pursue
from unmingle.core import objective
from unmingle.core.decomposition.decompose_matrix import solve
from unmingle.core.iterate import run
from unmingle.core.prox import soft_threshold
from unmingle.core.solvers.projection import algorithm_1, newton

SHAPES = [(12, 9, 2, 0.0), (9, 14, 2, 0.2), (10, 10, 1, 0.0)]


@pytest.mark.parametrize("method", ["proximal", "alternating"])
@pytest.mark.parametrize(("n", "m", "rank", "missing"), SHAPES)
@pytest.mark.parametrize("share", [0.3, 0.1])
def test_minimum_of_2(method, n, m, rank, missing, share):
    X = reference.mixture(n, m, rank, missing=missing)
    lam_star = share * np.linalg.norm(np.nan_to_num(X), 2)
    lam = np.linspace(0.5, 1.5, m) * lam_star / np.sqrt(max(n, m))
    best, L = reference.unconstrained(X, lam_star, lam)
    part = solve(X, rank_penalty=lam_star, outlier_penalty=lam, method=method, tol=1e-8, max_iter=3000, random_state=0)
    assert part.converged
    assert part.gap <= 1e-8
    assert np.isclose(part.objective, best, rtol=1e-6)
    assert np.isclose(objective.unconstrained(X, part.low_rank, part.outliers, lam_star, lam), best, rtol=1e-6)
    assert np.allclose(part.low_rank, L, atol=2e-3 * np.abs(L).max())


@pytest.mark.parametrize(("n", "m", "rank", "missing"), SHAPES)
@pytest.mark.parametrize("eps", [0.0, 0.5])
def test_minimum_of_1(n, m, rank, missing, eps):
    X = reference.mixture(n, m, rank, missing=missing)
    lam = 1 / np.sqrt(max(n, m))
    best, _ = reference.constrained(X, lam, eps)
    part = pursue(X, outlier_penalty=lam, eps=eps, tol=1e-8, max_iter=3000, random_state=0)
    assert part.converged
    assert part.gap <= 1e-5
    assert np.isclose(part.objective, best, rtol=1e-6)
    assert np.isclose(objective.constrained(part.low_rank, part.outliers, lam), best, rtol=1e-6)
    assert np.linalg.norm(part.residual) <= eps + 1e-6 * np.linalg.norm(np.nan_to_num(X))


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("lam_size", [0.02, 0.5])
def test_minimum_of_5(missing, lam_size, rng):
    components, lam_star = rng.standard_normal((3, 15)), 0.4
    lam = lam_size * rng.uniform(0.5, 1.5, 15)
    X = rng.standard_normal((5, 3)) @ components + 0.1 * rng.standard_normal((5, 15))
    X[:, 4] += 8
    X[rng.random(X.shape) < missing] = np.nan
    best = [reference.projection(x, components, lam_star, lam) for x in X]
    for iterates in (
        newton(X, components, lam_star, lam),
        algorithm_1(X, components, lam_star, lam),
    ):
        result = run(iterates, lambda p: p.gap.max(), tol=1e-10, max_iter=20000)
        codes = result.state.codes
        outliers = soft_threshold(np.nan_to_num(X - codes @ components), lam)
        cost = objective.projection(X, components, codes, outliers, lam_star, lam)
        assert result.converged
        assert np.allclose(cost, [value for value, _ in best], rtol=1e-6)
        assert np.allclose(codes, [code for _, code in best], atol=1e-4)


@pytest.mark.parametrize(("shape", "rank"), [((150, 150), 5), ((400, 60), 3), ((60, 400), 3)])
@pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-6), (np.float32, 1e-4)])
def test_all_solvers_of_2_certify_and_agree(shape, rank, dtype, tol):
    X = reference.mixture(*shape, rank, noise=0.05, dtype=dtype)
    sigma = 0.05
    penalties = {"rank_penalty": sigma * sum(np.sqrt(shape)), "outlier_penalty": 2 * sigma}
    parts = [
        solve(X, **penalties, method=method, n_components=q, tol=tol, random_state=seed)
        for method, q, seed in [
            ("proximal", None, 0),
            ("proximal", None, 1),
            ("alternating", None, 0),
            ("alternating", 50, 0),
        ]
    ]
    for part in parts:
        assert part.converged
        assert part.gap <= tol
        assert part.low_rank.dtype == part.outliers.dtype == part.codes.dtype == dtype
        assert np.isclose(part.objective, parts[0].objective, rtol=1e-5)


@pytest.mark.parametrize(("dtype", "error", "gap"), [(np.float64, 1e-6, 1e-6), (np.float32, 2e-5, 2e-5)])
def test_pcp_recovers_and_certifies(dtype, error, gap):
    rng = np.random.default_rng(0)
    L = rng.standard_normal((200, 5)) @ rng.standard_normal((5, 150))
    O = np.where(rng.random(L.shape) < 0.1, rng.uniform(-5, 5, L.shape), 0)  # noqa: E741
    part = pursue((L + O).astype(dtype), tol=1e-7, random_state=0)
    assert part.rank == 5
    assert np.linalg.norm(part.low_rank - L) <= error * np.linalg.norm(L)
    assert np.mean((part.outliers != 0) != (O != 0)) < 1e-3
    assert part.gap < gap


def test_1_and_2_meet_when_the_penalties_vanish():
    X = reference.mixture(60, 50, 2, noise=0.0)
    lam = 1 / np.sqrt(60)
    pursuit = pursue(X, outlier_penalty=lam, tol=1e-8, random_state=0)
    limit = decompose(X, rank_penalty=1e-3, outlier_penalty=1e-3 * lam, max_iter=3000, random_state=0)
    assert np.isclose(limit.objective / 1e-3, pursuit.objective, rtol=1e-3)
    assert np.linalg.norm(limit.low_rank - pursuit.low_rank) < 1e-3 * np.linalg.norm(pursuit.low_rank)


def test_capped_alternation_finds_the_best_of_its_rank():
    """With few outliers and one atom, (4) is the truncated threshold of the cleaned data: a fixed point of it."""
    X = reference.mixture(60, 40, 4)
    part = decompose(X, n_components=1, rank_penalty=1.0, outlier_penalty=0.4, random_state=0)
    u, s, vt = np.linalg.svd(X - part.outliers)
    assert part.converged
    assert part.rank == 1
    assert np.allclose(part.low_rank, (s[0] - 1.0) * np.outer(u[:, 0], vt[0]), atol=1e-4)


def test_algorithm_1_is_the_paper_s_recursion_mended(rng):
    U, x, lam_star, lam = rng.standard_normal((20, 3)), rng.standard_normal(20), 0.5, 0.2
    H = np.linalg.solve(U.T @ U + lam_star * np.eye(3), U.T)
    W = U @ H
    b, y = x - W @ x, np.zeros(20)
    iterates = algorithm_1(x[None], U.T, lam_star, np.full(20, lam))
    for _ in range(7):
        o = np.sign(b) * np.maximum(np.abs(b) - lam, 0)
        b, y = b + W @ (o - y), o
        state = next(iterates)
        assert np.allclose(state.codes[0], H @ (x - o), atol=1e-12)


def test_algorithm_1_costs_fall_pass_by_pass(rng):
    U, X, lam = rng.standard_normal((3, 20)), 3 * rng.standard_normal((4, 20)), np.full(20, 0.1)
    last = np.full(4, np.inf)
    for state, _ in zip(algorithm_1(X, U, 0.5, lam), range(30), strict=False):
        outliers = soft_threshold(X - state.codes @ U, lam)
        cost = objective.projection(X, U, state.codes, outliers, 0.5, lam)
        assert (cost <= last + 1e-12).all()
        last = cost


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_newton_warm_and_cold_come_to_the_same_codes(dtype, rng):
    U = rng.standard_normal((4, 60)).astype(dtype)
    X = (rng.standard_normal((37, 4)) @ U + 0.05 * rng.standard_normal((37, 60))).astype(dtype)
    X[rng.random(X.shape) < 0.2] += 5
    lam = np.full(60, 0.1, dtype)
    cold = next(newton(X, U, 0.5, lam))
    start = (cold.codes + 3 * rng.standard_normal(cold.codes.shape)).astype(dtype)
    warm = next(newton(X, U, 0.5, lam, start))
    close = 1e-9 if dtype == np.float64 else 1e-3
    assert cold.codes.dtype == dtype
    assert cold.gap.max() < (1e-12 if dtype == np.float64 else 1e-4)
    assert np.allclose(cold.codes, warm.codes, atol=close)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_an_unfinished_newton_run_reports_its_own_gap(steps, rng):
    U = rng.standard_normal((4, 60)) * np.array([[30.0], [1.0], [1.0], [0.1]])
    X = 3 * rng.standard_normal((40, 60))
    lam = np.full(60, 0.05)
    for state, _ in zip(newton(X, U, 0.1, lam, max_steps=steps), range(3), strict=False):
        assert np.allclose(state.gap, objective.projection_gap(X, U, state.codes, 0.1, lam), rtol=1e-6, atol=1e-9)


def test_newton_survives_thresholds_far_below_the_noise(rng):
    """Hardly an inlier anywhere: from afar a plain Newton step jumps to infinity."""
    U = rng.standard_normal((5, 300))
    X = rng.standard_normal((50, 5)) @ U + 0.3 * rng.standard_normal((50, 300))
    lam = np.full(300, 1e-4)
    result = run(newton(X, U, 1e-3, lam), lambda p: p.gap.max(), tol=1e-8, max_iter=5)
    assert result.converged


def test_projection_of_the_training_data_returns_their_own_codes():
    X = reference.mixture(80, 50, 3)
    part = decompose(X, rank_penalty=1.5, outlier_penalty=0.3, tol=1e-11, max_iter=2000, random_state=0)
    projected = next(newton(X, part.components, 1.5, np.full(50, 0.3)))
    assert np.allclose(projected.codes, part.codes, atol=1e-5)


def test_solvers_never_write_to_the_data():
    X = reference.mixture(30, 20, 2, missing=0.1)
    X.setflags(write=False)
    assert decompose(X, tol=1e-3, random_state=0).converged
    assert decompose(X, n_components=2, tol=1e-3, random_state=0).converged
    assert pursue(X, tol=1e-3, random_state=0).converged
    assert next(newton(X, np.ones((1, 20)), 1.0, np.ones(20))).codes.shape == (30, 1)
