"""Matrices that are low-rank but for outliers, noise and missing entries."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import DTypeLike

from .._types import AnyArray, IndexArray


@dataclass(frozen=True, eq=False)
class Mixture:
    """A matrix together with the parts it was made of: `X = low_rank + outliers + noise`, NaN where missing."""

    X: AnyArray
    low_rank: AnyArray
    outliers: AnyArray
    noise: AnyArray


def low_rank_plus_sparse(
    n: int,
    m: int,
    rank: int,
    *,
    outlier_fraction: float = 0.1,
    outlier_scale: float = 1.0,
    noise: float = 0.0,
    missing: float = 0.0,
    dtype: DTypeLike = np.float64,
    random_state: int | Generator | None = None,
) -> Mixture:
    """Make a random matrix `X = A B + outliers + noise`.

    The entries of `A B` have mean 0 and standard deviation 1; the cost is O(n m rank).

    Parameters
    ----------
    n, m : int
        Number of rows (samples) and of columns (features).
    rank : int
        Rank of the low-rank part, at most min(n, m).
    outlier_fraction : float, default=0.1
        Share of the entries, rounded to whole entries, that carry an outlier.
    outlier_scale : float, default=1.0
        Outliers are uniform in [-3, 3] times this.
    noise : float, default=0.0
        Standard deviation of the dense Gaussian noise.
    missing : float, default=0.0
        Share of the entries of `X` that are NaN.
    dtype : dtype, default=float64
        Floating type of all four matrices.
    random_state : int, Generator or None, default=None
        Seed; the same seed gives the same numbers. None: others each time.

    Returns
    -------
    Mixture
        The matrix and its parts.

    Examples
    --------
    >>> made = low_rank_plus_sparse(40, 30, 2, outlier_fraction=0.05, random_state=0)
    >>> int(np.linalg.matrix_rank(made.low_rank)), int(np.count_nonzero(made.outliers))
    (2, 60)
    """
    if min(n, m) < 1 or not 0 <= rank <= min(n, m):
        raise ValueError(f"rank must lie between 0 and min(n, m) of a non-empty matrix; got {rank} for {n} x {m}.")
    for name, share in (("outlier_fraction", outlier_fraction), ("missing", missing)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name} must lie in [0, 1]; got {share}.")
    if not min(outlier_scale, noise) >= 0:
        raise ValueError(f"outlier_scale and noise must not be negative; got {outlier_scale}, {noise}.")

    rng = np.random.default_rng(random_state)
    low_rank = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m)) / np.sqrt(max(rank, 1))
    outliers = np.zeros((n, m))
    hit = _random_entries(rng, outliers.size, outlier_fraction)
    outliers.flat[hit] = outlier_scale * rng.uniform(-3.0, 3.0, hit.size)
    dense = noise * rng.standard_normal((n, m))
    X = low_rank + outliers + dense
    X.flat[_random_entries(rng, X.size, missing)] = np.nan
    return Mixture(*(part.astype(dtype, copy=False) for part in (X, low_rank, outliers, dense)))


def _random_entries(rng: Generator, size: int, share: float) -> IndexArray:
    return rng.permutation(size)[: round(share * size)]
