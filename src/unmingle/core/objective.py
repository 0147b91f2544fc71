r"""The problems, their duals and their certificates: each formula once.

Rows are samples: ``X`` (n, m), ``codes`` S' (n, q), ``components`` U' (q, m), L = ``codes @ components``.

::

    (1)  min ||L||_* + lam ||O||_1  subject to ||X - L - O||_F <= eps
    (2)  min 1/2 ||X - L - O||_F^2 + lam_* ||L||_* + lam ||O||_1
    (4)  min 1/2 ||X - L - O||_F^2 + lam_*/2 (||S||_F^2 + ||U||_F^2) + lam ||O||_1
    (5)  min 1/2 ||x - Us - o||^2 + lam_*/2 ||s||^2 + lam ||o||_1,  for each sample

A NaN in ``X`` is a missing entry: it has no outlier penalty, so its outlier absorbs whatever is there and the entry
drops out of every sum. Each gap is an upper bound on what the objective is above its minimum.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._types import Array
from ..kernels.matrix import huber_sums, multiplier_sums
from .linalg.low_rank import LowRank
from .linalg.memory import empty_unaliased
from .linalg.norms import spectral_norm_bound
from .prox import EntryPenalty, OutlierPenalty, soft_threshold

__all__ = [
    "Certificate",
    "certify_constrained",
    "certify_penalised",
    "certify_splitting",
    "certify_unconstrained",
    "constrained",
    "factored",
    "nonnegative_stationarity",
    "projection",
    "projection_gap",
    "stationarity",
    "unconstrained",
]


_ROWS = 512
"""Rows that are looked at together."""


class Certificate(NamedTuple):
    """The objective of a point, and a lower bound of the minimum from the dual."""

    objective: float
    bound: float

    @property
    def gap(self) -> float:
        """Relative duality gap (P - D) / P, 0 if P = 0."""
        return max(self.objective - self.bound, 0.0) / self.objective if self.objective > 0 else 0.0


def _misfit(X: Array, low_rank: Array, outliers: Array) -> Array:
    return np.nan_to_num(X - low_rank - outliers, nan=0.0)


def constrained(low_rank: Array, outliers: Array, outlier_penalty: ArrayLike) -> float:
    """Value of (1): ``||L||_* + lam ||O||_1``.

    Parameters
    ----------
    low_rank, outliers : array of shape (n, m)
        The two parts.
    outlier_penalty : float or array of shape (m,)
        lam of (1).

    Examples
    --------
    >>> import numpy as np
    >>> constrained(np.eye(2), np.array([[0.0, 3.0], [0.0, 0.0]]), 0.5)
    3.5
    """
    return float(np.linalg.norm(low_rank, "nuc") + np.sum(np.asarray(outlier_penalty) * np.abs(outliers)))


def unconstrained(X: Array, low_rank: Array, outliers: Array, rank_penalty: float, outlier_penalty: ArrayLike) -> float:
    """Value of (2): ``1/2 ||X - L - O||_F^2 + lam_* ||L||_* + lam ||O||_1``.

    Parameters
    ----------
    X, low_rank, outliers : array of shape (n, m)
        Data, NaN where missing, and the two parts.
    rank_penalty : float
        lam_*.
    outlier_penalty : float or array of shape (m,)
        lam.

    Examples
    --------
    >>> import numpy as np
    >>> unconstrained(np.eye(2), np.zeros((2, 2)), np.zeros((2, 2)), 1.0, 1.0)
    1.0
    """
    fit = 0.5 * np.sum(_misfit(X, low_rank, outliers) ** 2)
    return float(fit) + rank_penalty * constrained(low_rank, outliers, np.asarray(outlier_penalty) / rank_penalty)


def factored(
    X: Array, components: Array, codes: Array, outliers: Array, rank_penalty: float, outlier_penalty: ArrayLike
) -> float:
    """Value of (4): ``1/2 ||X - US - O||_F^2 + lam_*/2 (||U||_F^2 + ||S||_F^2) + lam ||O||_1``.

    Parameters
    ----------
    X : array of shape (n, m)
        Data, NaN where missing.
    components : array of shape (q, m)
        U'.
    codes : array of shape (n, q)
        S'.
    outliers : array of shape (n, m)
        O.
    rank_penalty : float
        lam_*.
    outlier_penalty : float or array of shape (m,)
        lam.
    """
    per_sample = projection(X, components, codes, outliers, rank_penalty, outlier_penalty)
    return float(np.sum(per_sample) + 0.5 * rank_penalty * np.sum(np.asarray(components) ** 2))


def projection(
    X: Array, components: Array, codes: Array, outliers: Array, rank_penalty: float, outlier_penalty: ArrayLike
) -> Array:
    """Value of (5) for each sample: ``1/2 ||x - Us - o||^2 + lam_*/2 ||s||^2 + lam ||o||_1``, the paper's f (11).

    Parameters
    ----------
    X : array of shape (n, m)
        Samples, NaN where missing.
    components : array of shape (q, m)
        U'.
    codes : array of shape (n, q)
        s of each sample.
    outliers : array of shape (n, m)
        o of each sample.
    rank_penalty : float
        lam_*.
    outlier_penalty : float or array of shape (m,)
        lam.

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> projection(np.array([[2.0, 1.0]]), np.array([[1.0, 0.0]]), np.array([[1.0]]), np.zeros((1, 2)), 1.0, 1.0)
    array([1.5])
    """
    misfit = _misfit(X, codes @ components, outliers)
    return (
        0.5 * np.sum(misfit**2, axis=1)
        + 0.5 * rank_penalty * np.sum(codes**2, axis=1)
        + np.sum(np.asarray(outlier_penalty) * np.abs(outliers), axis=1)
    )


def projection_gap(
    X: Array,
    components: Array,
    codes: Array,
    rank_penalty: float,
    outlier_penalty: ArrayLike,
    outliers: Array | None = None,
    *,
    nonnegative_codes: bool = False,
    nonnegative_outliers: bool = False,
) -> Array:
    """Relative duality gap of (5) for each sample, whatever method made the codes.

    The dual is max <x, y> - 1/2 ||y||^2 - ||U'y||^2 / (2 lam_*) subject to ||y||_inf <= lam; y = alpha r with
    r = clip(x - Us, -lam, lam) is feasible for alpha in [0, 1], and the best alpha has a closed form. At alpha = 1 the
    gap of the best outliers for the codes, soft(x - Us, lam), is ||U'r - lam_* s||^2 / (2 lam_*), which no large
    outlier can blur; what other outliers cost more is added. With nonnegative codes only the positive part of U'y
    counts in the dual; with nonnegative outliers only y <= lam is asked for.

    Parameters
    ----------
    X : array of shape (n, m)
        Samples, NaN where missing.
    components : array of shape (q, m)
        U'.
    codes : array of shape (n, q)
        s of each sample.
    rank_penalty : float
        lam_*.
    outlier_penalty : float or array of shape (m,)
        lam.
    outliers : array of shape (n, m), optional
        o of each sample; the best ones for the codes if None.
    nonnegative_codes, nonnegative_outliers : bool
        Signs that the problem asks for; codes and outliers must have them.

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    The code 1.0 solves this problem, 0.9 does not:

    >>> import numpy as np
    >>> x, U = np.array([[2.0]]), np.array([[1.0]])
    >>> projection_gap(x, U, np.array([[1.0]]), 1.0, 5.0).round(12)
    array([0.])
    >>> projection_gap(x, U, np.array([[0.9]]), 1.0, 5.0) > 0
    array([ True])
    """
    misfit = np.nan_to_num(X - codes @ components, nan=0.0)
    lam = np.asarray(outlier_penalty, dtype=misfit.dtype)
    best = np.maximum(misfit - lam, 0) if nonnegative_outliers else soft_threshold(misfit, lam)
    primal = projection(X, components, codes, best, rank_penalty, lam)
    r = misfit - best
    inner = np.sum(np.nan_to_num(X, nan=0.0) * r, axis=1)
    image = r @ components.T
    slack = np.sum(codes * np.maximum(-image, 0), axis=1) if nonnegative_codes else 0
    image = np.maximum(image, 0) if nonnegative_codes else image
    curvature = np.sum(r**2, axis=1) + np.sum(image**2, axis=1) / rank_penalty
    alpha = np.clip(np.divide(inner, curvature, out=np.ones_like(inner), where=curvature > 0), 0, 1)
    at_one = np.sum((image - rank_penalty * codes) ** 2, axis=1) / (2 * rank_penalty) + slack
    gap = np.maximum(at_one - (1 - alpha) * (0.5 * (1 + alpha) * curvature - inner), 0)
    if outliers is not None:
        own = projection(X, components, codes, outliers, rank_penalty, lam)
        gap, primal = gap + np.maximum(own - primal, 0), np.maximum(own, primal)
    return np.divide(gap, primal, out=np.zeros_like(primal), where=primal != 0)


def certify_unconstrained(X: Array, low_rank: LowRank, lam_star: float, lam: Array) -> Certificate:
    """Certificate of (2) for any L, with the best O for it.

    R = clip(X - L, -lam, lam) lies in the box of the dual max <X, Y> - 1/2 ||Y||_F^2 subject to ||Y||_2 <= lam_*,
    |Y| <= lam. Y = alpha R with alpha = min(<X, R> / ||R||^2, lam_* / ||R||_2, the largest that keeps the box) is
    feasible and the best multiple. Memory: one copy of X.
    """
    residual = empty_unaliased(X.shape, X.dtype)
    value, inner, square = huber_sums(X, low_rank.scaled_left, low_rank.right, lam, residual)
    primal = value + lam_star * float(np.sum(low_rank.values, dtype=np.float64))
    norm = spectral_norm_bound(residual)
    if norm == 0.0 or square == 0.0:
        return Certificate(primal, 0.0)
    alpha = min(max(inner / square, 0.0), lam_star / norm, 1 / EntryPenalty(lam).dual_norm(residual))
    return Certificate(primal, alpha * inner - 0.5 * alpha**2 * square)


def certify_penalised(X: Array, low_rank: LowRank, lam_star: float, penalty: OutlierPenalty) -> Certificate:
    """Certificate of (2) with any outlier penalty phi, for any L, with the best O for it.

    The dual is max <X, Y> - 1/2 ||Y||_F^2 subject to ||Y||_2 <= lam_* and phi*(Y) <= 1, with phi* the dual norm of phi.
    R = X - L - O obeys the last, and Y = alpha R is feasible for the alpha of `certify_unconstrained`, which does the
    same for lam ||O||_1 in one compiled pass.

    Examples
    --------
    >>> from unmingle.core.prox import EntryPenalty
    >>> X = np.diag([3.0, 0.0])
    >>> certify_penalised(X, LowRank.zero(2, 2, X.dtype), 1.0, EntryPenalty(np.array([0.5, 0.5]))).gap
    0.0
    """
    misfit = np.nan_to_num(X - low_rank.scaled_left @ low_rank.right, nan=0.0)
    outliers = penalty.prox(misfit)
    residual = misfit - outliers
    square = float(np.sum(residual**2, dtype=np.float64))
    nuclear = float(np.sum(low_rank.values, dtype=np.float64))
    primal = 0.5 * square + lam_star * nuclear + penalty.value(outliers)
    norm = spectral_norm_bound(residual)
    if norm == 0.0 or square == 0.0:
        return Certificate(primal, 0.0)
    inner = float(np.sum(np.nan_to_num(X, nan=0.0) * residual, dtype=np.float64))
    alpha = min(max(inner / square, 0.0), lam_star / norm, 1 / penalty.dual_norm(residual))
    return Certificate(primal, alpha * inner - 0.5 * alpha**2 * square)


def certify_splitting(
    X: Array, low_rank: LowRank, point: Array, rho: float, lam_star: float, lam: Array, *, linear: bool = False
) -> Certificate:
    """Certificate of (2), or of (1) if ``linear``, for the low-rank part Z that was thresholded out of L + U.

    The multiplier rho U = rho (L + U - Z) has spectral norm lam_* by construction; brought into the box, |Y| <= lam, it
    is nearly feasible long before the residual of Z is. Memory: one copy of X.
    """
    y, number = empty_unaliased(X.shape, X.dtype), X.dtype.type
    left, right = low_rank.scaled_left, low_rank.right
    value, inner, square = multiplier_sums(X, left, right, point, number(rho), number(not linear), lam, y)
    primal = value + lam_star * float(np.sum(low_rank.values, dtype=np.float64))
    excess = max(spectral_norm_bound(y) / lam_star, EntryPenalty(lam).dual_norm(y))
    if excess == 0.0 or square == 0.0:
        return Certificate(primal, 0.0)
    if linear:
        return Certificate(primal, max(inner, 0.0) / excess)
    alpha = min(max(inner / square, 0.0), 1 / excess)
    return Certificate(primal, alpha * inner - 0.5 * alpha**2 * square)


def certify_constrained(X: Array, low_rank: LowRank, outliers: Array, y: Array, lam: Array, eps: float) -> Certificate:
    """Certificate of (1) from any dual matrix ``y``, scaled until it is feasible.

    Dual: max <X, Y> - eps ||Y||_F subject to ||Y||_2 <= 1, |Y| <= lam. Homogeneous, so the best multiple of a useful
    ``y`` is the largest feasible one. What L and O leave beyond eps counts as outliers, so that the primal point is
    feasible too.
    """
    rest = _misfit(X, low_rank.scaled_left @ low_rank.right, outliers)
    length = float(np.linalg.norm(rest))
    if length > eps:
        outliers = outliers + X.dtype.type(1 - eps / length) * rest
    primal = float(np.sum(low_rank.values, dtype=np.float64) + np.sum(lam * np.abs(outliers), dtype=np.float64))
    spectral = spectral_norm_bound(y)
    if spectral == 0.0:
        return Certificate(primal, 0.0)
    known = np.where(np.isnan(X), 0, X)
    value = float(np.sum(known * y, dtype=np.float64)) - eps * float(np.linalg.norm(y))
    return Certificate(primal, max(value, 0.0) / max(spectral, EntryPenalty(lam).dual_norm(y)))


def stationarity(X: Array, low_rank: LowRank, lam_star: float, lam: Array) -> float:
    """How far (4) is from stationary at the balanced factors, relative to the regulariser's own gradient.

    ||(R U - lam_* S, R' S - lam_* U)|| / ||(lam_* S, lam_* U)|| with R = clip(X - US, -lam, lam); 0 exactly at
    stationary points. Cost: 6 n m q flops.
    """
    residual = empty_unaliased(X.shape, X.dtype)
    huber_sums(X, low_rank.scaled_left, low_rank.right, lam, residual)
    codes, components = low_rank.balanced()
    in_codes = residual @ components.T - lam_star * codes
    in_components = codes.T @ residual - lam_star * components
    size = lam_star**2 * (np.sum(codes**2, dtype=np.float64) + np.sum(components**2, dtype=np.float64))
    slope = np.sum(in_codes**2, dtype=np.float64) + np.sum(in_components**2, dtype=np.float64)
    return float(np.sqrt(slope / size)) if size > 0 else 0.0


def nonnegative_stationarity(X: Array, components: Array, codes: Array, lam_star: float, lam: Array) -> float:
    """How far (4) with U, S, O >= 0 is from stationary, relative to the regulariser's own gradient.

    ||c (V - max(V - g / c, 0))|| / ||lam_* V|| over V = (S, U), with the best O put in, R = min(X - US, lam)::

        g = (lam_* S - R U, lam_* U - R' S),   c = lam_* + ||u_k||^2 for the codes of atom k, lam_* + ||s_k||^2 for u_k

    Where an entry is positive it is the gradient, at zero only what would raise the entry counts; c, the curvature,
    brings both to one scale. 0 exactly at stationary points, which need not be minima: the problem is not convex.
    Cost: 6 n m q flops. Memory: that of some rows.
    """
    n, scale = len(X), float(lam_star)
    into_codes, into_components = np.empty_like(codes), np.zeros(components.shape)
    for start in range(0, n, _ROWS):
        rows = slice(start, start + _ROWS)
        misfit = np.minimum(X[rows] - codes[rows] @ components, lam)
        np.nan_to_num(misfit, copy=False, nan=0.0)
        into_codes[rows] = misfit @ components.T
        into_components += codes[rows].T @ misfit
    slope = _squared_slope(codes, into_codes, scale, np.sum(components**2, axis=1, dtype=np.float64))
    slope += _squared_slope(components.T, into_components.T, scale, np.sum(codes**2, axis=0, dtype=np.float64))
    size = np.sum(codes**2, dtype=np.float64) + np.sum(components**2, dtype=np.float64)
    return float(np.sqrt(slope / size)) / scale if size > 0 else 0.0


def _squared_slope(factor: Array, image: Array, lam_star: float, squares: Array) -> float:
    """||c (V - max(V - g / c, 0))||^2 = sum of min(c v, g)^2 for one factor, its gradient being lam_* v - image."""
    wide = factor.astype(np.float64)
    return float(np.sum(np.minimum((squares + lam_star) * wide, lam_star * wide - image) ** 2))
