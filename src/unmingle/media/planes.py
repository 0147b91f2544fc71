"""Coloured pictures as cameras and films have them: brightness, and two planes of colour differences in half size."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .._types import BoolArray, Float64Array
from .pixels import LUMA_WEIGHTS, Pixels, to_grey

_RED, _GREEN, _BLUE = LUMA_WEIGHTS
BLUE_SCALE, RED_SCALE = 0.5 / (1.0 - _BLUE), 0.5 / (1.0 - _RED)
"""What B - Y and R - Y are multiplied by, so that they lie within half of the range."""


class Planes:
    """A picture of 4:2:0 in the full range: Y of all pixels, then Cb and Cr of two by two pixels each.

    With Y = 0.299 R + 0.587 G + 0.114 B, Cb = (B - Y) / 1.772 and Cr = (R - Y) / 1.402 from the middle, 128 for bytes.

    Parameters
    ----------
    values : array
        Y, Cb and Cr end to end, row by row: bytes, 16-bit numbers, or floating-point numbers from 0 to 1.
    height, width : int
        Of the picture; the planes of colour have half as many rows and columns, rounded up.
    """

    __slots__ = ("height", "values", "width")

    def __init__(self, values: ArrayLike, height: int, width: int) -> None:
        self.values: Pixels = np.asarray(values).reshape(-1)
        self.height, self.width = int(height), int(width)
        expected = count_values(self.height, self.width)
        if self.values.size != expected:
            raise ValueError(
                f"values must hold {expected} numbers for {width} x {height} pixels, got {self.values.size}."
            )

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the numbers."""
        return self.values.dtype

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of the picture in red, green and blue."""
        return self.height, self.width, 3

    @property
    def ndim(self) -> int:
        """As that of the picture in red, green and blue."""
        return 3

    @property
    def luma(self) -> Pixels:
        """Y, (height, width); a view."""
        return self.values[: self.height * self.width].reshape(self.height, self.width)

    @property
    def chroma(self) -> Pixels:
        """Cb and Cr, (2, height / 2, width / 2); a view."""
        return self.values[self.height * self.width :].reshape(2, (self.height + 1) // 2, (self.width + 1) // 2)

    @classmethod
    def from_rgb(cls, pixels: Pixels) -> Self:
        """The planes of red, green and blue, (height, width, 3)."""
        height, width = pixels.shape[:2]
        luma, values = to_grey(pixels), np.empty(count_values(height, width), dtype=pixels.dtype)
        planes = cls(values, height, width)
        planes.luma[:] = luma
        even = np.pad(pixels, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge").astype(np.float64)
        red, green, blue = np.moveaxis(even.reshape(*planes.chroma.shape[1:2], 2, -1, 2, 3).mean(axis=(1, 3)), -1, 0)
        y = _RED * red + _GREEN * green + _BLUE * blue
        middle = middle_of(pixels.dtype)
        for plane, difference in zip(planes.chroma, (BLUE_SCALE * (blue - y), RED_SCALE * (red - y)), strict=True):
            plane[:] = _rounded(middle + difference, pixels.dtype)
        return planes

    def where(self, mask: BoolArray) -> Self:
        """The picture where a mask of shape (height, width) is, black elsewhere."""
        kept = type(self)(np.empty_like(self.values), self.height, self.width)
        np.multiply(self.luma, mask, out=kept.luma)
        flags = mask.view(np.uint8)
        if self.height % 2 or self.width % 2:
            flags = np.pad(flags, ((0, self.height % 2), (0, self.width % 2)), mode="edge")
        rows = flags[::2] + flags[1::2]
        kept.chroma[:] = self.dtype.type(middle_of(self.dtype))
        np.copyto(kept.chroma, self.chroma, where=rows[:, ::2] + rows[:, 1::2] >= 2)
        return kept

    def to_rgb(self) -> Pixels:
        """Red, green and blue, (height, width, 3)."""
        wide = self.chroma.astype(np.float64) - middle_of(self.dtype)
        blue, red = wide.repeat(2, axis=1).repeat(2, axis=2)[:, : self.height, : self.width] / np.array(
            [[[BLUE_SCALE]], [[RED_SCALE]]]
        )
        y = self.luma.astype(np.float64)
        green = -(_BLUE * blue + _RED * red) / _GREEN
        return _rounded(y[..., None] + np.stack([red, green, blue], axis=2), self.dtype)


def count_values(height: int, width: int) -> int:
    """How many numbers the planes of a picture have."""
    return height * width + 2 * ((height + 1) // 2) * ((width + 1) // 2)


def middle_of(dtype: DTypeLike) -> float:
    """The number that stands for no colour: 128, 32768 or a half."""
    return 0.5 if np.dtype(dtype).kind == "f" else float((int(np.iinfo(dtype).max) + 1) // 2)


def _rounded(values: Float64Array, dtype: DTypeLike) -> Pixels:
    if np.dtype(dtype).kind == "f":
        return np.clip(values, 0.0, 1.0).astype(dtype)
    return np.rint(np.clip(values, 0, np.iinfo(dtype).max)).astype(dtype)
