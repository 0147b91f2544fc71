"""Solver of the robust projection (5) of samples onto given components, with nonnegative codes."""

from collections.abc import Iterator

import numpy as np

from ..._types import Array
from ...kernels.factors import nonnegative_descent
from ...kernels.nonnegative import nonnegative_projection
from .projection import Projection


def nonnegative_newton(
    X: Array,
    components: Array,
    lam_star: float,
    lam: Array,
    codes: Array | None = None,
    *,
    signed_outliers: bool = False,
    tol: float = 0.0,
    max_steps: int = 100,
) -> Iterator[Projection]:
    """Iterates of semismooth Newton on (5) with nonnegative codes and outliers, compiled and batched.

    min 1/2 ||x - Us - o||^2 + lam_*/2 ||s||^2 + lam sum(o) over s >= 0, o >= 0. With o = max(x - Us - lam, 0) put in,
    it is a nonnegative ridge regression whose loss is a square up to lam and a line beyond: convex and piecewise
    quadratic in q unknowns. A step is a nonnegative regression itself, solved exactly, so that a handful of steps end
    at the exact answer. See `kernels.nonnegative.nonnegative_projection`. ``components`` and ``X`` may hold
    negative entries.

    Cost of a step: 4 m q flops per sample, q^2 for each feature that changed sides, and f^3 / 3 for f free atoms, a
    few times. Memory: a few rows.

    Parameters
    ----------
    X : array of shape (n, m)
        Samples, NaN where missing.
    components : array of shape (q, m)
        U'.
    lam_star : float
        Rank penalty.
    lam : array of shape (m,)
        Outlier penalty of each feature.
    codes : array of shape (n, q), optional
        A warm start; negative entries count as 0. By default a sample starts from its nonnegative ridge code.
    signed_outliers : bool
        Whether outliers may be negative, too.
    tol : float
        A sample is left as it is when its gap is at most this share of its cost, that of the outliers left out.
    max_steps : int
        Newton steps between two iterates, at most.

    Yields
    ------
    Projection
        `codes` and the relative `gap` of each sample, as `objective.projection_gap` has it for these signs.

    Examples
    --------
    >>> parts = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    >>> x = np.array([[2.0, 2.0, -1.0, 9.0]])
    >>> next(nonnegative_newton(x, parts, 1e-9, np.full(4, 0.5))).codes.round(6)
    array([[2., 0.]])
    """
    n, q = len(X), len(components)
    cold = codes is None
    codes = np.zeros((n, q), X.dtype) if codes is None else np.maximum(codes, 0).astype(X.dtype)
    atoms = np.ascontiguousarray(components.T)
    components = np.ascontiguousarray(components)
    below = lam if signed_outliers else np.full_like(lam, np.inf)
    all_in = np.asarray(components, np.float64) @ np.asarray(atoms, np.float64)
    all_in.flat[:: q + 1] += lam_star
    while True:
        gap = np.empty(n)
        nonnegative_projection(X, atoms, components, all_in, lam_star, lam, below, codes, gap, cold, tol, max_steps)
        yield Projection(codes.copy(), gap)
        cold = False


def nonnegative_components(A: Array, B: Array, components: Array, lam_star: float, *, rounds: int = 50) -> Array:
    """Components that are best for given sums over codes, none negative: (9) with signs.

    min over U >= 0 of 1/2 <U (A + lam_* I), U> - <U, B'>, with A = S S' and B = S (X - O)'. It is convex, and solved
    atom by atom from the present components, which are never rotated::

        u_k <- max(0, (b_k - sum over i != k of u_i a_ik) / (a_kk + lam_*))

    Cost: 2 m q^2 flops per round.

    Parameters
    ----------
    A : array of shape (q, q)
        Sum of s s'.
    B : array of shape (q, m)
        Sum of s (x - o)'.
    components : array of shape (q, m)
        Where to start.
    lam_star : float
        Rank penalty.
    rounds : int
        Times that every atom is moved; the default is far more than it takes from components nearby.

    Returns
    -------
    array of shape (q, m)

    Examples
    --------
    >>> codes, cleaned = np.array([[1.0], [2.0]]), np.array([[1.0, -1.0], [2.0, -2.0]])
    >>> nonnegative_components(codes.T @ codes, codes.T @ cleaned, np.ones((1, 2)), 1e-9).round(6)
    array([[1., 0.]])
    """
    system = np.array(A, np.float64) + lam_star * np.eye(len(A))
    rows = np.maximum(np.ascontiguousarray(components.T, np.float64), 0)
    found = np.empty_like(rows)
    nonnegative_descent(system, np.ascontiguousarray(B.T - rows @ system), rows, found, rounds)
    return np.ascontiguousarray(found.T).astype(components.dtype)
