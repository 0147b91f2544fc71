"""RASL, plainly: all images at once, a convex problem for each linearisation.

::

    min ||A||_* + lam ||E||_1  subject to  D + sum_i J_i dtau_i e_i' = A + E,   rows of D of length one, lam = 1/sqrt m

by augmented Lagrangians (Peng, Ganesh, Wright, Xu, Ma, 2012). Singular values come from the small Gram matrix, warps
with their slopes from the compiled loops: it is as fast as we could make it without changing what it does.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmingle.alignment.families import AlignedFrame, compose
from unmingle.alignment.pyramid import Grid, spline_of
from unmingle.core.prox import soft_threshold

Array = NDArray[Any]

OUTER, INNER = 50, 200
GROWTH, TOL, STOP = 1.25, 1e-6, 1e-4


def rasl(images: list[Array], shape: tuple[int, int], starts: Array, family: str = "translation") -> Array:
    """Matrices that align all images with each other, (n, 3, 3).

    Parameters
    ----------
    images : list of arrays
        The images.
    shape : pair of int
        Height and width of the frame.
    starts : array of shape (n, 3, 3)
        Where to start.
    family : str
        Of transformations.
    """
    frame = AlignedFrame(*shape)
    grid = Grid.of(frame, family, 0)
    splines = [spline_of(image) for image in images]
    matrices, last = np.array(starts, dtype=np.float64), np.inf
    for _ in range(OUTER):
        cuts = [grid.cut_with_slopes(spline, matrix) for spline, matrix in zip(splines, matrices, strict=True)]
        D = np.stack([np.nan_to_num(values) for values, _ in cuts]).astype(np.float64)
        lengths = np.linalg.norm(D, axis=1)
        D /= lengths[:, None]
        J = np.stack([np.nan_to_num(np.einsum("am,pam->pm", slopes, grid.fields)) for _, slopes in cuts])
        J = J.astype(np.float64) / lengths[:, None, None]
        J -= np.einsum("npm,nm->np", J, D)[..., None] * D[:, None]
        Q, R = np.linalg.qr(np.swapaxes(J, 1, 2))
        moves, objective = _linearised(D, Q)
        matrices = compose(matrices, frame.to_matrix(family, np.linalg.solve(R, moves[..., None])[..., 0]))
        if last - objective < STOP * abs(last):
            break
        last = objective
    return matrices


def _linearised(D: Array, Q: Array) -> tuple[Array, float]:
    """The convex problem of one linearisation: moves along the orthonormal Q of each image, and the objective."""
    lam, norm = 1 / np.sqrt(D.shape[1]), float(np.linalg.norm(D, 2))
    Y = D / max(norm, np.abs(D).max() / lam)
    E, moves, mu, size = np.zeros_like(D), np.zeros((len(D), Q.shape[2])), 1.25 / norm, np.linalg.norm(D)
    for _ in range(INNER):
        moved = D + np.einsum("nmp,np->nm", Q, moves)
        A, values = _thresholded(moved - E + Y / mu, 1 / mu)
        E = soft_threshold(moved - A + Y / mu, lam / mu)
        moves = -np.einsum("nmp,nm->np", Q, D - A - E + Y / mu)
        rest = D + np.einsum("nmp,np->nm", Q, moves) - A - E
        Y += mu * rest
        mu *= GROWTH
        if np.linalg.norm(rest) < TOL * size:
            break
    return moves, float(values.sum() + lam * np.abs(E).sum())


def _thresholded(X: Array, threshold: float) -> tuple[Array, Array]:
    """X with its singular values lowered, and these: by the Gram matrix of its rows."""
    squares, left = np.linalg.eigh(X @ X.T)
    values = np.sqrt(np.maximum(squares, 0.0))
    lowered = np.maximum(values - threshold, 0.0)
    factor = np.divide(lowered, values, out=np.zeros_like(values), where=values > 0)
    return (left * factor) @ (left.T @ X), lowered
