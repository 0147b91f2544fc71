"""The sweep that `proximal` and `alternating` share: clean the data, threshold the singular values, extrapolate."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np

from ..._types import Array
from ...kernels.matrix import huber_sums, huber_sweep
from ..linalg.low_rank import LowRank
from ..linalg.memory import empty_apart
from ..linalg.thresholding import WarmSubspace
from .precision import Working
from .splitting import Split, is_high, splitting_iterates

_FALL = 0.5
"""Penalties start high and fall by this factor, so that the rank grows from below."""
_KEPT_UP = 0.25
"""They fall when the steps at one level have come down to this share of the first of them."""
_ROWS = 100
"""Rows that tell where they start."""
_PRICE = 20
"""Flops of a sharpened partial SVD for each entry and component."""
_SLOW = 0.7
"""Steps that shrink less than this call for momentum."""


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

    def astype(self, dtype: Any) -> "Sweep":
        """The same iterate in another precision."""
        split = None if self.split is None else self.split.astype(dtype)
        return Sweep(self.low_rank.astype(dtype), self.step, self.settled, split)


def sweeps(
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
    ``start`` is given that is not far from the answer. Long steps are taken in float32, `_precision`.
    """
    n, m = X.shape
    level, work = starting_level(X, lam) if start is None else 1.0, Working(X, lam)
    cleaned = _cleaned(work, level, start)
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
        if at_most is None and is_high(low_rank.rank, X.shape, _PRICE):
            break
        first_step = first_step or step
        if not settled and step <= _KEPT_UP * first_step:
            level, first_step, value, age = max(1.0, _FALL * level), 0.0, inf, 1.0
        momentum = 0.0
        if age > 1 or step > _SLOW * last_step:
            next_age = (1 + sqrt(1 + 4 * age**2)) / 2
            momentum, age = (age - 1) / next_age, next_age
        behind = previous if momentum else LowRank.zero(n, m, previous.values.dtype)
        if work.refine(step, low_rank):
            low_rank, behind, value = low_rank.astype(X.dtype), behind.astype(X.dtype), inf
            cleaned = empty_apart(X.shape, X.dtype)
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
    multiplier = empty_apart(X.shape, X.dtype)
    huber_sums(X, low_rank.scaled_left, low_rank.right, lam, multiplier)
    for split in splitting_iterates(X, lam_star, lam, low_rank, multiplier):
        yield Sweep(split.low_rank, split.step, True, split)


def _cleaned(work: Working, level: float, start: LowRank | None) -> Array:
    """What is thresholded first: Y + clip(X - Y, -level lam, level lam) at the start, or at 0."""
    cleaned = empty_apart(work.X.shape, work.X.dtype)
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
    """How many times their value the penalties start at: no typical entry of any feature is an outlier then.

    A typical entry is the median of those of a feature that are not zero, over about a hundred rows.
    """
    sizes = np.abs(X[:: -(-len(X) // _ROWS)] / lam)
    sizes[sizes == 0] = np.nan
    sizes.sort(axis=0)
    known = np.count_nonzero(~np.isnan(sizes), axis=0)
    middle = sizes[np.maximum(known - 1, 0) // 2, np.arange(sizes.shape[1])]
    return max(1.0, 3 * float(np.max(middle, where=known > 0, initial=0.0)))
