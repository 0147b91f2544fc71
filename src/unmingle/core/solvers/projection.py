"""Solvers of the robust projection (5) of samples onto given components."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..._types import Array, IndexArray
from ...kernels.newton import newton_projection
from ...kernels.samples import alternation_pass
from ..linalg.low_rank import ridge_encoder


@dataclass(frozen=True)
class _FewFeatures:
    """From how many features the first codes are found, where there are many more."""

    least: int = 200
    """At least this many are looked at."""
    per_atom: int = 20
    """At least this many are looked at for each atom."""
    least_saving: int = 3
    """Where all features are not this many times more, all are looked at from the start."""
    gap: float = 0.1
    """The first codes are found to this relative gap."""


_FEW = _FewFeatures()


@dataclass(frozen=True)
class Projection:
    """An iterate of (5) for a batch of samples."""

    codes: Array
    gap: Array
    """Relative duality gap of each sample."""


def algorithm_1(
    X: Array, components: Array, lam_star: float, lam: Array, codes: Array | None = None
) -> Iterator[Projection]:
    """Iterates of the paper's Algorithm 1, alternating minimisation of (5).

    With H = (U'U + lam_* I)^-1 U', in the code alone::

        s <- H (x - o),  o = soft(x - Us, lam)

    (The paper prints a minus in H, and leaves U' out of its last line.) Cutting the iterates after T passes gives the
    untrained T-layer encoder.

    Cost of a pass: 4 n m q flops. Memory: a few rows.

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
        Where to start; by default from o = 0.

    Yields
    ------
    Projection
        `codes` and the relative `gap` of each sample.
    """
    if codes is None:
        codes = np.nan_to_num(X, nan=0.0) @ ridge_encoder(components, lam_star)
    atoms, components = np.ascontiguousarray(components.T), np.ascontiguousarray(components)
    inverse = np.linalg.inv(components.astype(np.float64) @ atoms + lam_star * np.eye(len(components)))
    codes = np.ascontiguousarray(codes, X.dtype)
    first = True
    while True:
        next_codes, gap = np.empty_like(codes), np.empty(len(X))
        alternation_pass(X, atoms, components, inverse, lam_star, lam, codes, next_codes, gap)
        if not first:
            yield Projection(codes, gap)
        codes, first = next_codes, False


def newton(
    X: Array,
    components: Array,
    lam_star: float,
    lam: Array,
    codes: Array | None = None,
    *,
    tol: float = 0.0,
    max_steps: int = 100,
) -> Iterator[Projection]:
    """Iterates of semismooth Newton on (5), compiled and batched; a handful of steps to the exact answer.

    With O put in, (5) is ridge regression with Huber's loss: piecewise quadratic and strongly convex in q unknowns.
    See `kernels.newton.newton_projection` for the step.

    Cost of a step: 4 m q flops per sample, and q^2 for each feature that changed sides. Memory: a few rows.

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
        A warm start. By default a sample starts from its answer on a few features or, where there are only few, from
        its ridge code.
    tol : float
        A sample is left as it is when its gap is at most this share of its cost, that of the outliers left out.
    max_steps : int
        Newton steps between two iterates, at most.

    Yields
    ------
    Projection
        `codes` and the relative `gap` of each sample.
    """
    if codes is None:
        codes = _codes_from_some_features(X, components, lam_star, lam)
    cold = codes is None
    n, q = len(X), len(components)
    codes = np.zeros((n, q), X.dtype) if codes is None else np.array(codes, X.dtype)
    atoms = np.ascontiguousarray(components.T)
    components = np.ascontiguousarray(components)
    all_in = np.asarray(components, np.float64) @ np.asarray(atoms, np.float64)
    all_in.flat[:: q + 1] += lam_star
    while True:
        gap = np.empty(n)
        newton_projection(X, atoms, components, all_in, lam_star, lam, codes, gap, cold, tol, max_steps)
        yield Projection(codes.copy(), gap)
        cold = False


@cache
def some_features(m: int, count: int) -> IndexArray:
    """A fixed random choice of ``count`` out of m features, in their order; all of them if there are no more."""
    return np.sort(np.random.default_rng(0).permutation(m)[:count])


def _codes_from_some_features(X: Array, components: Array, lam_star: float, lam: Array) -> Array | None:
    """Answers of (5) on a sample of the features: near the answers on all, at a fraction of the cost."""
    q, m = components.shape
    count = max(_FEW.least, _FEW.per_atom * q)
    if m < _FEW.least_saving * count:
        return None
    some = some_features(m, count)
    X, components = np.take(X, some, axis=1), np.take(components, some, axis=1)
    return next(newton(X, components, lam_star * count / m, lam[some], tol=_FEW.gap)).codes
