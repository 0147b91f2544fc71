"""Online robust PCA written plainly in NumPy, the reference of comparison "stream"."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class PlainOnlineRobustPCA:
    """Stochastic optimisation of Feng, Xu and Yan (2013), sample by sample.

    For a sample z: r, e = argmin 1/2 ||z - Ur - e||^2 + penalty/2 ||r||^2 + penalty ||e||_1 by turns, A += r r',
    B += (z - e) r', one pass over the columns of U. The past fades by `forgetting` with every sample.
    """

    def __init__(self, rank: int, penalty: float, forgetting: float = 1.0, tol: float = 1e-6, max_iter: int = 100):
        self.rank, self.penalty, self.forgetting = rank, penalty, forgetting
        self.tol, self.max_iter = tol, max_iter
        self._ridge = penalty * np.eye(rank)
        self._U: Array | None = None

    @property
    def components_(self) -> Array:
        return self._U.T

    def partial_fit(self, X: Array) -> "PlainOnlineRobustPCA":
        if self._U is None:
            self._start(X)
        for z in X:
            r, e = self._encode(z)
            self._A = self.forgetting * self._A + np.outer(r, r)
            self._B = self.forgetting * self._B + np.outer(z - e, r)
            self._pass_over_columns()
        return self

    def low_rank(self, X: Array) -> Array:
        return np.stack([self._U @ self._encode(z)[0] for z in X])

    def _start(self, X: Array) -> None:
        """An orthonormal basis of the first samples, as hyperspy does."""
        self._U = np.linalg.qr(X[: self.rank].T)[0]
        self._A, self._B = np.zeros((self.rank, self.rank)), np.zeros_like(self._U)

    def _encode(self, z: Array) -> tuple[Array, Array]:
        U = self._U
        project = np.linalg.solve(U.T @ U + self._ridge, U.T)
        enough = self.tol * np.linalg.norm(z)
        r, e = project @ z, np.zeros_like(z)
        for _ in range(self.max_iter):
            deviation = z - U @ r
            last, e = e, deviation - np.clip(deviation, -self.penalty, self.penalty)
            r = project @ (z - e)
            if np.linalg.norm(e - last) <= enough:
                break
        return r, e

    def _pass_over_columns(self) -> None:
        A = self._A + self._ridge
        for j in range(self.rank):
            self._U[:, j] += (self._B[:, j] - self._U @ A[:, j]) / A[j, j]
