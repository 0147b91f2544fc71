"""Solver of the factored problem (4) with nonnegative factors and outliers."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from ..._types import Array
from ...kernels.factors import nonnegative_descent, nonnegative_sweep
from .extrapolation import Extrapolation
from .nmf_start import starting_components
from .nonnegative import nonnegative_newton

_ROUNDS = 4
"""Times that codes, and components, go down for one look at the data."""
_ROUGH = 0.1
"""The gap of the first codes."""


@dataclass(frozen=True)
class Factors:
    """An iterate of (4) with nonnegative factors, ||u_k|| = ||s_k||, the largest first."""

    codes: Array
    components: Array
    objective: float
    step: float
    """Frobenius norm of what the next sweep would change without momentum."""


class _Point(NamedTuple):
    codes: Array
    components: Array


def nmf_iterates(
    X: Array,
    lam_star: float,
    lam: Array,
    *,
    n_components: int,
    init: str | Array = "nndsvd",
    rng: np.random.Generator,
) -> Iterator[Factors]:
    """Iterates of robust nonnegative matrix factorisation, problem (4) with signs.

    min 1/2 ||X - US - O||_F^2 + lam_*/2 (||U||_F^2 + ||S||_F^2) + lam ||O||_1 over U >= 0, S >= 0, O >= 0. It is not
    convex: iterates come to a stationary point, and which one depends on the start. For the components found, the codes
    can be made exact and certified (`nonnegative_newton`); the components cannot.

    A sweep takes the outliers off at a point Y, o = max(x - Us - lam, 0), and goes down the squares that are left, in
    the codes, then in the components, coordinate by coordinate. These squares bound the cost from above and touch it at
    Y, so that the cost cannot rise from there. Y is ahead of the last point: by momentum (Nesterov's) at first, by
    Anderson's extrapolation of the last sweeps when these move little. Where the cost is higher there all the same, the
    sweep is made anew from the last point itself: the objective never rises, but for rounding. Atoms are scaled so that
    ||u_k|| = ||s_k||, which costs least, and never rotated.

    Cost of a sweep: 8 n m q flops. Memory: 16 copies of the factors; none of X.

    Parameters
    ----------
    X : array of shape (n, m)
        Data, NaN where missing; negative entries are allowed, and are never outliers.
    lam_star : float
        Rank penalty.
    lam : array of shape (m,)
        Outlier penalty of each feature, of the dtype of X.
    n_components : int
        q. Atoms that do not pay for themselves fade; but two of one direction cost no more than one, and their
        difference, of both signs, fits noise of a singular value above lam_*: surplus atoms stay, as twins.
    init : {"nndsvd", "random"} or array of shape (q, m)
        The first components: nonnegative parts of singular vectors, chance, or these. The first codes are their best.
    rng : Generator
        Starts the partial SVD of "nndsvd", and makes the components of "random".

    Yields
    ------
    Factors
        `codes`, `components`, their `objective` and the `step` that follows.
    """
    components = starting_components(X, n_components, init, rng)
    point = _balanced(next(nonnegative_newton(X, components, lam_star, lam, tol=_ROUGH)).codes, components)
    tolerated = 1 + float(np.finfo(X.dtype).eps)
    last, least, ahead, extrapolation = point, inf, point, Extrapolation()
    while True:
        value, found = _sweep(X, lam_star, lam, point, ahead)
        if value > tolerated * least and ahead is not point:
            extrapolation.restart()
            _, point = _sweep(X, lam_star, lam, last, last)
            ahead = point
            continue
        change = sqrt(sum(float(np.sum((a - b) ** 2, dtype=np.float64)) for a, b in zip(found, ahead, strict=True)))
        order = np.argsort(-np.sum(point.components**2, axis=1, dtype=np.float64), kind="stable")
        yield Factors(point.codes[:, order], point.components[order], value, change)
        ahead = _Point(*extrapolation.ahead(ahead, found, point))
        last, least, point = point, value, found


def _sweep(X: Array, lam_star: float, lam: Array, point: _Point, ahead: _Point) -> tuple[float, _Point]:
    """The value of a point, and what codes and components become from another point, or from the same."""
    q = len(point.components)
    atoms, ridge = np.ascontiguousarray(ahead.components.T), lam_star * np.eye(q)
    wide = atoms.astype(np.float64)
    codes, gathered = np.empty_like(ahead.codes), np.empty_like(ahead.components)
    valued = point.components[: 0 if ahead is point else q]
    problem, start = (X, lam, lam_star, point.codes, valued), (ahead.codes, atoms, wide.T @ wide + ridge)
    value = nonnegative_sweep(*problem, *start, codes, gathered, _ROUNDS)
    value += 0.5 * lam_star * sum(float(np.sum(factor**2, dtype=np.float64)) for factor in point)
    new, moved = codes.astype(np.float64), (codes - ahead.codes).astype(np.float64)
    slopes = np.ascontiguousarray(gathered.T - wide @ (moved.T @ new) - lam_star * wide)
    next_atoms = np.empty_like(atoms)
    nonnegative_descent(new.T @ new + ridge, slopes, atoms, next_atoms, _ROUNDS)
    return value, _balanced(codes, np.ascontiguousarray(next_atoms.T))


def _balanced(codes: Array, components: Array) -> _Point:
    """The same product with ||u_k|| = ||s_k||; an atom that is zero in one factor is zero in both."""
    high = np.sqrt(np.sum(codes**2, axis=0, dtype=np.float64))
    wide = np.sqrt(np.sum(components**2, axis=1, dtype=np.float64))
    there = (high > 0) & (wide > 0)
    ratio = np.sqrt(np.divide(wide, high, out=np.zeros_like(high), where=there))
    back = np.divide(1, ratio, out=np.zeros_like(high), where=there)
    return _Point(codes * ratio.astype(codes.dtype), components * back[:, None].astype(components.dtype))
