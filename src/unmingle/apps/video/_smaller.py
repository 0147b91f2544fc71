"""Large pictures are worked on in a smaller size; what is found is brought back to their own."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..._types import AnyArray
from ...media import Frame, MediaError, Planes
from ...media.pixels import to_grey
from ._separation import Box, Separation
from ._stream import Stream

VERY_WIDE, WIDTH = 3840, 1920
"""Pictures from this width on are worked on in this width, unless it is said otherwise."""


def times_smaller(width: int, max_width: int | None) -> int:
    """The side of the squares of pixels that become one."""
    most = max_width or (WIDTH if width >= VERY_WIDE else width)
    return -(-width // most)


def smaller(picture: Any, side: int) -> Any:
    """Means over squares of pixels.

    Each pixel of the answer is the mean of side x side; planes stay even, and what is left at the lower and at the
    right edge is cut off.
    """
    if side == 1:
        return picture
    if isinstance(picture, Planes):
        height, width = (2 * max(1, size // (2 * side)) for size in (picture.height, picture.width))
        parts = [_means(picture.luma, side, height, width)]
        parts += [_means(plane, side, height // 2, width // 2) for plane in picture.chroma]
        return Planes(np.concatenate([part.reshape(-1) for part in parts]), height, width)
    height, width = (max(1, size // side) for size in picture.shape[:2])
    if picture.ndim == 3:
        return np.stack([_means(picture[..., channel], side, height, width) for channel in range(3)], axis=2)
    return _means(picture, side, height, width)


def _means(plane: AnyArray, side: int, height: int, width: int) -> AnyArray:
    is_float = plane.dtype.kind == "f"
    wide: Any = np.float32 if is_float else np.uint16 if plane.dtype == np.uint8 and side <= 16 else np.uint64
    missing = [(0, max(0, n * side - size)) for n, size in zip((height, width), plane.shape, strict=True)]
    whole = np.pad(plane, missing, "edge") if any(more for _, more in missing) else plane
    rows, total = np.zeros((height, width * side), dtype=wide), np.zeros((height, width), dtype=wide)
    for offset in range(side):
        rows += whole[offset : height * side : side, : width * side]
    for offset in range(side):
        total += rows[:, offset::side]
    if is_float:
        return np.asarray(total / wide(side * side), dtype=plane.dtype)
    return ((total + wide(side * side // 2)) // wide(side * side)).astype(plane.dtype)


def larger(picture: Any, side: int, height: int, width: int) -> Any:
    """Each pixel as a square of pixels; what is missing at the edges is repeated."""
    if isinstance(picture, Planes):
        even = (height + 1) // 2, (width + 1) // 2
        parts = [_squares(picture.luma, side, height, width)]
        parts += [_squares(plane, side, *even) for plane in picture.chroma]
        return Planes(np.concatenate([part.reshape(-1) for part in parts]), height, width)
    return _squares(picture, side, height, width)


def _squares(plane: AnyArray, side: int, height: int, width: int) -> AnyArray:
    rows = np.minimum(np.arange(height) // side, plane.shape[0] - 1)
    columns = np.minimum(np.arange(width) // side, plane.shape[1] - 1)
    return np.ascontiguousarray(plane[:, columns][rows])


def like(picture: AnyArray, frame: Any) -> Any:
    """A picture, grey or in colours, in the kind and type of a frame."""
    white = np.iinfo(picture.dtype).max if picture.dtype.kind == "u" else 1.0
    if frame.ndim == 2:
        picture = to_grey(picture)
    elif picture.ndim == 2:
        picture = np.repeat(picture[..., None], 3, axis=2)
    if picture.dtype != frame.dtype:
        scaled = picture * (np.iinfo(frame.dtype).max / white if frame.dtype.kind == "u" else 1.0 / white)
        picture = (np.rint(scaled) if frame.dtype.kind == "u" else scaled).astype(frame.dtype)
    return Planes.from_rgb(picture) if isinstance(frame, Planes) else picture


class Reduction:
    """Frames on their way to a stream and back, worked on in a smaller size where they are large.

    Parameters
    ----------
    stream : Stream
        What separates them. If it is new, its region and its smallest area are made smaller along with the frames.
    max_width : int, optional
        Work on pictures that are not wider than this; by default on 1920 pixels where there are 3840 or more.
    empty_scene : array, optional
        A picture of the empty scene, as large as the frames: the first background.
    check : callable, optional
        Raises an error if the first frame, in the size that is worked on, is none of those that are expected.

    Attributes
    ----------
    side : int
        Of the squares of pixels that become one; 0 before the first frame. If it is 1, frames stay as they are.
    """

    def __init__(
        self,
        stream: Stream,
        *,
        max_width: int | None = None,
        empty_scene: Any = None,
        check: Callable[[Frame], None] | None = None,
    ) -> None:
        self._stream, self._max_width = stream, max_width
        self._empty_scene, self._check = empty_scene, check
        self._waiting: deque[Any] = deque()
        self.side = 0

    def reduce(self, frame: Frame) -> Frame:
        """A frame in the size that is worked on; it is kept until `restore`."""
        self._waiting.append(frame.pixels)
        return Frame(frame.time, smaller(frame.pixels, self.side))

    def begin(self, frame: Frame) -> None:
        """Choose the size by the first frame, and let the stream begin with the empty scene."""
        shape, stream = frame.pixels.shape[:2], self._stream
        side = times_smaller(shape[1], self._max_width)
        former, settings = stream.state.format, stream.settings
        if former is not None and self._max_width is None and (former.height, former.width) == shape:
            side = 1
        if side > 1 and former is None:
            region, min_area = settings.region, settings.min_area
            if region is not None and region.shape == shape:
                small = smaller(region.astype(np.float32), side) >= 0.5
                height, width = smaller(frame.pixels, side).shape[:2]
                region = np.ascontiguousarray(small[:height, :width])
            if min_area is not None:
                min_area = max(1, round(min_area / side**2))
            stream.settings = replace(settings, region=region, min_area=min_area)
        self.side = side
        if self._check is not None:
            self._check(Frame(frame.time, smaller(frame.pixels, side)))
        if self._empty_scene is not None:
            if self._empty_scene.shape[:2] != shape:
                (height, width), (rows, columns) = self._empty_scene.shape[:2], shape
                raise MediaError(
                    f"The picture of the empty scene has {width} x {height} pixels, but the frames have "
                    f"{columns} x {rows}; it must be as large as they are."
                )
            stream.fit([smaller(like(self._empty_scene, frame.pixels), side)] * stream.settings.start_size)

    def restore(self, found: Separation) -> Separation:
        """What was found in the frame that was reduced first and not restored yet, in its own size."""
        frame, side = self._waiting.popleft(), self.side
        height, width = frame.shape[:2]
        rows, columns = found.mask.shape

        def edge(small: int, most: int, whole: int) -> int:
            return whole if small == most else side * small

        boxes = tuple(
            Box(
                side * box.top, side * box.left, edge(box.bottom, rows, height), edge(box.right, columns, width),
                box.area * side**2,
            )
            for box in found.boxes
        )  # fmt: skip
        mask = _squares(found.mask, side, height, width)
        return Separation(
            found.index, found.time, frame, lambda: larger(found.background, side, height, width), mask, boxes,
            found.score, found.state,
        )  # fmt: skip
