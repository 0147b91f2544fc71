"""What a stream starts from: units, samples that tell something, and their solution as one matrix."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from ..._types import Array
from ..._validation import check_matrix, generator
from ..decomposition.decompose_matrix import solve
from ..decomposition.result import Decomposition
from ..iterate import run
from ..linalg.units import Units
from ..objective import nonnegative_stationarity
from ..penalties import from_noise, matching_outlier_penalty, noise_level, nonnegative_from_noise
from ..solvers.nmf import nmf_iterates
from .statistics import Statistics

_ROOTS = (2.0**-500, 2.0**500)
"""The root of the units at the extremes, where their square can still be inverted."""
_SWEEPS = 500
"""Of nonnegative factors, at most."""


def robust_start(
    X: Array,
    n_components: int | None,
    rank_penalty: float | None,
    outlier_penalty: Any,
    *,
    tol: float,
    random_state: Any,
    nonnegative: bool = False,
) -> Decomposition:
    """(4) for the first samples, with automatic penalties for None; not quite converged is no harm: more come.

    Nonnegative factors take the noise level, and their number where there is no other, from the answer of any sign.
    """
    rng, automatic = generator(random_state), (rank_penalty is None, outlier_penalty is None)
    if rank_penalty is None:
        rank_penalty = from_noise(noise_level(X, rng, at_most=n_components), *X.shape).rank_penalty or 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        part = solve(
            check_matrix(X),
            n_components=n_components,
            rank_penalty=rank_penalty,
            outlier_penalty="auto" if outlier_penalty is None else outlier_penalty,
            method="alternating",
            tol=tol,
            random_state=rng,
        )
    if not nonnegative:
        return part
    return _nonnegative(_with_nonnegative_penalties(part, *automatic), X, n_components or part.rank, tol, rng)


def _nonnegative(
    part: Decomposition, X: Array, n_components: int, tol: float, rng: np.random.Generator
) -> Decomposition:
    """The nonnegative factorisation of what was decomposed, with the same penalties; nothing if that was nothing."""
    if part.rank == 0:
        return part
    lam_star, lam = part.rank_penalty, np.broadcast_to(np.asarray(part.outlier_penalty), X.shape[1]).astype(X.dtype)
    iterates = nmf_iterates(X, lam_star, lam, n_components=min(n_components, *X.shape), rng=rng)
    found = run(
        iterates,
        lambda state: nonnegative_stationarity(X, state.components, state.codes, lam_star, lam),
        tol=tol,
        max_iter=_SWEEPS,
    ).state
    there = found.components.any(axis=1)
    codes, components = found.codes[:, there], found.components[there]
    outliers = np.nan_to_num(np.maximum(X - codes @ components - lam, 0), nan=0.0)
    return replace(part, codes=codes, components=components, _outliers=outliers, objective=found.objective)


def _with_nonnegative_penalties(part: Decomposition, auto_rank: bool, auto_outliers: bool) -> Decomposition:
    """The same with the penalties that nonnegative factors have for its noise, where they are automatic."""
    n, m = len(part.codes), part.components.shape[1]
    rank_penalty = part.rank_penalty
    if auto_rank:
        level = rank_penalty / from_noise(1.0, n, m).rank_penalty
        rank_penalty = nonnegative_from_noise(level, n, m).rank_penalty
    lam = matching_outlier_penalty(rank_penalty, n, m, nonnegative=True) if auto_outliers else part.outlier_penalty
    return replace(part, rank_penalty=rank_penalty, outlier_penalty=lam)


def summary_of(part: Decomposition, X: Array) -> Statistics:
    """Statistics of a solution, all samples with the same weight."""
    return Statistics.of(part.codes, np.where(np.isnan(X), part.low_rank, X - part.outliers))


def without_empty_rows(X: Array) -> Array:
    """Rows with at least one known entry."""
    empty = np.isnan(X[:, 0])
    if empty.any():
        empty[empty] = np.isnan(X[empty]).all(axis=1)
        return X[~empty]
    return X


def units_of(X: Array) -> Units | None:
    """Units in which the median entry of X is about one; None if there is none but zeros."""
    known = np.abs(X[(X != 0) & ~np.isnan(X)])
    return Units(min(max(Units.of(np.median(known)).root, _ROOTS[0]), _ROOTS[1])) if known.size else None
