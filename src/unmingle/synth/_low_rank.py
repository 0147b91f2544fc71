"""Matrices, and endless streams of samples, that are low-rank but for outliers, noise and missing entries."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import DTypeLike

from .._types import Array, IndexArray


@dataclass(frozen=True, eq=False)
class Mixture:
    """A matrix together with the parts it was made of: `X = low_rank + outliers + noise`, NaN where missing."""

    X: Array
    low_rank: Array
    outliers: Array
    noise: Array


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
    hit = _draw_entries(rng, outliers.size, outlier_fraction)
    outliers.flat[hit] = outlier_scale * rng.uniform(-3.0, 3.0, hit.size)
    dense = noise * rng.standard_normal((n, m))
    X = low_rank + outliers + dense
    X.flat[_draw_entries(rng, X.size, missing)] = np.nan
    return Mixture(*(part.astype(dtype, copy=False) for part in (X, low_rank, outliers, dense)))


@dataclass(frozen=True, eq=False)
class StreamBlock:
    """A block of samples with its truth: `X = low_rank + outliers + noise`."""

    X: Array
    low_rank: Array
    basis: Array
    """(rank, m): rows of length one that span the subspace of the last sample of the block.

    They are orthogonal, or the nonnegative parts.
    """


def subspace_stream(
    n: int,
    m: int,
    rank: int,
    *,
    rotation: float = 0.0,
    outlier_fraction: float = 0.1,
    outlier_scale: float = 1.0,
    noise: float = 0.0,
    block_size: int = 100,
    dtype: DTypeLike = np.float64,
    random_state: int | Generator | None = None,
) -> Iterator[StreamBlock]:
    """Draw samples of a subspace that turns evenly towards another one, orthogonal to it.

    At the angle t the subspace is spanned by cos(t) p_k + sin(t) q_k, with p_k and q_k orthonormal. Low-rank entries
    have mean 0 and standard deviation 1; memory does not depend on n.

    Parameters
    ----------
    n, m : int
        Number of samples and of features.
    rank : int
        Dimension of the subspace, at most m / 2.
    rotation : float, default=0.0
        Degrees by which it turns over all n samples.
    outlier_fraction : float, default=0.1
        Share of the entries, on average, that carry an outlier.
    outlier_scale : float, default=1.0
        Outliers are uniform in [-3, 3] times this.
    noise : float, default=0.0
        Standard deviation of the dense Gaussian noise.
    block_size : int, default=100
        Samples of a block.
    dtype : dtype, default=float64
        Floating type of all arrays.
    random_state : int, Generator or None, default=None
        Seed; the same seed and block size give the same numbers. None: others each time.

    Yields
    ------
    StreamBlock
        Samples and truth.

    Examples
    --------
    >>> first = next(subspace_stream(1000, 40, 3, rotation=90.0, random_state=0))
    >>> first.X.shape, first.basis.shape
    ((100, 40), (3, 40))
    """
    if not 1 <= rank <= m // 2:
        raise ValueError(f"rank must lie between 1 and half the number of features; got {rank} for {m} features.")
    rng = np.random.default_rng(random_state)
    directions = np.linalg.qr(rng.standard_normal((m, 2 * rank)))[0].T
    here, there = directions[:rank], directions[rank:]
    for start in range(0, n, block_size):
        angles = np.radians(rotation) * np.arange(start, min(start + block_size, n))[:, None] / n
        codes = rng.standard_normal((len(angles), rank)) * np.sqrt(m / rank)
        low_rank = (codes * np.cos(angles)) @ here + (codes * np.sin(angles)) @ there
        X = low_rank + noise * rng.standard_normal(low_rank.shape)
        hit = rng.random(X.shape) < outlier_fraction
        X[hit] += outlier_scale * rng.uniform(-3.0, 3.0, np.count_nonzero(hit))
        basis = np.cos(angles[-1]) * here + np.sin(angles[-1]) * there
        yield StreamBlock(*(part.astype(dtype, copy=False) for part in (X, low_rank, basis)))


def nonnegative_stream(
    n: int,
    m: int,
    rank: int,
    *,
    drift: float = 0.0,
    outlier_fraction: float = 0.1,
    outlier_scale: float = 1.0,
    noise: float = 0.0,
    block_size: int = 100,
    dtype: DTypeLike = np.float64,
    random_state: int | Generator | None = None,
) -> Iterator[StreamBlock]:
    """Draw nonnegative mixtures of nonnegative parts that change evenly into others.

    At the share t of the way the parts are (1 - t) p_k + t q_k; the entries of p_k, q_k and of the codes are
    exponential. Low-rank entries have variance 1 while the parts are whole, and mean sqrt(rank / 3); memory does not
    depend on n.

    Parameters
    ----------
    n, m : int
        Number of samples and of features.
    rank : int
        Number of parts, at most m / 2.
    drift : float, default=0.0
        How far the parts come over all n samples: with 0 they stay, with 1 they are wholly others at the end.
    outlier_fraction : float, default=0.1
        Share of the entries, on average, that carry an outlier.
    outlier_scale : float, default=1.0
        Outliers are positive, uniform in [0, 6] times this.
    noise : float, default=0.0
        Standard deviation of the dense Gaussian noise; what it makes negative is 0.
    block_size : int, default=100
        Samples of a block.
    dtype : dtype, default=float64
        Floating type of all arrays.
    random_state : int, Generator or None, default=None
        Seed; the same seed and block size give the same numbers. None: others each time.

    Yields
    ------
    StreamBlock
        Samples and truth; ``basis`` holds the parts.

    Examples
    --------
    >>> first = next(nonnegative_stream(1000, 40, 3, drift=0.5, random_state=0))
    >>> first.X.shape, bool(first.X.min() >= 0), bool(first.basis.min() >= 0)
    ((100, 40), True, True)
    """
    if not 1 <= rank <= m // 2:
        raise ValueError(f"rank must lie between 1 and half the number of features; got {rank} for {m} features.")
    if not 0 <= drift <= 1:
        raise ValueError(f"drift must lie between 0 and 1; got {drift}.")
    rng = np.random.default_rng(random_state)
    here, there = rng.exponential(size=(2, rank, m))
    for start in range(0, n, block_size):
        way = drift * np.arange(start, min(start + block_size, n))[:, None] / n
        codes = rng.exponential(size=(len(way), rank)) / np.sqrt(3 * rank)
        low_rank = (codes * (1 - way)) @ here + (codes * way) @ there
        X = np.maximum(low_rank + noise * rng.standard_normal(low_rank.shape), 0)
        hit = rng.random(X.shape) < outlier_fraction
        X[hit] += outlier_scale * rng.uniform(0.0, 6.0, np.count_nonzero(hit))
        basis = (1 - way[-1]) * here + way[-1] * there
        basis /= np.linalg.norm(basis, axis=1, keepdims=True)
        yield StreamBlock(*(part.astype(dtype, copy=False) for part in (X, low_rank, basis)))


def _draw_entries(rng: Generator, size: int, share: float) -> IndexArray:
    return rng.permutation(size)[: round(share * size)]
