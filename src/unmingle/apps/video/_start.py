"""The first background, from a handful of frames in which things may move."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..._types import AnyArray, Float32Array, Float64Array
from ...kernels.robust import column_medians

_CHUNK = 1 << 12
_FEW = 64
"""Up to this number of rows sorting is faster than selection."""
_MEDIAN_OF_NOISE = 0.6745
"""The median of |x| for Gaussian noise of standard deviation 1."""
_OUTLIERS_FROM = 2.2
"""What deviates from the median over time by more than this number of standard deviations is cleaned."""


class NumbersOfCamera(NamedTuple):
    """How to read the numbers of a camera: brightness in [0, 1], colour differences in [-1/2, 1/2]."""

    scale: float
    middle: float
    """What stands for no colour, in [0, 1]."""
    pixels: int
    """Entries of brightness; those of colour follow."""

    def read(self, rows: AnyArray, part: slice) -> Float32Array:
        """Some entries, either all of brightness or all of colour."""
        values = rows[:, part] * np.float32(self.scale)
        return values if part.stop <= self.pixels else values - np.float32(self.middle)

    def parts(self, entries: int) -> Iterator[slice]:
        """Pieces of a row that stay in the cache."""
        ends = [
            *range(_CHUNK, self.pixels, _CHUNK),
            self.pixels,
            *range(self.pixels + _CHUNK, entries, _CHUNK),
            entries,
        ]
        return (slice(a, b) for a, b in pairwise([0, *ends]) if a < b)


def first_background(
    rows: AnyArray, camera: NumbersOfCamera, n_components: int, least_noise: float
) -> tuple[Float32Array, Float64Array]:
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
    camera : NumbersOfCamera
        How to read them.
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
    bound = np.float32(_OUTLIERS_FROM * max(_typical_noise(rows, camera), least_noise))
    middle = np.empty(m, dtype=np.float32)
    gram = np.zeros((n, n))
    for part in camera.parts(m):
        values = camera.read(rows, part)
        middle[part] = _medians(values)
        wide = _cleaned(values, middle[part], bound).astype(np.float64)
        gram += wide @ wide.T
    squares, vectors = (found[..., ::-1] for found in np.linalg.eigh(gram))
    kept = min(n_components, max(1, int(np.sum(squares > 1e-9 * squares[0]))))
    sigma, V = np.sqrt(np.maximum(squares[:kept], 1e-12)), vectors[:, :kept]
    components = np.empty((kept, m), dtype=np.float32)
    readout = (V / np.sqrt(sigma)).T.astype(np.float32)
    for part in camera.parts(m):
        components[:, part] = readout @ _cleaned(camera.read(rows, part), middle[part], bound)
    return components, V * np.sqrt(sigma)


def typical_row(rows: AnyArray) -> AnyArray:
    """The median of each entry over some rows, of their type."""
    middle = np.empty_like(rows[0])
    for start in range(0, middle.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        medians = _medians(rows[:, part].astype(np.float32))
        middle[part] = medians if middle.dtype.kind == "f" else np.rint(medians)
    return middle


def noise_around(rows: AnyArray, camera: NumbersOfCamera, components: Float32Array, codes: AnyArray) -> Float32Array:
    """The standard deviation of each entry from the background, by its median over the frames."""
    noise = np.empty(rows.shape[1], dtype=np.float32)
    narrow = codes.astype(np.float32)
    for part in camera.parts(noise.size):
        left = camera.read(rows, part) - narrow @ components[:, part]
        noise[part] = _medians(np.abs(left)) / np.float32(_MEDIAN_OF_NOISE)
    return noise


def _medians(rows: AnyArray) -> Float32Array:
    if len(rows) > _FEW:
        return np.median(rows, axis=0).astype(np.float32)
    medians = np.empty(rows.shape[1], dtype=np.float32)
    column_medians(np.array(rows, order="C"), medians)
    return medians


def _cleaned(values: Float32Array, middle: Float32Array, bound: np.float32) -> Float32Array:
    return np.asarray(middle + np.clip(values - middle, -bound, bound), dtype=np.float32)


def _typical_noise(rows: AnyArray, camera: NumbersOfCamera) -> float:
    """The deviation of pixels from their median over time that is typical of the whole picture."""
    some = rows[:, : camera.pixels : max(1, camera.pixels // 10_000)] * np.float32(camera.scale)
    return float(np.median(np.abs(some - np.median(some, axis=0)))) / _MEDIAN_OF_NOISE
