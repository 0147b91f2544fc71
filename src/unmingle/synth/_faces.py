"""Drawn faces of one person, each a little displaced."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, default_rng

from .._types import BoolArray, Float32Array, Float64Array

_WAVES = default_rng(0).uniform((-18.0, -18.0, 0.0), (18.0, 18.0, 2 * np.pi), (24, 3))
"""Skin: waves across the face, of at least 9 to a face."""


@dataclass(frozen=True, eq=False)
class Faces:
    """Images of a face, and the truth about them."""

    images: Float32Array
    """(n, height, width), from 0, black, to 1, white."""
    matrices: Float64Array
    """(n, 3, 3): maps of pixels (x, y, 1) of a face at rest, in the middle of an image, into each image."""
    moods: Float64Array
    """(n, 4), from -1 to 1: light from the side and from above, open eyes, and mouth."""
    covered: BoolArray
    """(n, height, width): where something is in front of the face."""


def displaced_faces(
    n: int,
    *,
    shape: tuple[int, int] = (64, 56),
    shift: float = 3.0,
    turn: float = 0.0,
    zoom: float = 0.0,
    covered: float = 0.0,
    noise: float = 0.005,
    random_state: int | Generator | None = None,
) -> Faces:
    """Draw faces with changing light, eyes and mouth, displaced by chance, some with a square in front.

    Brightness is a function of the place, written down, so that a displaced face is exact: nothing is interpolated.

    Parameters
    ----------
    n : int
        Number of images.
    shape : pair of int, default=(64, 56)
        Their height and width.
    shift : float, default=3.0
        Faces move by up to so many pixels along each axis.
    turn : float, default=0.0
        They turn by up to so many degrees.
    zoom : float, default=0.0
        They grow or shrink by up to this share.
    covered : float, default=0.0
        Share of the images with a square over a tenth of the face.
    noise : float, default=0.005
        Standard deviation of the noise.
    random_state : int, Generator or None, default=None
        Seed; the same seed gives the same numbers. None: others each time.

    Returns
    -------
    Faces

    Examples
    --------
    >>> faces = displaced_faces(3, shift=2.0, random_state=0)
    >>> faces.images.shape, bool(np.abs(faces.matrices[:, :2, 2]).max() <= 2.0)
    ((3, 64, 56), True)
    """
    if n < 1 or min(shape) < 16:
        raise ValueError(f"n must be at least 1 and shape at least 16 x 16; got {n} and {shape}.")
    rng, (height, width) = default_rng(random_state), shape
    moods = rng.uniform(-1.0, 1.0, (n, 4))
    matrices = _displacements(rng, n, shape, (shift, np.deg2rad(turn), zoom))
    y, x = np.mgrid[:height, :width].astype(np.float64)
    places = np.linalg.inv(matrices) @ np.stack([x.ravel(), y.ravel(), np.ones(x.size)])
    unit = 0.36 * min(height, 1.2 * width)
    u, v = ((places[:, axis] - 0.5 * (side - 1)) / unit for axis, side in ((0, width), (1, height)))
    images = _drawn(u, v, moods[:, :, None]).reshape(n, height, width)
    front = _squares(rng, n, shape, covered)
    images[front] = 0.9
    images += noise * rng.standard_normal(images.shape)
    return Faces(np.clip(images, 0.0, 1.0).astype(np.float32), matrices, moods, front)


def _displacements(rng: Generator, n: int, shape: tuple[int, int], limits: tuple[float, float, float]) -> Float64Array:
    """Turn and zoom round the middle of the image, then shift."""
    shift, angle, zoom = limits
    turned, grown = angle * rng.uniform(-1, 1, n), 1 + zoom * rng.uniform(-1, 1, n)
    middle = 0.5 * (np.array(shape[::-1]) - 1)
    matrices = np.tile(np.eye(3), (n, 1, 1))
    matrices[:, 0, 0] = matrices[:, 1, 1] = grown * np.cos(turned)
    matrices[:, 1, 0] = grown * np.sin(turned)
    matrices[:, 0, 1] = -matrices[:, 1, 0]
    matrices[:, :2, 2] = middle - matrices[:, :2, :2] @ middle + shift * rng.uniform(-1, 1, (n, 2))
    return matrices


def _drawn(u: Float64Array, v: Float64Array, moods: Float64Array) -> Float64Array:
    """Brightness at places of a face, whose half is 1 high: head, light, eyes, brows, nose and mouth."""
    side, above, blink, smile = (moods[:, number] for number in range(4))
    head = 1 / (1 + np.exp(12 * (np.sqrt((u / 0.85) ** 2 + v**2) - 1)))
    face = 0.62 + 0.08 * side * u - 0.06 * above * v
    for eye in (-0.34, 0.34):
        face = face - (0.36 + 0.08 * blink) * _spot(u - eye, v + 0.18, 0.12, 0.07)
        face = face - 0.22 * _spot(u - eye, v + 0.38, 0.2, 0.04)
        face = face + 0.12 * _spot(u - 0.9 * eye, v - 0.25, 0.2, 0.2)
    face = face + 0.15 * _spot(u, v - 0.02, 0.07, 0.22) - 0.2 * _spot(u, v - 0.2, 0.14, 0.05)
    face = face - 0.3 * _spot(u, v - 0.52, 0.26, 0.06) + 0.1 * smile * _spot(u, v - 0.6, 0.3, 0.08)
    for along, across, phase in _WAVES:
        face = face + 0.012 * np.sin(along * u + across * v + phase)
    back = 0.25 + 0.05 * np.sin(2.1 * u + 0.5) * np.cos(1.7 * v)
    return back + head * (face - back)


def _spot(u: Float64Array, v: Float64Array, width: float, height: float) -> Float64Array:
    return np.exp(-0.5 * ((u / width) ** 2 + (v / height) ** 2))


def _squares(rng: Generator, n: int, shape: tuple[int, int], share: float) -> BoolArray:
    """Squares over a tenth of the middle of some images."""
    height, width = shape
    side = max(1, round(np.sqrt(0.1 * 0.36 * height * width)))
    front = np.zeros((n, height, width), dtype=bool)
    for number in rng.permutation(n)[: round(share * n)]:
        top, left = (
            rng.integers(height // 5, height - height // 5 - side),
            rng.integers(width // 5, width - width // 5 - side),
        )
        front[number, top : top + side, left : left + side] = True
    return front
