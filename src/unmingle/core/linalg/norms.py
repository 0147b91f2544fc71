"""Spectral norms: bounds that are proven, and estimates."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from ..._types import Array, Float64Array


@dataclass(frozen=True)
class _NormBounding:
    """How the spectral norm is bounded, by the smaller side of the matrix."""

    longest_eigvals: int = 64
    """Up to this smaller side all eigenvalues of the Gram matrix are computed."""
    longest_gram: int = 2048
    """Up to this smaller side a Cholesky factorisation of the Gram matrix proves the bound, beyond it Lanczos does."""
    restarts: int = 100
    """Where Lanczos takes more restarts, the Gram matrix it is all the same: the leading singular values of a residual
    are equal at the optimum, and to tell a second one from the first takes a hundred thousand products."""


_BOUNDING = _NormBounding()


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
    if min(R.shape) > _BOUNDING.longest_gram:
        bound = _lanczos_bound(R)
        if np.isfinite(bound):
            return bound
    gram = gram_of_shorter_side(R, scale)
    rounding = 4 * sum(R.shape) * np.finfo(np.float64).eps * float(np.trace(gram))
    if len(gram) <= _BOUNDING.longest_eigvals:
        return scale * float(np.sqrt(linalg.eigvalsh(gram, check_finite=False)[-1] + rounding))
    v = _leading_eigenvector(gram)
    _, factor = _bound_eigenvalues(gram, float(v @ gram @ v), 1e-6)
    for _ in range(3):
        v = linalg.cho_solve((factor, False), v, check_finite=False)
        v /= np.linalg.norm(v)
    bound, _ = _bound_eigenvalues(gram, float(v @ gram @ v), 1e-10)
    return scale * float(np.sqrt(bound + rounding))


def gram_of_shorter_side(M: Array, scale: float = 1.0) -> Float64Array:
    """M M' or M'M, whichever is smaller, of M / scale, in float64 by blocks of the longer side: n m min(n, m) flops."""
    tall = M if M.shape[0] >= M.shape[1] else M.T
    gram = np.zeros((tall.shape[1], tall.shape[1]))
    for i in range(0, tall.shape[0], 1024):
        block = tall[i : i + 1024].astype(np.float64)
        if scale != 1.0:
            block /= scale
        gram += block.T @ block
    return gram


def _leading_eigenvector(gram: Float64Array) -> Float64Array:
    start = np.random.default_rng(0).standard_normal((len(gram),))
    try:
        v = eigsh(gram, k=1, tol=1e-3, v0=start, maxiter=50)[1][:, 0]
    except ArpackNoConvergence:
        v = linalg.eigh(gram, subset_by_index=[len(gram) - 1] * 2, check_finite=False)[1][:, 0]
    return v / np.linalg.norm(v)


def _bound_eigenvalues(gram: Float64Array, guess: float, slack: float) -> tuple[float, Float64Array]:
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
        v = eigsh(gram, k=1, tol=1e-6, v0=start, maxiter=_BOUNDING.restarts)[1][:, -1].astype(np.float64)
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
