"""The sweep that `proximal` and `alternating` share: clean the data, threshold the singular values, extrapolate."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..linalg import LowRank, WarmSubspace, empty_apart
from ._splitting import Split, is_high, splitting

Array = NDArray[np.floating[Any]]

_FALL = 0.5
"""Penalties start high and fall by this factor, so that the rank grows from below."""
_KEPT_UP = 0.25
"""They fall when the steps at one level have come down to this share of the first of them."""
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
) -> Iterator[Sweep]:
    """Proximal gradient steps on min Huber_lam(X - L) + lam_* ||L||_* with restarted momentum.

    The smooth part has a 1-Lipschitz gradient -clip(X - L, -lam, lam), so a step of length one from Y is::

        L <- shrink singular values of  Y + clip(X - Y, -lam, lam)  by lam_*
        Y <- L + momentum (L - previous L)

    Momentum (Nesterov's) starts when the steps shrink slowly and is dropped when the objective rises. An entry of L
    moves by at most lam in a step; hence the penalties start high and fall only as L keeps up with them.
    """
    n, m = X.shape
    level = starting_level(X, lam)
    cleaned = empty_apart(X.shape, X.dtype)
    np.copyto(cleaned, X)
    np.nan_to_num(cleaned, copy=False, nan=0.0)
    np.clip(cleaned, -X.dtype.type(level) * lam, X.dtype.type(level) * lam, out=cleaned)
    subspace = WarmSubspace(cleaned, 10 if at_most is None else at_most, oversampling, rng)
    product = cleaned @ subspace.basis
    low_rank = LowRank.zero(n, m, X.dtype)
    tolerated = 1 + 4 * float(np.finfo(X.dtype).eps)
    step, first_step, value, age = inf, 0.0, inf, 1.0
    while True:
        settled = level == 1.0
        previous = low_rank
        sharpen = degree if settled and low_rank.rank != at_most else 0
        low_rank = subspace.threshold(cleaned, product, level * lam_star, degree=sharpen, at_most=at_most)
        last_step, step = step, low_rank.distance(previous)
        yield Sweep(low_rank, step, settled)
        if at_most is None and is_high(low_rank.rank, X.shape):
            break
        first_step = first_step or step
        if not settled and step <= _KEPT_UP * first_step:
            level, first_step, value, age = max(1.0, _FALL * level), 0.0, inf, 1.0
        momentum = 0.0
        if age > 1 or step > _SLOW * last_step:
            next_age = (1 + sqrt(1 + 4 * age**2)) / 2
            momentum, age = (age - 1) / next_age, next_age
        behind = previous if momentum else LowRank.zero(n, m, X.dtype)
        product = np.empty((n, subspace.basis.shape[1]), X.dtype)
        last_value = value
        value = kernels.huber_sweep(
            X, low_rank.scaled_left, low_rank.right, behind.scaled_left, behind.right,
            X.dtype.type(momentum), X.dtype.type(level) * lam, cleaned, subspace.basis, product,
        )  # fmt: skip
        value += level * lam_star * float(np.sum(low_rank.values, dtype=np.float64))
        if value > tolerated * last_value:
            age = 1.0
    kernels.huber_sums(X, low_rank.scaled_left, low_rank.right, lam, cleaned)
    for split in splitting(X, lam_star, lam, low_rank, cleaned):
        yield Sweep(split.low_rank, split.step, True, split)


def starting_level(X: Array, lam: Array) -> float:
    """How many times their value the penalties start at: no typical entry of any feature is an outlier then."""
    sizes = np.abs(X[:: -(-len(X) // 1000)] / lam)
    sizes[sizes == 0] = np.nan
    known = sizes[:, ~np.isnan(sizes).all(axis=0)]
    return max(1.0, 3 * float(np.max(np.nanmedian(known, axis=0), initial=0.0)))
