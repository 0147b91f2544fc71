"""Plain ADMM on (1) and (2), as anybody would write it: a full SVD in every step, residuals balanced by the usual rule.

Nothing is over-relaxed, and nothing is tuned to the matrices.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from unmingle.core.prox import soft_threshold

from .tasks import Array

IMBALANCE, FACTOR = 10.0, 2.0
"""Where one residual is so many times the other, the weight changes by this factor (Boyd et al., 2011, 3.4.1)."""


@dataclass(frozen=True)
class Step:
    low_rank: Array
    nuclear_norm: float
    """Of the low-rank part, which thresholding told."""


def admm_of_pursuit(X: Array, lam: float) -> Iterator[Step]:
    """Iterates of min ||L||_* + lam ||O||_1 subject to L + O = X.

    Multiplier rho U, weight rho = n m / (4 ||X||_1) to begin with (Candes et al., 2011), then balanced::

        L <- shrink singular values of X - O + U by 1/rho
        O <- soft(X - L + U, lam/rho)
        U <- U + X - L - O
    """
    rho = X.size / (4 * np.abs(X).sum())
    O, U = np.zeros_like(X), np.zeros_like(X)  # noqa: E741
    while True:
        step = _thresholded(X - O + U, 1 / rho)
        before, O = O, soft_threshold(X - step.low_rank + U, lam / rho)  # noqa: E741
        rest = X - step.low_rank - O
        U += rest
        yield step
        change = _balance(rest, rho * (O - before))
        rho, U = rho * change, U / change


def admm_unconstrained(X: Array, lam_star: float, lam: float) -> Iterator[Step]:
    """Iterates of min 1/2 ||X - L - O||^2 + lam_* ||L||_* + lam ||O||_1, with a copy Z of L and the best O inside.

    Multiplier rho U, weight rho = 1 to begin with, then balanced; h is Huber's function, of |.| <= lam::

        L <- X - argmin h(E) + rho/2 ||E - B||^2,  B = X - Z + U
        Z <- shrink singular values of L + U by lam_*/rho
        U <- U + L - Z

    The argmin is B - clip(B / (1 + rho), -lam/rho, lam/rho). The low-rank part of a step is Z.
    """
    rho = 1.0
    Z, U = np.zeros_like(X), np.zeros_like(X)
    while True:
        B = X - Z + U
        L = X - B + np.clip(B / (1 + rho), -lam / rho, lam / rho)
        before, step = Z, _thresholded(L + U, lam_star / rho)
        Z = step.low_rank
        U += L - Z
        yield step
        change = _balance(L - Z, rho * (Z - before))
        rho, U = rho * change, U / change


def _thresholded(point: Array, by: float) -> Step:
    left, values, right = linalg.svd(point, full_matrices=False, overwrite_a=True, check_finite=False)
    rank = int(np.count_nonzero(values > by))
    kept = values[:rank] - by
    return Step((left[:, :rank] * kept) @ right[:rank], float(kept.sum()))


def _balance(primal: Array, dual: Array) -> float:
    """Factor of rho: larger where copies are far apart, smaller where they move much."""
    apart, moved = np.linalg.norm(primal), np.linalg.norm(dual)
    return FACTOR if apart > IMBALANCE * moved else 1 / FACTOR if moved > IMBALANCE * apart else 1.0
