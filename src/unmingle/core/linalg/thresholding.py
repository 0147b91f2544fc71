"""Singular value thresholding: partial with a warm start, or through the Gram matrix of the shorter side."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike
from scipy import linalg

from ..._types import Array
from .low_rank import LowRank
from .norms import gram_of_shorter_side


@dataclass(frozen=True)
class _ThresholdingLimits:
    """Where rounding, or a filter without use, calls for another way to the same singular values."""

    least_from_squares: float = 1e-7
    """Singular values from this share of the largest on are known from their squares."""
    orthogonal: float = 0.05
    """Columns whose Cholesky factor has this on its diagonal at least are nearly orthogonal."""
    far_above: float = 4.0
    """Directions beyond this many times the threshold converge by themselves, and are kept out of the polynomial."""
    far_below: float = 1e-3
    """Where the last value is below this share of the threshold, all is found, and nothing is to be filtered."""
    growth: float = 1e3
    """Up to this growth in each step of the polynomial, directions far above can be kept out of it."""


_LIMITS = _ThresholdingLimits()


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
            if factor.diagonal().min() > _LIMITS.orthogonal:
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
    in them. The basis holds some columns more than the rank, and grows while all of them are above the threshold; new
    ones have two steps to show what they are good for.

    Cost: 4 n m p flops for p columns, and as much again for each degree of the polynomial.
    """

    def __init__(self, X: Array, size: int, oversampling: int, rng: np.random.Generator) -> None:
        self._shape = X.shape
        self._oversampling = oversampling
        self._rng = rng
        self._ritz = np.zeros(0, X.dtype)
        self._grown = False
        start = self._random(min(size + oversampling, *X.shape), X.dtype)
        self.basis = np.ascontiguousarray(orthonormal(X.T @ (X @ orthonormal(start))))

    def widen(self, dtype: DTypeLike) -> None:
        """Go on in a wider precision."""
        self.basis, self._ritz = self.basis.astype(dtype), self._ritz.astype(dtype)

    def _random(self, columns: int, dtype: DTypeLike) -> Array:
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
            Keep at most this number of singular values.
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
        far = int(np.count_nonzero(ritz > _LIMITS.far_above * t))
        half = float(min(ritz[-1], 0.99 * t)) ** 2 / 2
        image = M.T @ product
        limits = np.finfo(M.dtype)
        drowned = float(limits.eps) * float(ritz[0]) ** 2 > _LIMITS.growth * half
        if half < limits.tiny or ritz[-1] <= _LIMITS.far_below * t or drowned:
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
        wanted = rank + self._oversampling
        if rank == size:
            wanted += size // 2
        elif self._grown:
            wanted = max(wanted, size)
        self._grown = rank == size
        if at_most is not None:
            wanted = min(wanted, at_most + self._oversampling)
        wanted = min(wanted, *self._shape)
        if wanted > size:
            right = orthonormal(np.hstack([right, self._random(wanted - size, right.dtype)]))
        self.basis = np.ascontiguousarray(right[:, :wanted])


def gram_threshold(M: Array, t: float) -> LowRank:
    """Shrink the singular values of M by ``t`` and keep those above, through the Gram matrix of its shorter side.

    With M'M = V diag(sigma^2) V', or M M' if M is wide, the shrunk matrix is M V diag(1 - t / sigma) V' over all
    sigma > t. Where they are many this is the cheapest exact way. Singular values below 1e-7 of the largest are not
    known from their squares: where ``t`` is so small, the SVD takes over.

    Cost for the shorter side k and rank r: n m k flops in float64, an eigendecomposition of k^3, and 2 n m r flops.
    """
    wide = M.shape[0] < M.shape[1]
    squares, axes = np.linalg.eigh(gram_of_shorter_side(M))
    if t < _LIMITS.least_from_squares * np.sqrt(max(squares[-1], 0.0)):
        left, s, right = linalg.svd(M, full_matrices=False, check_finite=False)
        kept = int(np.count_nonzero(s > t))
        return LowRank(left[:, :kept], s[:kept] - s.dtype.type(t), np.ascontiguousarray(right[:kept]))
    kept = int(np.count_nonzero(squares > t * t))
    s = np.sqrt(squares[::-1][:kept])
    V = np.ascontiguousarray(axes[:, ::-1][:, :kept].astype(M.dtype))
    values, inverse = (s - t).astype(M.dtype), (1 / s).astype(M.dtype)
    if wide:
        return LowRank(V, values, (V.T @ M) * inverse[:, None])
    return LowRank((M @ V) * inverse, values, np.ascontiguousarray(V.T))
