"""Low-rank matrices, singular value thresholding with a warm start, bounds on the spectral norm, units of data."""

from dataclasses import dataclass
from math import frexp, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

__all__ = [
    "LowRank",
    "Units",
    "WarmSubspace",
    "empty_apart",
    "leading_direction",
    "ridge_encoder",
    "spectral_norm_bound",
    "thin_svd",
]

Array = NDArray[np.floating[Any]]

_GRAM_UP_TO = 2048
"""Up to this smaller side the spectral norm is bounded through the Gram matrix, beyond by Lanczos,"""
_RESTARTS = 100
"""unless that takes more restarts: the leading singular values of a residual are equal at the optimum, and a second one
of them takes a hundred thousand products to tell from the first."""


_ROOM = 512
"""Bytes: more than the longest vectors hold that a compiled loop takes at once, four of 64."""


def empty_apart(shape: tuple[int, ...], dtype: Any) -> Array:
    """An array to be written by a compiled loop that also adds up, whose rows start far behind all others.

    Where a row that is written starts a few numbers behind one that is read, such a loop does not dare to take many
    numbers at once. It adds up in another order then: the last digit would depend on where memory was free. Long rows
    are apart by themselves.
    """
    dtype = np.dtype(dtype)
    if shape[-1] * dtype.itemsize >= _ROOM:
        return np.empty(shape, dtype)
    return np.ndarray(shape, dtype, np.empty(_ROOM + prod(shape) * dtype.itemsize, np.uint8).data, _ROOM)


class LowRank(NamedTuple):
    """The matrix ``left diag(values) right``, with orthonormal columns ``left`` and rows ``right``."""

    left: Array
    values: Array
    right: Array

    @classmethod
    def zero(cls, n: int, m: int, dtype: Any) -> "LowRank":
        """The zero matrix, of rank 0."""
        return cls(np.zeros((n, 0), dtype), np.zeros(0, dtype), np.zeros((0, m), dtype))

    @property
    def rank(self) -> int:
        """Number of singular values kept."""
        return len(self.values)

    @property
    def scaled_left(self) -> Array:
        """``left diag(values)``, so that the matrix is ``scaled_left @ right``."""
        return np.ascontiguousarray(self.left * self.values)

    def distance(self, other: "LowRank") -> float:
        """Frobenius norm of the difference, from the factors alone."""
        cross = np.sum((self.scaled_left.T @ other.scaled_left) * (self.right @ other.right.T), dtype=np.float64)
        square = np.sum(self.values**2, dtype=np.float64) + np.sum(other.values**2, dtype=np.float64) - 2 * cross
        return float(np.sqrt(max(square, 0.0)))

    def balanced(self) -> tuple[Array, Array]:
        """Factors of equal weight, ``left values^1/2`` and ``values^1/2 right``: the minimum in (3)."""
        root = np.sqrt(self.values)
        return self.left * root, root[:, None] * self.right


def orthonormal(A: Array) -> Array:
    """Orthonormal basis of the columns of a tall matrix."""
    return linalg.qr(A, mode="economic", overwrite_a=False, check_finite=False)[0]


def thin_svd(B: Array) -> tuple[Array, Array, Array]:
    """``Q, s, Z`` with ``B = Q diag(s) Z.T`` for a tall matrix whose columns are nearly orthogonal.

    Columns scaled to length one have a Gram matrix near the identity, whose Cholesky factor R is as good as that of a
    QR factorisation and comes from one product; what remains is the SVD of the small R diag(lengths), in float64.
    Where the columns are far from orthogonal, plain QR takes over.

    Cost: 4 n p^2 flops for B of shape (n, p).
    """
    lengths = np.sqrt(np.einsum("ij,ij->j", B, B, dtype=np.float64))
    if lengths.size and lengths.min() > 0:
        unit = B / lengths.astype(B.dtype)
        gram = (unit.T @ unit).astype(np.float64)
        try:
            factor = linalg.cholesky(gram, check_finite=False)
            if factor.diagonal().min() > 0.05:
                small, s, zt = linalg.svd(factor * lengths, check_finite=False)
                inner = linalg.solve_triangular(factor, small, check_finite=False)
                return unit @ inner.astype(B.dtype), s.astype(B.dtype), zt.T.astype(B.dtype)
        except linalg.LinAlgError:
            pass
    basis, factor = linalg.qr(B, mode="economic", check_finite=False)
    small, s, zt = linalg.svd(factor.astype(np.float64), check_finite=False)
    return basis @ small.astype(B.dtype), s.astype(B.dtype), zt.T.astype(B.dtype)


class WarmSubspace:
    """Singular value thresholding of a slowly changing matrix, by subspace iteration with a warm start.

    Each threshold improves the basis of the last one. A Chebyshev polynomial of M'M separates what lies just above the
    threshold from what lies just below, where plain subspace iteration stalls: on noisy data the spectrum is dense
    there. Directions far above converge by themselves and are kept out of the polynomial, which would drown the rest
    in them. The basis holds some columns more than the rank, and grows while all of them are above the threshold.

    Cost: 4 n m p flops for p columns, and as much again for each degree of the polynomial.
    """

    def __init__(self, X: Array, size: int, oversampling: int, rng: np.random.Generator) -> None:
        self._shape = X.shape
        self._oversampling = oversampling
        self._rng = rng
        self._ritz = np.zeros(0, X.dtype)
        start = self._random(min(size + oversampling, *X.shape), X.dtype)
        self.basis = np.ascontiguousarray(orthonormal(X.T @ (X @ orthonormal(start))))

    def _random(self, columns: int, dtype: Any) -> Array:
        return self._rng.standard_normal((self._shape[1], columns)).astype(dtype)

    def threshold(self, M: Array, product: Array, t: float, *, degree: int = 0, at_most: int | None = None) -> LowRank:
        """Shrink the singular values of M by ``t``, keep those above, and move the basis.

        Parameters
        ----------
        M : array of shape (n, m)
            The matrix.
        product : array of shape (n, p)
            ``M @ self.basis``.
        t : float
            The threshold.
        degree : int
            Degree of the Chebyshev filter; 0 for none.
        at_most : int, optional
            Keep no more than so many singular values.
        """
        if degree and self._ritz.size and self.basis.shape[1] < min(self._shape):
            self.basis = self._filtered(M, product, t, degree)
            product = M @ self.basis
        left = thin_svd(product)[0]
        right, s, mix = thin_svd(M.T @ left)
        rank = int(np.count_nonzero(s > t))
        kept = rank if at_most is None else min(rank, at_most)
        self._ritz = s
        self._resize(right, rank, at_most)
        return LowRank(left @ mix[:, :kept], s[:kept] - s.dtype.type(t), np.ascontiguousarray(right[:, :kept].T))

    def _filtered(self, M: Array, product: Array, t: float, degree: int) -> Array:
        """Basis after a Chebyshev polynomial that is small on [0, a] and grows beyond, a just below t^2."""
        width = self.basis.shape[1]
        ritz = np.full(width, self._ritz[-1])
        ritz[: self._ritz.size] = self._ritz[:width]
        far = int(np.count_nonzero(ritz > 4 * t))
        half = float(min(ritz[-1], 0.99 * t)) ** 2 / 2
        image = M.T @ product
        if half < np.finfo(M.dtype).tiny or ritz[-1] <= 1e-3 * t:
            return np.ascontiguousarray(orthonormal(image))
        top = orthonormal(image[:, :far])

        def without_top(Z: Array) -> Array:
            return Z - top @ (top.T @ Z) if far else Z

        before = without_top(self.basis[:, far:])
        now = without_top(image[:, far:] / half - self.basis[:, far:])
        for _ in range(degree - 1):
            before, now = now, without_top((M.T @ (M @ now)) * (2 / half) - 2 * now) - before
        return np.ascontiguousarray(orthonormal(np.hstack([top, now])))

    def _resize(self, right: Array, rank: int, at_most: int | None) -> None:
        size = right.shape[1]
        wanted = rank + self._oversampling if rank < size else size + size // 2 + self._oversampling
        if at_most is not None:
            wanted = min(wanted, at_most + self._oversampling)
        wanted = min(wanted, *self._shape)
        if wanted > size:
            right = orthonormal(np.hstack([right, self._random(wanted - size, right.dtype)]))
        self.basis = np.ascontiguousarray(right[:, :wanted])


def leading_direction(R: Array, rng: np.random.Generator, steps: int = 8) -> tuple[Array, float]:
    """About the leading right singular vector and value, by power iteration from a random start.

    Cost: 4 n m flops a step. The value is at most the true one.
    """
    direction, value = rng.standard_normal((R.shape[1],)).astype(R.dtype), 0.0
    for _ in range(steps):
        direction = R.T @ (R @ direction)
        length = float(np.linalg.norm(direction))
        if length == 0.0:
            return direction, 0.0
        direction, value = direction / R.dtype.type(length), float(np.sqrt(length))
    return direction, value


def spectral_norm_bound(R: Array) -> float:
    """An upper bound of ``||R||_2``, tight to about 1e-9.

    A certificate built on too small a norm would be no certificate. Up to 2048 rows or columns: the largest eigenvalue
    of the Gram matrix G is below c if c I - G has a Cholesky factorisation. Lanczos guesses c, the factorisation proves
    it and sharpens the guess by inverse iteration, and a second one proves that; rounding is bounded and added.
    Beyond: the Lanczos value plus its residual, a bound unless the random start misses the leading singular vector.

    Cost: n m p flops for the Gram matrix of the smaller side p, and p^3 / 3 for each Cholesky factorisation.
    """
    scale = float(max(np.max(R, initial=0.0), -np.min(R, initial=0.0)))
    if scale == 0.0:
        return 0.0
    if min(R.shape) > _GRAM_UP_TO:
        bound = _lanczos_bound(R)
        if np.isfinite(bound):
            return bound
    gram = _gram(R, scale)
    rounding = 4 * sum(R.shape) * np.finfo(np.float64).eps * float(np.trace(gram))
    if len(gram) <= 64:
        return scale * float(np.sqrt(linalg.eigvalsh(gram, check_finite=False)[-1] + rounding))
    v = _leading_eigenvector(gram)
    _, factor = _bound_eigenvalues(gram, float(v @ gram @ v), 1e-6)
    for _ in range(3):
        v = linalg.cho_solve((factor, False), v, check_finite=False)
        v /= np.linalg.norm(v)
    bound, _ = _bound_eigenvalues(gram, float(v @ gram @ v), 1e-10)
    return scale * float(np.sqrt(bound + rounding))


def _gram(R: Array, scale: float) -> NDArray[np.float64]:
    """Gram matrix of the smaller side of R / scale, in float64, by blocks of its longer side."""
    tall = R if R.shape[0] >= R.shape[1] else R.T
    gram = np.zeros((tall.shape[1], tall.shape[1]))
    for i in range(0, tall.shape[0], 1024):
        block = np.asarray(tall[i : i + 1024], dtype=np.float64) / scale
        gram += block.T @ block
    return gram


def _leading_eigenvector(gram: NDArray[np.float64]) -> NDArray[np.float64]:
    start = np.random.default_rng(0).standard_normal((len(gram),))
    try:
        v = eigsh(gram, k=1, tol=1e-3, v0=start, maxiter=50)[1][:, 0]
    except ArpackNoConvergence:
        v = linalg.eigh(gram, subset_by_index=[len(gram) - 1] * 2, check_finite=False)[1][:, 0]
    return v / np.linalg.norm(v)


def _bound_eigenvalues(gram: NDArray[np.float64], guess: float, slack: float) -> tuple[float, NDArray[np.float64]]:
    """A proven bound at least ``slack`` above a guess, and the Cholesky factor that proves it."""
    while True:
        bound = (1 + slack) * guess
        shifted = -gram
        shifted[np.diag_indices_from(shifted)] += bound
        try:
            return bound, linalg.cholesky(shifted, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            slack *= 8


def _lanczos_bound(R: Array) -> float:
    """Lanczos in the precision of R, judged in float64: value, residual and rounding; inf if not converged."""
    tall = R if R.shape[0] >= R.shape[1] else R.T
    p = tall.shape[1]
    gram = LinearOperator((p, p), matvec=lambda v: tall.T @ (tall @ v), dtype=R.dtype)
    start = np.random.default_rng(0).standard_normal((p,)).astype(R.dtype)
    try:
        v = eigsh(gram, k=1, tol=1e-6, v0=start, maxiter=_RESTARTS)[1][:, -1].astype(np.float64)
    except ArpackNoConvergence:
        return float("inf")
    v /= np.linalg.norm(v)
    image, square = np.zeros(p), 0.0
    for i in range(0, len(tall), 1024):
        block = np.asarray(tall[i : i + 1024], dtype=np.float64)
        image += block.T @ (block @ v)
        square += float(np.sum(block**2))
    value = float(v @ image)
    rounding = 4 * sum(R.shape) * np.finfo(np.float64).eps * square
    return float(np.sqrt(value + np.linalg.norm(image - value * v) + rounding))


_DOUBLE = np.dtype(np.float64)
_RANGES = {np.dtype(kind): (float(np.finfo(kind).tiny), float(np.finfo(kind).max)) for kind in ("f4", "f8")}
"""The least and the largest number that is as precise as others."""


@dataclass(frozen=True)
class Units:
    """Units of data, whose root is a power of two: changing them loses no digit.

    In X = S U' + O samples, outliers and penalties are measured in ``root ** 2``, the factors S and U in ``root``, and
    costs in ``root ** 4``.

    Examples
    --------
    >>> units = Units.of(np.array([[3e200, -5e200]]))
    >>> np.round(units.to_units(np.array([5e200])), 3)
    array([1.633])
    >>> units.from_units(units.to_units(5e200))
    5e+200
    """

    root: float = 1.0

    @classmethod
    def of(cls, X: Array) -> "Units":
        """Units in which the largest entry is about one."""
        largest = float(np.max(np.abs(X), where=~np.isnan(X), initial=0.0))
        return cls(2.0 ** (frexp(largest)[1] // 2) if largest > 0 else 1.0)

    def to_units(self, X: Any, out: Array | None = None) -> Any:
        """Samples, outliers or a penalty in these units; None, a penalty that was not given, stays None."""
        return None if X is None else _times_square(X, 1 / self.root, out)

    def from_units(self, X: Any, out: Array | None = None) -> Any:
        """Samples, outliers or a penalty in the units of the data."""
        return _times_square(X, self.root, out)

    def factors_to_units(self, factors: Array) -> Array:
        """Codes or components in these units."""
        return factors / factors.dtype.type(self.root)

    def factors_from_units(self, factors: Array) -> Array:
        """Codes or components in the units of the data."""
        return factors * factors.dtype.type(self.root)

    def cost_from_units(self, cost: float) -> float:
        """The value of (2), (4) or (5) in the units of the data."""
        return self.from_units(self.from_units(cost))


def _times_square(X: Any, factor: float, out: Array | None) -> Any:
    """X times the square of a factor, in two steps where that square alone is beyond the range of numbers."""
    dtype, square = getattr(X, "dtype", _DOUBLE), factor * factor
    least, largest = _RANGES[dtype]
    for step in (square,) if least <= square <= largest else (factor, factor):
        number = step if dtype is _DOUBLE else dtype.type(step)
        X = X * number if out is None else np.multiply(X, number, out=out)
    return X


def ridge_encoder(components: Array, lam_star: float) -> Array:
    """``H.T`` with H = (U'U + lam_star I)^-1 U': the codes of clean samples are ``X @ H.T``.

    Parameters
    ----------
    components : array of shape (q, m)
        U'.
    lam_star : float
        The rank penalty.

    Returns
    -------
    array of shape (m, q)
    """
    wide = components.astype(np.float64)
    system = wide @ wide.T
    system[np.diag_indices_from(system)] += lam_star
    return linalg.solve(system, wide, assume_a="pos", check_finite=False).T.astype(components.dtype)
