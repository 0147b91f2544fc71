"""Solver of the factored problem (4) with nonnegative factors and outliers: its start, its sweep, its extrapolation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from ..._types import Array
from ...kernels.factors import nonnegative_descent, nonnegative_sweep
from ..linalg.thresholding import WarmSubspace
from .nonnegative import nonnegative_newton


@dataclass(frozen=True)
class _NmfStart:
    """What the first codes and components are made from."""

    gap: float = 0.1
    """The first codes are found to this relative gap."""
    usual_size: float = 5.0
    """Entries beyond this many times the median of their feature are cut, since they may be outliers."""
    rows_of_median: int = 1000
    """That median is taken of this many rows, spread over the data."""


@dataclass(frozen=True)
class _AndersonRules:
    """When Anderson's extrapolation takes over from momentum, and what it looks at."""

    sweeps: int = 5
    """It looks at this many sweeps before the last."""
    near: float = 3e-3
    """It takes over when a sweep moves by at most this share of all."""
    ridge: float = 1e-14
    """This share of the trace of its system is added to it, lest it be singular."""


_START, _ANDERSON = _NmfStart(), _AndersonRules()
_ROUNDS = 4
"""Codes, and components, go down this many times for one look at the data."""


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
    sweep is repeated from the last point itself: the objective never rises, but for rounding. Atoms are scaled so that
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
    components = _starting_components(X, n_components, init, rng)
    point = _balance(next(nonnegative_newton(X, components, lam_star, lam, tol=_START.gap)).codes, components)
    tolerated = 1 + float(np.finfo(X.dtype).eps)
    last, least, ahead, extrapolation = point, inf, point, _Extrapolation()
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
    return value, _balance(codes, np.ascontiguousarray(next_atoms.T))


def _balance(codes: Array, components: Array) -> _Point:
    """The same product with ||u_k|| = ||s_k||; an atom that is zero in one factor is zero in both."""
    high = np.sqrt(np.sum(codes**2, axis=0, dtype=np.float64))
    wide = np.sqrt(np.sum(components**2, axis=1, dtype=np.float64))
    there = (high > 0) & (wide > 0)
    ratio = np.sqrt(np.divide(wide, high, out=np.zeros_like(high), where=there))
    back = np.divide(1, ratio, out=np.zeros_like(high), where=there)
    return _Point(codes * ratio.astype(codes.dtype), components * back[:, None].astype(components.dtype))


# Where to start


def _starting_components(X: Array, n_components: int, init: str | Array, rng: np.random.Generator) -> Array:
    """First components (q, m), nonnegative, of the scale that ||u_k|| = ||s_k|| asks for.

    "random" is uniform; "nndsvd" takes from each singular triplet of the data, cut at what is usual for each feature,
    the nonnegative parts of its vectors that weigh more, and chance where there is no such.
    """
    if not isinstance(init, str):
        return np.ascontiguousarray(init, X.dtype)
    (n, m), q = X.shape, n_components
    known = np.nan_to_num(X, nan=0.0)
    limits = _usual_sizes(X)
    np.clip(known, 0, limits, out=known)
    size = np.sqrt(4 * float(np.mean(known, dtype=np.float64)) / q) * (n / m) ** 0.25
    components = (size * rng.random((q, m))).astype(X.dtype)
    if init == "random":
        return components
    subspace = WarmSubspace(known, min(q, n, m), 8, rng)
    low_rank = subspace.threshold(known, known @ subspace.basis, 0.0, degree=2, at_most=min(q, n, m))
    for k, (left, value, right) in enumerate(zip(low_rank.left.T, low_rank.values, low_rank.right, strict=True)):
        weight, part = max(_positive_part(left, right), _positive_part(-left, -right), key=lambda found: found[0])
        if weight > 0:
            components[k] = part * X.dtype.type(np.sqrt(value * weight))
    return components


def _positive_part(left: Array, right: Array) -> tuple[float, Array]:
    """The positive part of a right singular vector, of length one, and what it weighs beside that of the left one."""
    part = np.maximum(right, 0)
    length = float(np.linalg.norm(part))
    return length * float(np.linalg.norm(np.maximum(left, 0))), part / part.dtype.type(length or 1.0)


def _usual_sizes(X: Array) -> Array:
    """What is usual for each feature: a few times the median of its positive entries."""
    some = X[:: -(-len(X) // _START.rows_of_median)]
    positive = np.where(some > 0, some, np.nan)
    empty = np.isnan(positive).all(axis=0)
    positive[:, empty] = 0
    return (_START.usual_size * np.nanmedian(positive, axis=0)).astype(X.dtype)


# Where to sweep from next


class _Extrapolation:
    """Where to sweep from next, given from where the last sweeps came to where. Everything stays at zero or above.

    Momentum, Nesterov's: G + (age - 1) / next age (G - previous G), the last sweep having come to G. Anderson's: with
    F = G - Y the move of the sweep from Y, and c the least squares of F on its differences to the moves before,
    G - sum of c_i (G - G_i). It needs the Y and G of the last sweeps, 12 copies of what it extrapolates.
    """

    def __init__(self) -> None:
        self._age = 1.0
        self._starts: list[Array] = []
        self._ends: list[Array] = []

    def restart(self) -> None:
        """Forget momentum and all but the last sweep."""
        self._age = 1.0
        del self._starts[:-1], self._ends[:-1]

    def ahead(self, start: Sequence[Array], end: Sequence[Array], last: Sequence[Array]) -> list[Array]:
        """From where to go on after a sweep from ``start`` to ``end``, the point that came before being ``last``."""
        here, there = (np.concatenate([factor.ravel() for factor in point]) for point in (start, end))
        self._starts, self._ends = [*self._starts[-_ANDERSON.sweeps :], here], [*self._ends[-_ANDERSON.sweeps :], there]
        far = np.linalg.norm(there - here) > _ANDERSON.near * np.linalg.norm(there)
        if far or len(self._ends) < 3:
            next_age = (1 + sqrt(1 + 4 * self._age**2)) / 2
            momentum = end[0].dtype.type((self._age - 1) / next_age)
            self._age = next_age
            return [np.maximum(new + momentum * (new - old), 0) for new, old in zip(end, last, strict=True)]
        self._age = 1.0
        flat, parts, place = np.maximum(self._anderson_point(), 0), [], 0
        for factor in end:
            parts.append(flat[place : place + factor.size].reshape(factor.shape))
            place += factor.size
        return parts

    def _anderson_point(self) -> Array:
        """Anderson's point."""
        move, end = self._ends[-1] - self._starts[-1], self._ends[-1]
        before = zip(self._starts[:-1], self._ends[:-1], strict=True)
        changes = np.array([move - (there - here) for here, there in before], np.float64)
        system = changes @ changes.T
        system.flat[:: len(system) + 1] += _ANDERSON.ridge * np.trace(system) + np.finfo(np.float64).tiny
        shares = np.linalg.solve(system, changes @ move).astype(end.dtype)
        mixed = end.copy()
        for share, there in zip(shares, self._ends[:-1], strict=True):
            mixed -= share * (end - there)
        return mixed
