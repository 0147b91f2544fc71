"""Low-rank matrices by their singular values, and dictionaries."""

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ..._types import Array
from .systems import solve_positive


class LowRank(NamedTuple):
    """The matrix ``left diag(values) right``, with orthonormal columns ``left`` and rows ``right``."""

    left: Array
    values: Array
    right: Array

    @classmethod
    def zero(cls, n: int, m: int, dtype: DTypeLike) -> "LowRank":
        """The zero matrix, of rank 0."""
        return cls(np.zeros((n, 0), dtype), np.zeros(0, dtype), np.zeros((0, m), dtype))

    def astype(self, dtype: DTypeLike) -> "LowRank":
        """The same matrix in another precision.

        In a wider one columns and rows are brought to unit length, so that the sum of the values is not below the
        nuclear norm of what the factors are now: ||SU||_* <= 1/2 (||S||_F^2 + ||U||_F^2), (3).
        """
        left, values, right = (part.astype(dtype) for part in self)
        if self.rank == 0 or np.finfo(dtype).eps >= np.finfo(self.values.dtype).eps:
            return LowRank(left, values, right)
        tall, wide = np.linalg.norm(left, axis=0), np.linalg.norm(right, axis=1)
        return LowRank(left / tall, values * tall * wide, right / wide[:, None])

    @property
    def rank(self) -> int:
        """Number of singular values kept."""
        return len(self.values)

    @property
    def scaled_left(self) -> Array:
        """``left diag(values)``, so that the matrix is ``scaled_left @ right``."""
        return np.ascontiguousarray(self.left * self.values)

    def distance(self, other: "LowRank") -> float:
        """Frobenius norm of the difference, from the factors alone.

        With P = left' other.left, what lies in the span of ``left`` and what does not are differences themselves, so
        that no squares cancel::

            ||values right - P other.values other.right||^2 + ||(other.left - left P) other.values||^2

        Cost: 2 (2 n + m) r^2 flops.
        """
        overlap = self.left.T @ other.left
        inside = self.values[:, None] * self.right - (overlap * other.values) @ other.right
        outside = (other.left - self.left @ overlap) * other.values
        return float(np.hypot(np.linalg.norm(inside), np.linalg.norm(outside)))

    def balanced(self) -> tuple[Array, Array]:
        """Factors of equal weight, ``left values^1/2`` and ``values^1/2 right``: the minimum in (3)."""
        root = np.sqrt(self.values)
        return self.left * root, root[:, None] * self.right


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
    return solve_positive(system, wide).T.astype(components.dtype)
