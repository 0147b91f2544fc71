"""Penalties that nobody has to choose: from the noise level of the data."""

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from .._types import Array, BoolArray, IndexArray
from ..kernels.matrix import huber_sweep
from .linalg.low_rank import LowRank
from .linalg.memory import empty_unaliased
from .linalg.norms import leading_direction, spectral_norm_bound
from .linalg.thresholding import WarmSubspace
from .solvers.projection import some_features

__all__ = [
    "NORMAL_MAD",
    "NoiseFit",
    "Penalties",
    "from_noise",
    "from_residual",
    "matching_outlier_penalty",
    "noise_fit",
    "noise_floor",
    "noise_level",
    "nonnegative_from_noise",
    "penalty_limits",
    "robust_scale",
]


NORMAL_MAD = 1.4826
"""Standard deviation of normal noise over the median of its absolute value."""


@dataclass(frozen=True)
class _AutomaticPenalties:
    """What "auto" stands for, `from_residual`.

    The lam of `from_noise` made a third of all good cells of tall tables pay. The test for structure was tried on 51
    made tables, where the norm was less than a tenth above that of noise but for four, and on 15 films, two sets of
    faces, a song and three of four real tables, where it was more.
    """

    outlier_penalty_in_sigma: float = 2.0
    """lam over the noise level, where what a first fit leaves looks like noise."""
    rank_penalty_margin: float = 1.02
    """lam_* over the spectral norm of the noise that this lam leaves."""
    structure_ratio: float = 1.1
    """A residual has a structure from this many times the spectral norm of noise on."""
    longest_code: float = 5.0
    """A code of up to 0.8 of this many root mean squares makes no outliers, however few the features."""


@dataclass(frozen=True)
class _NoiseSearch:
    """How the noise level is looked for, `noise_fit`."""

    floor: float = 1e-6
    """The noise level is at least this share of the median entry that is not zero."""
    entries: int = 100_000
    """The median residual is taken over about this many entries."""
    rows: int = 400
    """These entries are in this many rows spread over the data."""
    sweeps: int = 60
    """Sweeps at most."""
    large: int = 2**17
    """Data of this many entries are looked at in float32."""
    least_in_float32: float = 1e-4
    """float32 sees noise above this share of the largest entry; for less it takes float64."""


_AUTO, _SEARCH = _AutomaticPenalties(), _NoiseSearch()


class Penalties(NamedTuple):
    """The two penalties of (2), (4) and (5)."""

    rank_penalty: float
    outlier_penalty: float


def from_noise(sigma: float, n: float, m: int) -> Penalties:
    """Penalties for noise of standard deviation ``sigma``.

    lam_* = sigma (sqrt m + sqrt n) is the spectral norm of pure noise, so that noise alone has no low-rank part;
    lam = lam_* / sqrt(max(m, n)), between one and two sigma, is the ratio that recovers low rank plus sparse in (1).

    Examples
    --------
    >>> from_noise(0.1, 100, 400)
    Penalties(rank_penalty=3.0, outlier_penalty=0.15)
    """
    rank_penalty = sigma * (sqrt(m) + sqrt(n))
    return Penalties(rank_penalty, rank_penalty / sqrt(max(m, n)))


def nonnegative_from_noise(sigma: float, n: float, m: int) -> Penalties:
    """Penalties for noise of standard deviation ``sigma`` where codes, components and outliers are nonnegative.

    lam_* = sigma (sqrt m + sqrt n) / 2 and lam = 3 lam_* / (sqrt m + sqrt n), one and a half sigma. Outliers on one
    side take peaks of what is shrunk for themselves, so that less shrinkage than that of `from_noise` is right; and a
    third of lam (sqrt m + sqrt n) is what keeps one entry in ten, outliers of one sign, from paying for an atom.

    Examples
    --------
    >>> nonnegative_from_noise(0.1, 100, 400)
    Penalties(rank_penalty=1.5, outlier_penalty=0.15)
    """
    rank_penalty = sigma * (sqrt(m) + sqrt(n)) / 2
    return Penalties(rank_penalty, 3 * rank_penalty / (sqrt(m) + sqrt(n)))


def matching_outlier_penalty(rank_penalty: float, n: float, m: int, *, nonnegative: bool = False) -> float:
    """The lam that goes with a given lam_*: that of `from_noise`, or of `nonnegative_from_noise`, for the same noise.

    Examples
    --------
    >>> matching_outlier_penalty(3.0, 100, 400), matching_outlier_penalty(1.5, 100, 400, nonnegative=True)
    (0.15, 0.15)
    """
    return 3 * rank_penalty / (sqrt(m) + sqrt(n)) if nonnegative else rank_penalty / sqrt(max(m, n))


def _small_side_penalties(sigma: float, n: int, m: int) -> Penalties:
    """Those of `from_noise`, but where rows or columns are below 25 with the larger lam 5 lam_* / sqrt(m n).

    On a sample whose code is u root mean squares long the rank penalty pulls by lam_* u / sqrt(n). Its features hold
    against that by at most lam ||v||_1, about 0.8 lam sqrt(m): then all of them are outliers. So u may be up to 4.
    """
    rank_penalty, outlier_penalty = from_noise(sigma, n, m)
    return Penalties(rank_penalty, outlier_penalty * max(1.0, _AUTO.longest_code / sqrt(min(m, n))))


def from_residual(X: Array, fit: "NoiseFit", rng: np.random.Generator) -> Penalties:
    """Penalties of (2) for one matrix, from what a first fit leaves of it.

    With lam = 2 sigma, at which few good entries pay, the fit, freed of its shrinkage, leaves clip(X - L, -lam, lam).
    R is the part of that which is orthogonal to the rows and columns of L. If it looks like noise, lam_* = 1.02 w with
    w the usual spectral norm of such noise::

        w = max_j sqrt(sum_i o_ij v_j) + max_i sqrt(sum_j o_ij v_j)

    where o_ij is 1 for entries that are known and v_j the mean square of R in column j, or in row i if X is wide; for
    white noise without gaps it is std(clip(noise, lam)) (sqrt m + sqrt n). If ||R||_2 is a tenth above w, R has a
    structure, such as things that move through a film, which must not enter L: then as `from_noise` has them, with a
    larger lam where columns are few.

    Cost: 8 n m r flops for R, 64 n m for its norm, by power iteration.
    """
    n, m = X.shape
    if fit.low_rank is None:
        return from_noise(fit.level, n, m)
    usual = _small_side_penalties(fit.level, n, m)
    lam = max(_AUTO.outlier_penalty_in_sigma * fit.level, usual.outlier_penalty)
    unshrunk = fit.low_rank._replace(values=fit.low_rank.values + X.dtype.type(usual.rank_penalty))
    R = unshrunk.scaled_left @ unshrunk.right
    np.subtract(X, R, out=R)
    known = ~np.isnan(R)
    np.clip(np.nan_to_num(R, copy=False, nan=0.0), -lam, lam, out=R)
    U, V = unshrunk.left, unshrunk.right
    R -= (R @ V.T) @ V
    R -= U @ (U.T @ R)
    white = _norm_of_noise(R, known)
    if leading_direction(R, rng, 16)[1] > _AUTO.structure_ratio * white:
        return usual
    return Penalties(_AUTO.rank_penalty_margin * white, lam)


def _norm_of_noise(R: Array, known: BoolArray) -> float:
    """Spectral norm of noise of which each column has the variance that R has there; or each row, if R is wide.

    Of the spread of these variances as much is taken off as chance alone makes.
    """
    if len(R) < R.shape[1]:
        R, known = R.T, known.T
    counts = np.count_nonzero(known, axis=0)
    variances = np.einsum("ij,ij->j", R, R, dtype=np.float64) / np.maximum(counts, 1)
    mean, chance = variances.mean(), np.mean(2 * variances**2 / np.maximum(counts, 1))
    true = max(0.0, 1 - chance / max(variances.var(), 1e-300))
    variances = mean + true * (variances - mean)
    return sqrt(float((counts * variances).max())) + sqrt(float((known @ variances).max()))


def robust_scale(departure: Array) -> float:
    """Standard deviation of normal noise with the same median size; missing entries do not count."""
    return float(NORMAL_MAD * np.nanmedian(np.abs(departure)))


def penalty_limits(X: Array) -> Penalties:
    """Penalties from which on the answer of (2) is all zero: ||X||_2 and the largest |x_ij|."""
    known = np.nan_to_num(X, nan=0.0)
    return Penalties(spectral_norm_bound(known), float(np.max(np.abs(known), initial=0.0)))


def noise_floor(X: Array) -> float:
    """The least noise level that makes sense: 1e-6 of the median non-zero entry, and the error of rounding.

    Values that are multiples of a step, as pixels are, carry a rounding error of standard deviation step / sqrt(12),
    even where the median deviation is zero, since most of them do not change.

    Examples
    --------
    >>> levels = np.random.default_rng(0).integers(0, 256, (50, 40)) / 255
    >>> round(255 * noise_floor(levels), 3)
    0.289
    """
    rows, features = _spread_sample(*X.shape)
    known = X[rows][:, features]
    known = known[(known != 0) & ~np.isnan(known)]
    if known.size == 0:
        return _SEARCH.floor
    return max(_SEARCH.floor * float(np.median(np.abs(known))), _rounding_step(known) / sqrt(12))


def _spread_sample(n: int, m: int) -> tuple[slice, IndexArray]:
    """Rows and features spread over a matrix, about enough entries of it to tell a median."""
    step = max(1, n // _SEARCH.rows)
    return slice(None, None, step), some_features(m, max(1, _SEARCH.entries * step // n))


def _rounding_step(values: Array) -> float:
    """The step of which all differences are multiples, if most values occur several times; 0 if there is none."""
    levels = np.unique(values)
    if 2 * levels.size > values.size or levels.size < 3:
        return 0.0
    gaps = np.diff(levels.astype(np.float64))
    step = float(gaps.min())
    multiples = gaps / step
    return step if np.abs(multiples - np.round(multiples)).max() < 0.01 else 0.0


class NoiseFit(NamedTuple):
    """A noise level, and the low-rank part that was taken off to see it: a start for (2) with its penalties."""

    level: float
    low_rank: LowRank | None
    """None if the level did not come to rest above the least that makes sense."""


def noise_level(X: Array, rng: np.random.Generator, *, at_most: int | None = None) -> float:
    """Robust scale of what neither a low-rank part nor sparse outliers explain; see `noise_fit`."""
    return noise_fit(X, rng, at_most=at_most).level


def noise_fit(X: Array, rng: np.random.Generator, *, at_most: int | None = None) -> NoiseFit:
    """Robust scale of what neither a low-rank part nor sparse outliers explain.

    The low-rank part has at most ``at_most`` components, and at most half of what would explain everything.

    Sweeps of (2) whose penalties follow the noise level of the last one: thresholds come down from the scale of the
    data until the median absolute residual, freed of the shrinkage and of the degrees of freedom of the fit, agrees
    with the level that was assumed. At least `noise_floor`. Large data are looked at in float32, unless their noise is
    too low for that.

    Cost: at most 60 sweeps of 6 n m r flops, mostly about ten.
    """
    if not np.any(np.nan_to_num(X)):
        return NoiseFit(0.0, None)
    floor = noise_floor(X)
    if X.dtype == np.float64 and X.size >= _SEARCH.large:
        found = _search_noise(X.astype(np.float32), rng, floor, at_most)
        if found.low_rank is not None and found.level > _SEARCH.least_in_float32 * float(
            max(np.nanmax(X), -np.nanmin(X))
        ):
            return NoiseFit(found.level, found.low_rank.astype(X.dtype))
    return _search_noise(X, rng, floor, at_most)


def _search_noise(X: Array, rng: np.random.Generator, floor: float, at_most: int | None) -> NoiseFit:
    n, m = X.shape
    sigma = max(NORMAL_MAD * float(np.nanmedian(np.abs(X))), floor)
    cleaned = empty_unaliased(X.shape, X.dtype)
    np.copyto(cleaned, X)
    np.nan_to_num(cleaned, copy=False, nan=0.0)
    np.clip(cleaned, -3 * sigma, 3 * sigma, out=cleaned)
    rows, features = _spread_sample(n, m)
    looked_at = X[rows][:, features]
    subspace = WarmSubspace(cleaned, 10, 16, rng)
    product = cleaned @ subspace.basis
    nothing = LowRank.zero(n, m, X.dtype)
    largest = float(np.linalg.norm(product, 2))
    at_most = min(at_most or n, max(1, min(n, m) // 2))
    for sweep in range(_SEARCH.sweeps):
        threshold = from_noise(sigma, n, m).rank_penalty
        if sweep == 0:  # one component is always tried: constant data are not noise
            threshold = min(threshold, 0.9 * largest)
        low_rank = subspace.threshold(cleaned, product, threshold, at_most=at_most)
        unshrunk = low_rank._replace(values=low_rank.values + X.dtype.type(threshold))
        misfit = np.abs(looked_at - unshrunk.scaled_left[rows] @ unshrunk.right[:, features])
        freedom = (1 - low_rank.rank / n) * (1 - low_rank.rank / m)
        last, level = sigma, NORMAL_MAD * float(np.nanmedian(misfit)) / sqrt(max(freedom, 1 / min(n, m)))
        sigma = max(level, last / 2, floor)
        if abs(sigma - last) <= 0.01 * last and sweep > 0:
            return NoiseFit(sigma, low_rank if sigma > floor else None)
        lam = np.full(m, _small_side_penalties(sigma, n, m).outlier_penalty, X.dtype)
        product = np.empty((n, subspace.basis.shape[1]), X.dtype)
        huber_sweep(
            X, low_rank.scaled_left, low_rank.right, nothing.left, nothing.right, X.dtype.type(0),
            lam, cleaned, subspace.basis, product,
        )  # fmt: skip
    return NoiseFit(sigma, None)
