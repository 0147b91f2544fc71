"""Boxes, numbers and times drawn into pictures."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._types import Float64Array
from ...media import Planes
from ...media.pixels import LUMA_WEIGHTS
from ...media.planes import BLUE_SCALE, RED_SCALE, middle_of
from ...report.numbers_in_words import clock
from .events import EventPlace

_FONT = {
    "0": ("01110", "10001", "10011", "10101", "11001", "10001", "01110"),
    "1": ("00100", "01100", "00100", "00100", "00100", "00100", "01110"),
    "2": ("01110", "10001", "00001", "00110", "01000", "10000", "11111"),
    "3": ("11110", "00001", "00001", "01110", "00001", "00001", "11110"),
    "4": ("00010", "00110", "01010", "10010", "11111", "00010", "00010"),
    "5": ("11111", "10000", "11110", "00001", "00001", "10001", "01110"),
    "6": ("00110", "01000", "10000", "11110", "10001", "10001", "01110"),
    "7": ("11111", "00001", "00010", "00100", "01000", "01000", "01000"),
    "8": ("01110", "10001", "10001", "01110", "10001", "10001", "01110"),
    "9": ("01110", "10001", "10001", "01111", "00001", "00010", "01100"),
    ":": ("00000", "00100", "00100", "00000", "00100", "00100", "00000"),
    ".": ("00000", "00000", "00000", "00000", "00000", "01100", "01100"),
}
"""Seven rows of five points for each sign."""
_COLOURS = np.array(
    [(250, 210, 0), (0, 200, 250), (250, 110, 90), (120, 230, 80), (230, 130, 250), (250, 160, 40)], dtype=np.float64
)
"""Red, green and blue of the boxes, one after the other."""
_LUMA = np.array(LUMA_WEIGHTS)
_WHITE, _BLACK = np.full(3, 255.0), np.zeros(3)
ROWS_TO_A_POINT = 300
"""Rows of a picture for each pixel of the width of a line."""

Place = tuple[int, EventPlace]
"""The number of an event, and where it is."""


def with_boxes(picture: Any, places: Sequence[Place], time: float | None = None, scale: float = 1.0) -> Any:
    """A copy of a picture with a box and a number for each event, and the time in its upper left corner.

    Parameters
    ----------
    picture : array of shape (height, width) or (height, width, 3), or Planes
        Stays as it is.
    places : sequence of (int, EventPlace)
        Numbers of events, and where they are.
    time : float, optional
        Seconds.
    scale : float
        What the places are multiplied by, where the picture was made smaller.
    """
    canvas = _Paper(picture)
    point = max(1, round(canvas.height / ROWS_TO_A_POINT))
    for number, place in places:
        colour = _COLOURS[(number - 1) % len(_COLOURS)]
        left, top, right, bottom = (round(scale * side) for side in place[2:6])
        canvas.frame(left, top, right, bottom, 2 * point, colour)
        room = 9 * point
        canvas.write(str(number), left, top - room if top >= room else bottom, point, colour)
    if time is not None:
        canvas.write(clock(time, 1), 2 * point, 2 * point, 2 * point, _WHITE)
    return canvas.picture


class _Paper:
    """A picture that is painted on, whatever it is made of."""

    def __init__(self, picture: Any) -> None:
        self.height, self.width = picture.shape[:2]
        white = 1.0 if picture.dtype.kind == "f" else float(np.iinfo(picture.dtype).max)
        self._share = white / 255.0
        if isinstance(picture, Planes):
            self.picture: Any = Planes(picture.values.copy(), self.height, self.width)
        else:
            self.picture = picture.copy()

    def fill(self, left: int, top: int, right: int, bottom: int, colour: Float64Array) -> None:
        """Paint a rectangle, as far as it is in the picture."""
        left, right = (min(max(0, side), self.width) for side in (left, right))
        top, bottom = (min(max(0, side), self.height) for side in (top, bottom))
        if left >= right or top >= bottom:
            return
        dtype, values = self.picture.dtype, colour * self._share
        luma = values @ _LUMA
        if isinstance(self.picture, Planes):
            middle = middle_of(dtype)
            self.picture.luma[top:bottom, left:right] = luma.astype(dtype)
            rows, columns = slice(top // 2, (bottom + 1) // 2), slice(left // 2, (right + 1) // 2)
            self.picture.chroma[0, rows, columns] = (middle + BLUE_SCALE * (values[2] - luma)).astype(dtype)
            self.picture.chroma[1, rows, columns] = (middle + RED_SCALE * (values[0] - luma)).astype(dtype)
        else:
            self.picture[top:bottom, left:right] = (values if self.picture.ndim == 3 else luma).astype(dtype)

    def frame(self, left: int, top: int, right: int, bottom: int, width: int, colour: Float64Array) -> None:
        """Paint the edge of a rectangle."""
        self.fill(left, top, right, min(top + width, bottom), colour)
        self.fill(left, max(bottom - width, top), right, bottom, colour)
        self.fill(left, top, min(left + width, right), bottom, colour)
        self.fill(max(right - width, left), top, right, bottom, colour)

    def write(self, text: str, left: int, top: int, point: int, colour: Float64Array) -> None:
        """Write digits on black."""
        width, height = (6 * len(text) + 1) * point, 9 * point
        left, top = min(max(0, left), max(0, self.width - width)), min(max(0, top), max(0, self.height - height))
        self.fill(left, top, left + width, top + height, _BLACK)
        for index, sign in enumerate(text):
            for row, points in enumerate(_FONT[sign]):
                for column, dark in enumerate(points):
                    if dark == "1":
                        x, y = left + (6 * index + column + 1) * point, top + (row + 1) * point
                        self.fill(x, y, x + point, y + point, colour)
