"""The first background, from a handful of frames in which things may move."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import kernels

Array = NDArray[Any]
Floats = NDArray[np.float32]

_CHUNK = 1 << 12
_FEW = 64
"""Rows up to which sorting is faster than selection."""
_MEDIAN_OF_NOISE = 0.6745
"""The median of |x| for Gaussian noise of standard deviation 1."""
_OUTLIERS_FROM = 2.2


def first_background(
    rows: Array, scale: float, n_components: int, least_noise: float
) -> tuple[Floats, NDArray[np.float64]]:
    """Components and codes of a few frames: one sweep of (2), from the median of every pixel.

    With the median d of each pixel over time, cleaned frames C = d + clip(X - d, -lam, lam) and the singular values of
    C, which its small Gram matrix C C' has, ::

        C = V diag(sigma) W',   S = V sqrt(sigma),   U = W sqrt(sigma)

    A pixel that is covered in less than half of the frames starts clean. Cost: 2 n^2 m flops and the medians; memory:
    that of the answer, as frames are read in pieces.

    Parameters
    ----------
    rows : array of shape (n, m)
        Frames in the numbers of the camera.
    scale : float
        What brings them to [0, 1].
    n_components : int
        Most components.
    least_noise : float
        The noise is never taken to be smaller.

    Returns
    -------
    components : array of shape (q, m), float32
    codes : array of shape (n, q)
    """
    n, m = rows.shape
    bound = np.float32(_OUTLIERS_FROM * max(_typical_noise(rows, scale), least_noise))
    middle = np.empty(m, dtype=np.float32)
    gram = np.zeros((n, n))
    for part in _parts(m):
        middle[part] = _medians(rows[:, part]) * np.float32(scale)
        wide = _cleaned(rows[:, part], scale, middle[part], bound).astype(np.float64)
        gram += wide @ wide.T
    squares, vectors = (found[..., ::-1] for found in np.linalg.eigh(gram))
    kept = min(n_components, max(1, int(np.sum(squares > 1e-9 * squares[0]))))
    sigma, V = np.sqrt(np.maximum(squares[:kept], 1e-12)), vectors[:, :kept]
    components = np.empty((kept, m), dtype=np.float32)
    readout = (V / np.sqrt(sigma)).T.astype(np.float32)
    for part in _parts(m):
        components[:, part] = readout @ _cleaned(rows[:, part], scale, middle[part], bound)
    return components, V * np.sqrt(sigma)


def noise_around(rows: Array, scale: float, components: Floats, codes: Array) -> Floats:
    """The standard deviation of each entry from the background, by its median over the frames."""
    noise = np.empty(rows.shape[1], dtype=np.float32)
    narrow = codes.astype(np.float32)
    for part in _parts(noise.size):
        left = rows[:, part] * np.float32(scale) - narrow @ components[:, part]
        noise[part] = _medians(np.abs(left)) / np.float32(_MEDIAN_OF_NOISE)
    return noise


def _medians(rows: Array) -> Floats:
    if len(rows) > _FEW:
        return np.median(rows, axis=0).astype(np.float32)
    medians = np.empty(rows.shape[1], dtype=np.float32)
    kernels.column_medians(np.array(rows, order="C"), medians)
    return medians


def _cleaned(rows: Array, scale: float, middle: Floats, bound: np.float32) -> Floats:
    return np.asarray(middle + np.clip(rows * np.float32(scale) - middle, -bound, bound), dtype=np.float32)


def _typical_noise(rows: Array, scale: float) -> float:
    """The deviation of pixels from their median over time that is typical of the whole picture."""
    some = rows[:, :: max(1, rows.shape[1] // 10_000)] * np.float32(scale)
    return float(np.median(np.abs(some - np.median(some, axis=0)))) / _MEDIAN_OF_NOISE


def _parts(m: int) -> Iterator[slice]:
    return (slice(i, min(i + _CHUNK, m)) for i in range(0, m, _CHUNK))
