"""The splitting that takes over where the answer of (1) or (2) is not of very low rank.

Its constants were chosen by the number of steps on a film (Hall), faces (Yale, Frey) and a spectrogram, by hand;
`python benchmarks/run.py --only real` also has a film that had no say (Escalator).
"""

from collections.abc import Iterator
from math import exp, inf, log, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..linalg import LowRank, gram_threshold
from ..prox import soft_threshold

Array = NDArray[np.floating[Any]]

_SHARE, _SIDE = 1 / 6, 48
"""The rank is high from this share of the shorter side on, unless that is shorter than this."""
_RELAX = 1.8
"""Over-relaxation, below 2."""
_EVERY, _UNTIL = 5, 60
"""Steps from one look at the weight to the next, and those after which it stays."""
_ROWS = 32
"""Rows, about, from which the change of the low-rank part is told."""
_MOST = 2.5
"""Factor by which it changes at most."""


def is_high(rank: int, shape: tuple[int, ...]) -> bool:
    """Whether the rank is so high that partial SVDs win nothing, and proximal steps are small."""
    return min(shape) >= _SIDE and rank > _SHARE * min(shape)


class Split(NamedTuple):
    """An iterate of the splitting. Its arrays are the solver's own and change with the next iterate."""

    low_rank: LowRank
    step: float
    """Frobenius norm of the last change of the low-rank part."""
    point: Array
    """L + U, of which the low-rank part was thresholded."""
    weight: float
    """rho."""

    def astype(self, dtype: Any) -> "Split":
        """The same iterate in another precision."""
        return self._replace(low_rank=self.low_rank.astype(dtype), point=self.point.astype(dtype))

    def outliers(self, X: Array, lam: Array) -> Array:
        """O of (1), the best misfit for B: soft(B, lam / rho)."""
        low_rank = self.low_rank.scaled_left @ self.low_rank.right
        shifted = np.nan_to_num(X - low_rank + (self.point - low_rank), nan=0.0)
        return soft_threshold(shifted, lam / X.dtype.type(self.weight))


class Weight:
    """rho, which is balanced now and then: ||L - Z|| is to be as large as the change of Z."""

    def __init__(self, start: float) -> None:
        self.rho = start
        self._age, self._largest, self._direction = 0, _MOST, 0.0

    def balance(self, apart: float, step: float) -> float:
        """Take in the residuals of a step and return the factor that rho changes by.

        A larger rho brings the copies together, a smaller one lets them move. Whenever it turns, later changes are
        smaller, so that it comes to rest.
        """
        self._age += 1
        if self._age % _EVERY or self._age > _UNTIL or not (step > 0 and apart < inf):
            return 1.0
        wanted = log(apart / step) if apart > 0 else 0.0
        if wanted * self._direction < 0:
            self._largest = sqrt(self._largest)
        self._direction = wanted
        change = min(max(exp(wanted), 1 / self._largest), self._largest)
        self.rho *= change
        return change


def splitting(
    X: Array,
    lam_star: float,
    lam: Array,
    start: LowRank,
    multiplier: Array,
    *,
    curvature: float = 1.0,
    weight: float = 0.1,
) -> Iterator[Split]:
    """Iterates of ADMM on min h(X - L) + lam_* ||L||_*, over-relaxed, with a weight that adapts.

    h is Huber's function of (2), with curvature 1, or lam |.| of (1), with infinite curvature. L has two copies, one
    that fits X and one of low rank, Z, which a multiplier rho U brings together::

        B = X - Z + U,   E = argmin h(E) + rho/2 ||E - B||^2,   L = relax (X - E) + (1 - relax) Z
        Z <- shrink singular values of L + U by lam_* / rho,    U <- L + U - Z

    Only L + U is stored, since U is what thresholding leaves of it. Thresholding goes through the Gram matrix,
    `gram_threshold`.

    Cost of a step for the shorter side k and rank r: n m k flops in float64, 4 n m r, and an eigendecomposition of k^3;
    X is read once, L + U read three times and written once. Memory: that of the multiplier given, and another copy of X
    for a moment at the start.

    Parameters
    ----------
    X : array of shape (n, m)
        Data, NaN where missing.
    lam_star : float
        Rank penalty.
    lam : array of shape (m,)
        Outlier penalty of each feature, of the dtype of X.
    start : LowRank
        Where to start.
    multiplier : array of shape (n, m)
        rho U to start from; it is written over.
    curvature : float
        Of h around 0: 1 for (2), infinite for (1).
    weight : float
        rho to begin with.

    Yields
    ------
    Split
        `low_rank`, the last `step`, and what the `multiplier` is made of.
    """
    number, balance = X.dtype.type, Weight(weight)
    point = multiplier
    point *= number(1 / weight)
    point += start.scaled_left @ start.right
    low_rank, apart = start, inf
    while True:
        previous, low_rank = low_rank, gram_threshold(point, lam_star / balance.rho)
        step = _distance(low_rank, previous)
        yield Split(low_rank, step, point, balance.rho)
        change = balance.balance(apart, step)
        drop, softness = 1 / balance.rho, 1 / curvature
        gain = softness / (softness + drop)
        square = kernels.splitting_sweep(
            X, low_rank.scaled_left, low_rank.right, point,
            *map(number, (1 / change, gain, drop + softness, drop, _RELAX)), lam,
        )  # fmt: skip
        apart = sqrt(square)


def _distance(one: LowRank, other: LowRank) -> float:
    """About the Frobenius norm of the difference, from some rows; what is alike does not cancel in sums."""
    rows = slice(None, None, max(1, len(one.left) // _ROWS))
    apart = one.scaled_left[rows] @ one.right
    apart -= other.scaled_left[rows] @ other.right
    return sqrt(len(one.left) / len(apart)) * float(np.linalg.norm(apart))
