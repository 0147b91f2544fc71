"""Solvers of the robust projection (5) of samples onto given components."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..linalg import ridge_encoder
from ..objective import projection_gap
from ..prox import soft_threshold

Array = NDArray[np.floating[Any]]


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

    Cost of a pass: 4 n m q flops. Memory: two copies of X.

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
    encoder = ridge_encoder(components, lam_star)
    cleaned = np.nan_to_num(X, nan=0.0)
    if codes is None:
        codes = cleaned @ encoder
    while True:
        low_rank = codes @ components
        residual = np.where(np.isnan(X), X.dtype.type(0), X - low_rank)
        cleaned = low_rank + (residual - soft_threshold(residual, lam))
        codes = cleaned @ encoder
        yield Projection(codes, projection_gap(X, components, codes, lam_star, lam))


def newton(
    X: Array,
    components: Array,
    lam_star: float,
    lam: Array,
    codes: Array | None = None,
    *,
    tol: float = 0.0,
    steps: int = 100,
) -> Iterator[Projection]:
    """Iterates of semismooth Newton on (5), compiled and batched; a handful of steps to the exact answer.

    With O put in, (5) is ridge regression with Huber's loss: piecewise quadratic and strongly convex in q unknowns.
    See `kernels.newton_projection` for the step.

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
        A warm start; by default each sample starts from its ridge code.
    tol : float
        A sample whose gap is at most this is left as it is.
    steps : int
        Newton steps between two iterates, at most.

    Yields
    ------
    Projection
        `codes` and the relative `gap` of each sample.
    """
    cold = codes is None
    n, q = len(X), len(components)
    codes = np.zeros((n, q), X.dtype) if codes is None else np.array(codes, X.dtype)
    atoms = np.ascontiguousarray(components.T)
    components = np.ascontiguousarray(components)
    while True:
        gap = np.empty(n)
        kernels.newton_projection(
            X, atoms, components, lam_star, lam, np.ones(n, X.dtype), codes, gap, cold, tol, steps
        )
        yield Projection(codes.copy(), gap)
        cold = False
