"""Solver of the unconstrained convex problem (2)."""

from collections.abc import Iterator

import numpy as np

from ..._types import Array
from ..linalg.low_rank import LowRank
from .sweeps import Sweep, sweeps


def proximal_iterates(
    X: Array,
    lam_star: float,
    lam: Array,
    *,
    n_components: int | None = None,
    rng: np.random.Generator,
    start: LowRank | None = None,
) -> Iterator[Sweep]:
    """Iterates of proximal gradient descent on (2), accelerated where it is slow.

    min 1/2 ||X - L - O||_F^2 + lam_* ||L||_* + lam ||O||_1; with O = soft(X - L, lam) put in, one step is::

        L <- shrink singular values of  L + clip(X - L, -lam, lam)  by lam_*

    The SVD is partial, starts from the last one and is sharpened by a Chebyshev filter at the threshold, so that a
    certified gap closes in about as many steps as with a full SVD. Penalties come down to their values step by step.

    Cost of a step: about 20 n m r flops at rank r, no full SVD. Memory: one copy of X; a certificate
    takes another, and up to 2048 rows or columns some float64 squares of the smaller side.

    Parameters
    ----------
    X : array of shape (n, m)
        Data, NaN where missing.
    lam_star : float
        Rank penalty.
    lam : array of shape (m,)
        Outlier penalty of each feature, of the dtype of X.
    n_components : int, optional
        Keep no more than so many singular values: then the problem is (4), no longer convex.
    rng : Generator
        Starts the first SVD.
    start : LowRank, optional
        A low-rank part not far from the answer.

    Yields
    ------
    Sweep
        `low_rank`, the last `step`, and whether the penalties have `settled`.
    """
    return sweeps(X, lam_star, lam, at_most=n_components, degree=3, oversampling=16, rng=rng, start=start)
