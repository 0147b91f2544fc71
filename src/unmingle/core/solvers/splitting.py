"""The splitting that takes over where the answer of (1) or (2) is not of very low rank.

Its constants were chosen by the number of steps to a plain method's cost and to a certified 1e-4 on two films (Hall,
Lobby), faces (Yale, Frey, ORL), two spectrograms and a made matrix. Escalator, a film, had no say:
`python -m lab bench real`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ..._types import Array
from ...kernels.matrix import splitting_sweep
from ..linalg.low_rank import LowRank
from ..linalg.thresholding import gram_threshold
from .mixed_precision import MixedPrecisionData


@dataclass(frozen=True)
class _HighRank:
    """From which rank on partial SVDs win nothing, `is_high`."""

    share: float = 1 / 6
    """The rank is high from this share of the shorter side on at the latest."""
    shortest_side: int = 48
    """Where the shorter side is below this, no rank is high."""


@dataclass(frozen=True)
class _PenaltyBalancing:
    """How the penalty rho of the splitting follows the residuals, `AdaptivePenalty`."""

    every: int = 5
    """Steps from one look at the residuals to the next."""
    until: int = 60
    """After this many steps rho stays as it is, so that the iterates converge."""
    largest_change: float = 2.5
    """The factor by which rho changes at most, at first."""
    early_steps: int = 25
    """Steps that aim at the first of two shares, those after them at the second."""
    of_linear: tuple[float, float] = (0.06, 0.25)
    """Dual residual over the primal one that (1) aims at: its cost comes down first, then its bound follows."""
    of_curved: tuple[float, float] = (0.5, 0.5)
    """The same for (2)."""
    speed: float = 0.6
    """rho changes by this power of what the share is off; the share falls about as rho to the power 3/2."""


_HIGH, _BALANCING = _HighRank(), _PenaltyBalancing()
_RELAXATION = 1.8
"""Over-relaxation of a step, below 2."""
_ROWS_OF_STEP = 12
"""The length of a step is told from about this many rows."""


def is_high(rank: int, shape: tuple[int, ...], price: float = 6) -> bool:
    """Whether the rank r is so high that partial SVDs win nothing, and proximal steps are small.

    For a shorter side k and a longer one l, ``price`` k l r flops of a partial SVD stand against k^2 l + 10 k^3 of the
    Gram matrix and its eigenvalues.
    """
    short, long = min(shape), max(shape)
    return short >= _HIGH.shortest_side and rank > min(_HIGH.share, (1 + 10 * short / long) / price) * short


class Split(NamedTuple):
    """An iterate of the splitting. Its arrays are the solver's own and change with the next iterate."""

    low_rank: LowRank
    step: float
    """Frobenius norm of the last change of the low-rank part."""
    point: Array
    """L + U, of which the low-rank part was thresholded."""
    rho: float
    """Penalty of what the copies differ by."""
    expected: float = inf
    """About the relative gap of the iterate before, were the spectral norm of its multiplier small enough."""

    def astype(self, dtype: DTypeLike) -> "Split":
        """The same iterate in another precision."""
        return self._replace(low_rank=self.low_rank.astype(dtype), point=self.point.astype(dtype))

    def outliers(self, X: Array, lam: Array) -> Array:
        """O of (1): X - Z wherever the best misfit for B, soft(B, lam / rho), is not 0."""
        low_rank = self.low_rank.scaled_left @ self.low_rank.right
        misfit = np.nan_to_num(X - low_rank, nan=0.0)
        beyond = np.abs(misfit + (self.point - low_rank)) > lam / X.dtype.type(self.rho)
        return np.where(beyond & ~np.isnan(X), misfit, X.dtype.type(0))


class AdaptivePenalty:
    """The penalty rho of the splitting, balanced now and then: relative residuals are to stay in proportion.

    The primal one is ||L - Z|| / ||Z||, the dual one the change of Z over ||U||.
    """

    def __init__(self, start: float, shares: tuple[float, float] = _BALANCING.of_linear) -> None:
        self.rho, self._shares = start, shares
        self._age, self._largest, self._direction = 0, _BALANCING.largest_change, 0.0

    def balance(self, primal: float, dual: float) -> float:
        """Take in the relative residuals of a step and return the factor that rho changes by.

        A larger rho brings the copies together, a smaller one lets them move. Whenever it turns, later changes are
        smaller, so that it comes to rest.
        """
        self._age += 1
        judged = 0 < primal < inf and 0 < dual < inf
        if self._age % _BALANCING.every or self._age > _BALANCING.until or not judged:
            return 1.0
        wanted = _BALANCING.speed * log(primal / (self._shares[self._age > _BALANCING.early_steps] * dual))
        if wanted * self._direction < 0:
            self._largest = sqrt(self._largest)
        self._direction = wanted
        change = min(max(exp(wanted), 1 / self._largest), self._largest)
        self.rho *= change
        return change


def splitting_iterates(
    X: Array,
    lam_star: float,
    lam: Array,
    start: LowRank,
    multiplier: Array,
    *,
    curvature: float = 1.0,
    rho: float = 0.1,
) -> Iterator[Split]:
    """Iterates of ADMM on min h(X - L) + lam_* ||L||_*, over-relaxed, with a penalty rho that adapts.

    h is Huber's function of (2), with curvature 1, or lam |.| of (1), with infinite curvature. L has two copies, one
    that fits X and one of low rank, Z, which a multiplier rho U brings together::

        B = X - Z + U,   E = argmin h(E) + rho/2 ||E - B||^2,   L = relax (X - E) + (1 - relax) Z
        Z <- shrink singular values of L + U by lam_* / rho,    U <- L + U - Z

    Only L + U is stored, since U is what thresholding leaves of it. Thresholding goes through the Gram matrix,
    `gram_threshold`. Long steps are taken in float32, see `mixed_precision`.

    Cost of a step for the shorter side k and rank r: n m k flops in float64, 4 n m r, and an eigendecomposition of k^3;
    X is read once, L + U read three times and written once. Memory: that of the multiplier given, X in float32 if it
    is in float64, and another copy of X for a moment at the start.

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
    rho : float
        The penalty of what the copies differ by, to begin with.

    Yields
    ------
    Split
        `low_rank`, the last `step`, and what the `multiplier` is made of.
    """
    softness = 1 / curvature
    balance = AdaptivePenalty(rho, _BALANCING.of_curved if softness else _BALANCING.of_linear)
    work = MixedPrecisionData(X, lam, softness + 1 / rho)
    point = multiplier
    point *= X.dtype.type(1 / rho)
    point += start.scaled_left @ start.right
    point, low_rank = np.asarray(point, work.X.dtype), start.astype(work.X.dtype)
    apart = size = 0.0
    expected = inf
    while True:
        previous, low_rank = low_rank, gram_threshold(point, lam_star / balance.rho)
        step = _step_length(low_rank, previous)
        yield Split(low_rank, step, point, balance.rho, expected)
        change = balance.balance(_ratio(apart, np.linalg.norm(low_rank.values)), _ratio(step, size))
        if work.refine(step, low_rank, softness + 1 / balance.rho):
            point, low_rank = point.astype(X.dtype), low_rank.astype(X.dtype)
        apart, size, cost, gap, clipped = splitting_sweep(
            work.X, low_rank.scaled_left, low_rank.right, point,
            *map(work.X.dtype.type, (1 / change, balance.rho, softness, _RELAXATION)), work.lam,
        )  # fmt: skip
        apart, size = sqrt(apart), sqrt(size)
        expected = _ratio(gap + abs(clipped), cost + lam_star * float(np.sum(low_rank.values, dtype=np.float64)))


def _ratio(part: float, whole: float | np.floating[Any]) -> float:
    """Part over whole, in the precision of the whole."""
    return float(part / whole) if whole > 0 else inf


def _step_length(one: LowRank, other: LowRank) -> float:
    """About the Frobenius norm of the difference, from some rows; what is alike does not cancel in sums."""
    rows = slice(None, None, max(1, len(one.left) // _ROWS_OF_STEP))
    apart = one.scaled_left[rows] @ one.right
    apart -= other.scaled_left[rows] @ other.right
    return sqrt(len(one.left) / len(apart)) * float(np.linalg.norm(apart))
