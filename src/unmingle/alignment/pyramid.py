"""Images from coarse to fine, and the frame that is cut out of them.

Between pixels, an image is known only if it has no frequencies near the highest that pixels can hold; interpolating it
all the same smooths the more, the farther a place is from the pixels, and the cost prefers places in the middle. So the
finest level is smoothed by (1 2 1) / 4 along both axes before its cubic spline is formed, which made errors ten times
smaller on faces. What is cut out for others to see is not smoothed.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._types import AnyArray, Float32Array
from ..kernels.alignment import warp_image
from ..kernels.warp import BORDER, halve_image, pad_image, smooth_image, spline_coefficients
from .families import AlignedFrame, Matrix, generators

Image = Float32Array

COARSEST = 12
"""The shorter side of the frame keeps at least this number of pixels at the coarsest level."""


def n_levels(frame: AlignedFrame) -> int:
    """How many levels a frame has: each halves it."""
    side, count = (min(frame.height, frame.width) + 1) // 2, 1
    while side >= COARSEST:
        side, count = (side + 1) // 2, count + 1
    return count


def pixels_at_levels(frame: AlignedFrame) -> list[int]:
    """How many pixels of the frame each level looks at."""
    strides = [2**number for number in range(n_levels(frame))]
    return [_places(frame.height, stride)[0] * _places(frame.width, stride)[0] for stride in strides]


class Pyramid(NamedTuple):
    """An image at several levels, each of half the size of the one before; all have borders.

    The finest is smoothed and given by its cubic spline, the others are pixels. NaN is what is not known.
    """

    levels: tuple[Image, ...]

    @classmethod
    def of(cls, image: Image, count: int) -> "Pyramid":
        """The levels of an image.

        Cost: about 60 flops for each pixel.
        """
        rows, smooth = np.empty_like(image), np.empty_like(image)
        smooth_image(image, rows, smooth)
        levels = [spline_of(smooth)]
        for _ in range(count - 1):
            height, width = ((side + 1) // 2 for side in image.shape)
            rows, half = np.empty((height, image.shape[1]), np.float32), np.empty((height, width), np.float32)
            halve_image(image, rows, half)
            levels.append(_bordered(half))
            image = half
        return cls(tuple(levels))


def spline_of(image: Image) -> Image:
    """The cubic spline through an image, with a border; what is not known stays so, and others see the mean there."""
    holes = bool(np.isnan(np.sum(image)))
    unknown = np.isnan(image) if holes else np.zeros(0, bool)
    if holes:
        image = np.where(unknown, np.float32(0) if unknown.all() else np.nanmean(image), image)
    coefficients = np.empty_like(image)
    spline_coefficients(image, coefficients)
    if holes:
        coefficients[unknown] = np.nan
    return _bordered(coefficients)


def _bordered(image: Image) -> Image:
    height, width = image.shape
    padded = np.empty((height + 2 * BORDER, width + 2 * BORDER), np.float32)
    pad_image(image, padded)
    return padded


@dataclass(frozen=True)
class Grid:
    """A level of the frame: the pixels looked at, every 2^number-th along each axis, and how the family moves them."""

    number: int
    shape: tuple[int, int]
    grid: Image
    """(2, m): centred and scaled x and y of each pixel."""
    fields: Image
    """(p, 2, m): how each parameter moves it, parameters measured in pixels of the frame."""
    generators: Matrix
    """(p, 3, 3), for parameters in pixels of the frame."""
    corners: Matrix
    """(p, 2, 4): how each parameter moves the corners of the frame, in its pixels."""
    frame: AlignedFrame

    @classmethod
    def of(cls, frame: AlignedFrame, family: str, number: int, some: AnyArray | None = None) -> "Grid":
        """A level of a frame; ``some`` are the numbers of the pixels to look at, where not all are."""
        (height, y), (width, x) = (_places(side, 2**number) for side in (frame.height, frame.width))
        row, column = np.divmod(np.arange(height * width) if some is None else some, width)
        points = np.stack([x[column], y[row], np.ones(len(row))])
        small = generators(family) / frame.unit
        grid, corners = frame.from_pixels @ points, frame.from_pixels @ frame.corners
        fields = frame.unit * _fields(small, corners)
        grid_fields = np.ascontiguousarray(_fields(small, grid), np.float32)
        return cls(
            number, (height, width), np.ascontiguousarray(grid[:2], np.float32), grid_fields, small, fields, frame
        )

    def matrix(self, matrix: Matrix) -> Matrix:
        """The map from centred coordinates to pixels of this level of an image, for one from pixels to pixels."""
        return np.diag([0.5**self.number, 0.5**self.number, 1.0]) @ matrix @ self.frame.to_pixels

    def cut(self, image: Image, matrix: Matrix, *, cubic: bool) -> Image:
        """The frame cut out of a level of an image, (m,), NaN where the image does not reach or is not known."""
        return self.cut_with_slopes(image, matrix, cubic=cubic)[0]

    def cut_with_slopes(self, image: Image, matrix: Matrix, *, cubic: bool = True) -> tuple[Image, Image]:
        """The same, and its slopes along the centred and scaled axes, (2, m)."""
        values, slopes = np.empty(self.grid.shape[1], np.float32), np.empty(self.grid.shape, np.float32)
        warp_image(image, cubic, self.matrix(matrix), self.grid, values, slopes)
        return values, slopes

    def cut_all(self, pyramids: Iterable[Pyramid], matrices: Matrix) -> Image:
        """The frames cut out of this level of many images, (n, m)."""
        sources = (pyramid.levels[self.number] for pyramid in pyramids)
        return np.stack(
            [self.cut(image, matrix, cubic=self.number == 0) for image, matrix in zip(sources, matrices, strict=True)]
        )


def _places(side: int, stride: int) -> tuple[int, Matrix]:
    """How many pixels of a side are looked at, and where they are: as far from one end as from the other."""
    count = (side - 1) // stride + 1
    return count, 0.5 * (side - 1 - stride * (count - 1)) + stride * np.arange(float(count))


def _fields(small: Matrix, points: Matrix) -> Matrix:
    """Derivatives of exp(sum p_k G_k) x by p at 0, for points (3, m) whose last entry is 1."""
    moved = small @ points
    return moved[:, :2] - moved[:, 2:] * points[:2]
