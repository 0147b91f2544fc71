"""Looks at samples and solutions that need no tracker."""

import warnings
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..decomposition import Decomposition, decompose
from ..linalg import scale_root
from ..penalties import NORMAL_MAD, from_noise, noise_floor
from ._statistics import Statistics

Array = NDArray[np.floating[Any]]

_ROOTS = (2.0**-500, 2.0**500)
"""The units are squares of these at the extremes, which can still be inverted."""


def robust_start(
    X: Array,
    n_components: int | None,
    rank_penalty: float | None,
    outlier_penalty: Any,
    *,
    tol: float,
    random_state: Any,
) -> Decomposition:
    """(4) for the first samples, with automatic penalties for None; not quite converged is no harm: more come."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return decompose(
            X,
            n_components=n_components,
            rank_penalty="auto" if rank_penalty is None else rank_penalty,
            outlier_penalty="auto" if outlier_penalty is None else outlier_penalty,
            solver="alternating",
            tol=tol,
            random_state=random_state,
        )


def noise_and_floor(part: Decomposition, X: Array, *, automatic: bool) -> tuple[float, float]:
    """Noise level of a decomposed matrix, from its automatic penalty or its residual, and the least that it may be."""
    n, m = X.shape
    if automatic:
        return part.rank_penalty / from_noise(1.0, n, m).rank_penalty, noise_floor(X)
    freedom = max((1 - part.rank / n) * (1 - part.rank / m), 1 / min(n, m))
    return NORMAL_MAD * float(np.nanmedian(np.abs(X - part.low_rank))) / sqrt(freedom), noise_floor(X)


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


def root_of(X: Array) -> float:
    """A power of two whose square is near the median entry of X; 0 if there is none but zeros."""
    known = np.abs(X[(X != 0) & ~np.isnan(X)])
    return min(max(scale_root(np.median(known)), _ROOTS[0]), _ROOTS[1]) if known.size else 0.0


def mostly_above(deviations: Array, limit: float) -> NDArray[np.bool_]:
    """Rows most of whose known entries are above a limit."""
    return 2 * np.count_nonzero(deviations > limit, axis=1) > np.count_nonzero(~np.isnan(deviations), axis=1)
