"""Solvers of the convex problem (2) and of its factored form (4): proximal steps, and alternating minimisation.

Both sweep in the same way: clean the data, threshold the singular values, extrapolate. They differ in how much of the
span of the last components they look at.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from numpy.typing import DTypeLike

from ..._types import Array
from ...kernels.matrix import huber_sums, huber_sweep
from ..linalg.low_rank import LowRank
from ..linalg.memory import empty_unaliased
from ..linalg.thresholding import WarmSubspace
from .mixed_precision import MixedPrecisionData
from .splitting import Split, is_high, splitting_iterates


@dataclass(frozen=True)
class _SweepRules:
    """How penalties come down from high values, so that the rank grows from below, and when sweeps are slow."""

    fall: float = 0.5
    """The penalties are multiplied by this whenever they come down."""
    kept_up: float = 0.25
    """They come down when a step is at most this share of the first step at the same level."""
    rows_at_start: int = 100
    """Where they start is told from about this many rows."""
    flops_of_svd: float = 20
    """A sharpened partial SVD takes this many flops for each entry and component; where that is more than the Gram
    matrix takes, the splitting goes on."""
    slow: float = 0.7
    """A step longer than this share of the last one calls for momentum."""


_RULES = _SweepRules()


@dataclass(frozen=True)
class Sweep:
    """An iterate of (2) or (4)."""

    low_rank: LowRank
    step: float
    """Frobenius norm of the last change of the low-rank part."""
    settled: bool
    """Whether the penalties have come down to their values."""
    split: Split | None = None
    """Where the rank is high, the iterate of the splitting that took over."""

    def astype(self, dtype: DTypeLike) -> "Sweep":
        """The same iterate in another precision."""
        split = None if self.split is None else self.split.astype(dtype)
        return Sweep(self.low_rank.astype(dtype), self.step, self.settled, split)


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
        Keep at most this number of singular values: then the problem is (4), no longer convex.
    rng : Generator
        Starts the first SVD.
    start : LowRank, optional
        A low-rank part not far from the answer.

    Yields
    ------
    Sweep
        `low_rank`, the last `step`, and whether the penalties have `settled`.
    """
    return _sweeps(X, lam_star, lam, at_most=n_components, degree=3, oversampling=16, rng=rng, start=start)


def alternating_iterates(
    X: Array,
    lam_star: float,
    lam: Array,
    *,
    n_components: int | None = None,
    rng: np.random.Generator,
    start: LowRank | None = None,
) -> Iterator[Sweep]:
    """Iterates of alternating minimisation on (4): outliers, then codes, then components.

    min 1/2 ||X - US - O||_F^2 + lam_*/2 (||U||_F^2 + ||S||_F^2) + lam ||O||_1 with at most q atoms. A sweep takes
    the outliers off, finds the best codes on the span of the components, then the best components on the span of those
    codes. On a span the best factors are known in closed form, (3): the singular values of the projected data, shrunk
    by lam_*. Atoms that fall below are dropped, so the rank is revealed from above; a few spare directions are carried
    along and take part as soon as the data ask for them. While not all q atoms are in use, a sweep alternates codes and
    components twice more, in the manner of Chebyshev, to tell the last atoms from noise.

    Cost of a sweep: 6 to 14 n m q flops. Memory: one copy of X.

    Parameters
    ----------
    X : array of shape (n, m)
        Data, NaN where missing.
    lam_star : float
        Rank penalty.
    lam : array of shape (m,)
        Outlier penalty of each feature, of the dtype of X.
    n_components : int, optional
        q; None for as many as the data ask for.
    rng : Generator
        Starts the first span.
    start : LowRank, optional
        A low-rank part not far from the answer.

    Yields
    ------
    Sweep
        `low_rank`, the last `step`, and whether the penalties have `settled`.
    """
    spare = 16 if n_components is None else 8
    return _sweeps(X, lam_star, lam, at_most=n_components, degree=2, oversampling=spare, rng=rng, start=start)


def _sweeps(
    X: Array,
    lam_star: float,
    lam: Array,
    *,
    at_most: int | None,
    degree: int,
    oversampling: int,
    rng: np.random.Generator,
    start: LowRank | None = None,
) -> Iterator[Sweep]:
    """Proximal gradient steps on min Huber_lam(X - L) + lam_* ||L||_* with restarted momentum.

    The smooth part has a 1-Lipschitz gradient -clip(X - L, -lam, lam), so a step of length one from Y is::

        L <- shrink singular values of  Y + clip(X - Y, -lam, lam)  by lam_*
        Y <- L + momentum (L - previous L)

    Momentum (Nesterov's) starts when the steps shrink slowly and is dropped when the objective rises. An entry of L
    moves by at most lam in a step; hence the penalties start high and fall only as L keeps up with them, unless a
    ``start`` is given that is not far from the answer. Long steps are taken in float32, see `mixed_precision`.
    """
    n, m = X.shape
    level, work = starting_level(X, lam) if start is None else 1.0, MixedPrecisionData(X, lam)
    cleaned = _first_cleaned(work, level, start)
    subspace = WarmSubspace(cleaned, 10 if at_most is None else at_most, oversampling, rng)
    product = cleaned @ subspace.basis
    low_rank = LowRank.zero(n, m, cleaned.dtype)
    step, first_step, value, age = inf, 0.0, inf, 1.0
    while True:
        settled = level == 1.0
        previous = low_rank
        sharpen = degree if settled and low_rank.rank != at_most else 0
        low_rank = subspace.threshold(cleaned, product, level * lam_star, degree=sharpen, at_most=at_most)
        last_step, step = step, low_rank.distance(previous)
        yield Sweep(low_rank, step, settled)
        if at_most is None and is_high(low_rank.rank, X.shape, _RULES.flops_of_svd):
            break
        first_step = first_step or step
        if not settled and step <= _RULES.kept_up * first_step:
            level, first_step, value, age = max(1.0, _RULES.fall * level), 0.0, inf, 1.0
        momentum = 0.0
        if age > 1 or step > _RULES.slow * last_step:
            next_age = (1 + sqrt(1 + 4 * age**2)) / 2
            momentum, age = (age - 1) / next_age, next_age
        behind = previous if momentum else LowRank.zero(n, m, previous.values.dtype)
        if work.refine(step, low_rank):
            low_rank, behind, value = low_rank.astype(X.dtype), behind.astype(X.dtype), inf
            cleaned = empty_unaliased(X.shape, X.dtype)
            subspace.widen(X.dtype)
        number = cleaned.dtype.type
        product = np.empty((n, subspace.basis.shape[1]), cleaned.dtype)
        last_value = value
        value = huber_sweep(
            work.X, low_rank.scaled_left, low_rank.right, behind.scaled_left, behind.right,
            number(momentum), number(level) * work.lam, cleaned, subspace.basis, product,
        )  # fmt: skip
        value += level * lam_star * float(np.sum(low_rank.values, dtype=np.float64))
        if value > (1 + 4 * float(np.finfo(cleaned.dtype).eps)) * last_value:
            age = 1.0
    low_rank = low_rank.astype(X.dtype)
    del cleaned, product
    multiplier = empty_unaliased(X.shape, X.dtype)
    huber_sums(X, low_rank.scaled_left, low_rank.right, lam, multiplier)
    for split in splitting_iterates(X, lam_star, lam, low_rank, multiplier):
        yield Sweep(split.low_rank, split.step, True, split)


def _first_cleaned(work: MixedPrecisionData, level: float, start: LowRank | None) -> Array:
    """What is thresholded first: Y + clip(X - Y, -level lam, level lam) at the start, or at 0."""
    cleaned = empty_unaliased(work.X.shape, work.X.dtype)
    lam = cleaned.dtype.type(level) * work.lam
    if start is None:
        np.copyto(cleaned, work.X)
        np.nan_to_num(cleaned, copy=False, nan=0.0)
        return np.clip(cleaned, -lam, lam, out=cleaned)
    start = start.astype(cleaned.dtype)
    huber_sums(work.X, start.scaled_left, start.right, lam, cleaned)
    cleaned += start.scaled_left @ start.right
    return cleaned


def starting_level(X: Array, lam: Array) -> float:
    """Where the penalties start, as a multiple of their values: no typical entry of any feature is an outlier then.

    A typical entry is the median of those of a feature that are not zero, over about a hundred rows.
    """
    sizes = np.abs(X[:: -(-len(X) // _RULES.rows_at_start)] / lam)
    sizes[sizes == 0] = np.nan
    sizes.sort(axis=0)
    known = np.count_nonzero(~np.isnan(sizes), axis=0)
    middle = sizes[np.maximum(known - 1, 0) // 2, np.arange(sizes.shape[1])]
    return max(1.0, 3 * float(np.max(middle, where=known > 0, initial=0.0)))
