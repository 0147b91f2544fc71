"""Principal component pursuit by a plain inexact augmented Lagrangian method, as the paper's ADMoM row has it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from unmingle.core.prox import soft_threshold

Array = NDArray[Any]

RESIDUAL, GROWTH, MOST = 1e-7, 1.5, 1000


def plain_alm(X: Array, lam: float) -> tuple[Array, Array]:
    """L and O of min ||L||_* + lam ||O||_1 subject to L + O = X, with a full SVD in every step.

    Multiplier Y, weight mu = 1.25 / ||X||_2, 1.5 times larger in each step, until ||X - L - O|| <= 1e-7 ||X||::

        L <- shrink singular values of X - O + Y/mu by 1/mu
        O <- soft(X - L + Y/mu, lam/mu)
        Y <- Y + mu (X - L - O)

    The weight grows geometrically, so that it ends near the minimum, not at it.
    """
    size, norm = np.linalg.norm(X), np.linalg.norm(X, 2)
    Y = X / max(norm, np.abs(X).max() / lam)
    L, O = np.zeros_like(X), np.zeros_like(X)  # noqa: E741
    mu = 1.25 / norm
    for _ in range(MOST):
        U, s, Vt = linalg.svd(X - O + Y / mu, full_matrices=False, overwrite_a=True, check_finite=False)
        r = int(np.count_nonzero(s > 1 / mu))
        L = (U[:, :r] * (s[:r] - 1 / mu)) @ Vt[:r]
        rest = X - L
        O = soft_threshold(rest + Y / mu, lam / mu)  # noqa: E741
        rest -= O
        Y += mu * rest
        if np.linalg.norm(rest) <= RESIDUAL * size:
            break
        mu *= GROWTH
    return L, O


def pursuit_cost(X: Array, L: Array, lam: float) -> float:
    """||L||_* + lam ||X - L||_1: what a low-rank part costs, whatever was found beside it."""
    return float(np.linalg.norm(L, "nuc") + lam * np.abs(X - L).sum())
