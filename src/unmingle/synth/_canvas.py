"""Painting with strokes: the canvas, what is painted on it over time, and the film that comes of it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import DTypeLike

from .._types import Array, BoolArray, Float32Array


@dataclass(frozen=True, eq=False)
class Scene:
    """Frames of a camera with their truth.

    Attributes
    ----------
    frames : ndarray of shape (n_frames, height, width)
        What the camera sees, float32 in [0, 1].
    background : ndarray of shape (n_frames, height, width)
        The empty, noiseless scene of the moment, float32 in [0, 1].
    masks : ndarray of bool, shape (n_frames, height, width)
        The pixels covered at least half by a moving object.
    """

    frames: Float32Array
    background: Float32Array
    masks: BoolArray


class Stroke(NamedTuple):
    """A line from (x0, y0) to (x1, y1) with round ends; lengths are in picture heights, y points down.

    Its edge fades over the width `soft`, at least a pixel; `bulge` makes it round, lighter in the middle than at the
    sides by this share of the tone.
    """

    x0: float
    y0: float
    x1: float
    y1: float
    radius: float
    tone: float
    soft: float = 0.0
    bulge: float = 0.0


class Mover(Protocol):
    """A body that moves."""

    def strokes(self, time: Any) -> Iterator[Stroke]:
        """Yield its strokes at this time, from the back to the front."""
        ...


class Canvas:
    """Coordinates of the pixels, and smooth-edged painting on them.

    A picture height is the unit of length, unless a pixel is given in another unit; `margin` pixels lie left of and
    above the first one. Strokes are computed in the floating type `dtype`.
    """

    def __init__(
        self, height: int, width: int, *, pixel: float | None = None, margin: int = 0, dtype: DTypeLike = np.float32
    ) -> None:
        self.pixel = 1.0 / height if pixel is None else pixel
        self.aspect = width / height
        self.margin = margin
        self.y = ((np.arange(height) + 0.5 + margin) * self.pixel)[:, None].astype(dtype)
        self.x = ((np.arange(width) + 0.5 + margin) * self.pixel)[None, :].astype(dtype)

    def paint(self, picture: Array, strokes: Sequence[Stroke], covered: Array | None = None) -> None:
        """Paint strokes over the picture in place, the last in front; add their opacity to what is covered already."""
        if not strokes:
            return
        lengths = np.array(strokes)
        box = self._around(lengths)
        x, y = self.x[:, box[1]], self.y[box[0]]
        if not x.size * y.size:
            return
        x0, y0, x1, y1, radius, tone, soft, bulge = lengths.T[:, :, None, None].astype(x.dtype)
        x, y, dx, dy = x - x0, y - y0, x1 - x0, y1 - y0
        along = _unit((x * dx + y * dy) / np.maximum(dx * dx + dy * dy, 1e-12))
        distance = _length(x - along * dx, y - along * dy)
        opacities = _unit(0.5 - (distance - radius) / np.maximum(soft, self.pixel))
        tones = tone + (tone * bulge) * (0.4 - (distance / radius) ** 2) if bulge.any() else tone
        view = picture[box]
        for opacity, painted in zip(opacities, tones, strict=True):
            view += opacity * (painted - view)
        if covered is not None:
            covered[box] = 1.0 - (1.0 - covered[box]) * np.prod(1.0 - opacities, axis=0)

    def _around(self, lengths: Array) -> tuple[slice, slice]:
        """Return the rows and columns that the strokes can touch."""
        ends = lengths[:, :4].reshape(-1, 2, 2)
        reach = (lengths[:, 4] + np.maximum(lengths[:, 6], self.pixel))[:, None]
        first = (ends.min(axis=1) - reach).min(axis=0) / self.pixel
        last = (ends.max(axis=1) + reach).max(axis=0) / self.pixel
        columns, rows = (
            slice(max(int(start) - self.margin, 0), max(int(end) + 1 - self.margin, 0))
            for start, end in zip(first, last, strict=True)
        )
        return rows, columns

    def inside(self, left: float, right: float, top: float, bottom: float) -> BoolArray:
        """Tell which pixels lie in a box."""
        return (self.x >= left) & (self.x < right) & (self.y >= top) & (self.y < bottom)


def _unit(values: Array) -> Array:
    """Clip to [0, 1]; faster than np.clip on small arrays."""
    return np.maximum(np.minimum(values, 1.0), 0.0)


def _length(x: Array, y: Array) -> Array:
    """Return sqrt(x^2 + y^2); faster than np.hypot."""
    return np.sqrt(x * x + y * y)


def perform(canvas: Canvas, stage: Array, script: Iterable[Iterable[Iterable[Stroke]]]) -> tuple[Array, BoolArray]:
    """Paint on each picture of the stage the bodies that the script names for it; return the pictures and the masks.

    A body is a group of strokes; both strokes and bodies come from the back to the front.
    """
    shown = stage.copy()
    masks = np.empty(stage.shape, dtype=bool)
    for picture, mask, bodies in zip(shown, masks, script, strict=True):
        covered = np.zeros(picture.shape, dtype=picture.dtype)
        for body in bodies:
            canvas.paint(picture, list(body), covered)
        np.greater_equal(covered, 0.5, out=mask)
    return shown, masks


def expose(shown: Array, noise: float, rng: Generator) -> Float32Array:
    """Return float32 pictures with sensor noise, clipped to [0, 1]."""
    frames = rng.standard_normal(shown.shape, dtype=np.float32)
    frames *= noise
    frames += shown
    return np.clip(frames, 0.0, 1.0, out=frames)


def check_film(n_frames: int, height: int, width: int, **amounts: float) -> None:
    """Refuse films without pixels and negative amounts."""
    if min(n_frames, height, width) < 1:
        raise ValueError(f"n_frames, height and width must be positive; got {n_frames}, {height}, {width}.")
    if not min(amounts.values()) >= 0:
        *most, last = amounts
        got = ", ".join(str(amount) for amount in amounts.values())
        raise ValueError(f"{', '.join(most)} and {last} must not be negative; got {got}.")
