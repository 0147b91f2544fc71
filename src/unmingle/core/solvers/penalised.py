"""Solver of the convex problem (2) with any penalty on the outliers, in plain NumPy.

It is the slow and obvious twin of `proximal_iterates`, which knows lam ||O||_1 only and has compiled passes for it.
"""

from collections.abc import Iterator
from math import sqrt

import numpy as np

from ..._types import Array
from ..linalg.low_rank import LowRank
from ..linalg.thresholding import gram_threshold
from ..prox import OutlierPenalty


def penalised_iterates(X: Array, lam_star: float, penalty: OutlierPenalty) -> Iterator[LowRank]:
    """Iterates of accelerated proximal gradient descent on (2) with a penalty phi of one's own.

    min 1/2 ||X - L - O||_F^2 + lam_* ||L||_* + phi(O); with the best O = prox(X - L) put in, the smooth part has the
    gradient -(X - L - O), which changes no faster than L, so that a step from Y is::

        L <- shrink singular values of  Y + (X - Y - prox(X - Y))  by lam_*
        Y <- L + momentum (L - previous L)

    Momentum is Nesterov's, and starts again when it points uphill. `objective.certify_penalised` tells how good an
    iterate is.

    Cost of a step for the shorter side k and rank r: n m k + 4 n m r flops, an eigendecomposition of k^3, and the
    proximal map. Memory: about six copies of X.

    Parameters
    ----------
    X : array of shape (n, m)
        Data, NaN where missing.
    lam_star : float
        Rank penalty.
    penalty : OutlierPenalty
        What outliers cost.

    Yields
    ------
    LowRank
        The low-rank part; its outliers are ``penalty.prox(X - L)``.

    Examples
    --------
    >>> from unmingle.core.iterate import run
    >>> from unmingle.core.objective import certify_penalised
    >>> from unmingle.core.prox import EntryPenalty
    >>> rng = np.random.default_rng(0)
    >>> X, penalty = rng.standard_normal((20, 10)), EntryPenalty(np.full(10, 1.5))
    >>> gap = lambda low_rank: certify_penalised(X, low_rank, 5.0, penalty).gap
    >>> run(penalised_iterates(X, 5.0, penalty), gap, tol=1e-6, max_iter=500).converged
    True
    """
    point = last = np.zeros_like(X)
    age = 1.0
    while True:
        misfit = np.nan_to_num(X - point, nan=0.0)
        low_rank = gram_threshold(point + misfit - penalty.prox(misfit), lam_star)
        yield low_rank
        here = low_rank.scaled_left @ low_rank.right
        if np.vdot(point - here, here - last) > 0:
            age = 1.0
        next_age = (1 + sqrt(1 + 4 * age**2)) / 2
        point = here + X.dtype.type((age - 1) / next_age) * (here - last)
        last, age = here, next_age
