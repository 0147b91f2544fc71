"""Certificates against answers found by other means: 1000 random problems, stopped early or solved.

A bound is wrong if anybody has an answer that costs less. The answers here are made by a Douglas-Rachford iteration in
NumPy, which shares nothing with the library, and their costs are written out.
"""

import warnings
from typing import NamedTuple

import numpy as np
import pytest

from unmingle import decompose, pursue

PROBLEMS, AT_ONCE = 1000, 50
ROUNDING = {np.float64: 1e-13, np.float32: 1e-6}
"""What a bound may be above a cost, and a reported cost beside the one written out, relatively."""
STEPS, STEP = 60, 0.5
"""How many steps the independent iteration has, and their size. Where the gap is below 1e-5, two answers of three are
within 1e-7 of the bound: one that is too high by more is found out."""


class Problem(NamedTuple):
    """One of (1), with eps or without, and (2); `rank_penalty` is 1 in (1), whose `eps` is None in (2)."""

    X: np.ndarray
    rank_penalty: float
    outlier_penalty: np.ndarray
    eps: float | None
    options: dict

    @property
    def solved(self):
        given = {"outlier_penalty": self.outlier_penalty, **self.options}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self.eps is None:
                return decompose(self.X, rank_penalty=self.rank_penalty, **given)
            return pursue(self.X, eps=self.eps, **given)


def drawn(seed):
    """Shapes 2..60 x 2..60, penalties over decades, scales over twelve, 0..30 % missing; a third is solved to 1e-6.

    Every eighth has sides from 48 on, where the solvers go other ways if the rank is high.
    """
    rng = np.random.default_rng((2012, seed))
    n, m = rng.integers(48, 61, 2) if seed % 8 == 0 else np.exp(rng.uniform(np.log(2), np.log(61), 2)).astype(int)
    rank = rng.integers(1, min(n, m) + 1)
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m)) / np.sqrt(rank)
    X += np.where(rng.random((n, m)) < rng.uniform(0, 0.3), 10 ** rng.uniform(-1, 2) * rng.standard_normal((n, m)), 0)
    X += 10 ** rng.uniform(-4, 0) * rng.standard_normal((n, m))
    X = (10 ** rng.uniform(-6, 6) * X).astype(rng.choice([np.float32, np.float64]))
    X[rng.random((n, m)) < rng.choice([0.0, rng.uniform(0, 0.3)])] = np.nan
    X[0, 0] = np.nan_to_num(X[0, 0]) or 1.0
    known = np.nan_to_num(X.astype(np.float64))
    spread = rng.uniform(0.5, 2.0, m) if rng.random() < 0.3 else np.ones(m)
    options = {"max_iter": int(rng.integers(1, 41)), "tol": 1e-6, "random_state": seed}
    if rng.random() < 0.33:
        options["max_iter"] = 200
    if seed % 3 == 2:
        rank_penalty = 10 ** rng.uniform(-2.5, 0.1) * np.linalg.norm(known, 2)
        return Problem(X, rank_penalty, 10 ** rng.uniform(-2.5, 0.1) * np.abs(known).max() * spread, None, options)
    eps = 10 ** rng.uniform(-3, -0.3) * np.linalg.norm(known) if seed % 3 else 0.0
    return Problem(X, 1.0, 10 ** rng.uniform(-0.5, 0.7) / np.sqrt(max(n, m)) * spread, eps, options)


def cost(problem, low_rank, outliers):
    """Value of (1) or (2). What (1) has left beyond eps counts as outliers, so that all is feasible."""
    rest = np.nan_to_num(problem.X.astype(np.float64) - low_rank - outliers)
    value = problem.rank_penalty * np.linalg.norm(low_rank, "nuc")
    if problem.eps is None:
        return value + 0.5 * np.sum(rest**2) + np.sum(problem.outlier_penalty * np.abs(outliers))
    length = np.linalg.norm(rest)
    beyond = rest * (1 - problem.eps / length) if length > problem.eps else 0.0
    return value + np.sum(problem.outlier_penalty * np.abs(outliers + beyond))


def shrunk(values, threshold):
    return np.sign(values) * np.maximum(np.abs(values) - threshold, 0)


def best_outliers(problem, low_rank):
    """soft(X - L, t lam), with t = 1 in (2), and in (1) the largest for which no more than eps is left."""
    rest = np.nan_to_num(problem.X.astype(np.float64) - low_rank)
    if problem.eps is None:
        return shrunk(rest, problem.outlier_penalty)
    low, high = 0.0, np.max(np.abs(rest) / problem.outlier_penalty)
    for _ in range(50 if problem.eps else 0):
        middle = (low + high) / 2
        fits = np.linalg.norm(np.clip(rest / problem.outlier_penalty, -middle, middle) * problem.outlier_penalty)
        low, high = (middle, high) if fits <= problem.eps else (low, middle)
    return shrunk(rest, low * problem.outlier_penalty)


def independent(problem):
    """The least cost that a Douglas-Rachford iteration on (L, O) meets.

    z <- z + prox_f(2 x - z) - x with x = prox_g(z): f is lam_* ||L||_* + lam ||O||_1, and g is the indicator of
    ||X - L - O||_F <= eps, or 1/2 ||X - L - O||_F^2.
    """
    X = problem.X.astype(np.float64)
    weight = STEP * np.linalg.norm(np.nan_to_num(X), 2) / problem.rank_penalty
    L, O = np.zeros_like(X), np.zeros_like(X)  # noqa: E741
    least = np.inf
    for k in range(STEPS):
        rest = np.nan_to_num(X - L - O)
        length = np.linalg.norm(rest)
        if problem.eps is None:
            rest *= weight / (1 + 2 * weight)
        else:
            rest *= 0.5 * max(1 - problem.eps / length, 0) if length > 0 else 0.0
        left, values, right = np.linalg.svd(L + 2 * rest, full_matrices=False)
        low_rank = (left * np.maximum(values - weight * problem.rank_penalty, 0)) @ right
        L = low_rank - rest
        O = shrunk(O + 2 * rest, weight * problem.outlier_penalty) - rest  # noqa: E741
        if k % 20 == 19:
            least = min(least, cost(problem, low_rank, best_outliers(problem, low_rank)))
    return least


@pytest.mark.parametrize("first", range(0, PROBLEMS, AT_ONCE))
def test_no_answer_costs_less_than_a_bound(first):
    for seed in range(first, first + AT_ONCE):
        problem = drawn(seed)
        rounding = ROUNDING[problem.X.dtype.type]
        part = problem.solved
        low_rank = part.codes.astype(np.float64) @ part.components.astype(np.float64)
        own = cost(problem, low_rank, part.outliers.astype(np.float64))
        assert abs(part.objective - own) <= rounding * own, f"seed {seed}: the cost is not the one reported"
        least = independent(problem)
        assert part.objective * (1 - part.gap) <= least * (1 + rounding), f"seed {seed}: the bound is above a cost"
        if part.converged:
            tol = max(problem.options["tol"], 1e-4 if rounding > 1e-10 else 0)
            assert part.gap <= tol, f"seed {seed}: converged too early"
            if problem.eps is not None:
                rest = np.linalg.norm(np.nan_to_num(problem.X - low_rank - part.outliers))
                size = np.linalg.norm(np.nan_to_num(problem.X))
                assert rest <= problem.eps + tol * size, f"seed {seed}: L + O is farther from X than asked for"
