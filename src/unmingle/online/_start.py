"""What a stream starts from: units, samples that tell something, and their solution as one matrix."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..decomposition import Decomposition, decompose
from ..linalg import Units
from ._statistics import Statistics

Array = NDArray[np.floating[Any]]

_ROOTS = (2.0**-500, 2.0**500)
"""The root of the units at the extremes, where their square can still be inverted."""


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
