"""Frames of a video in the memory of the decoder to arrays of their own."""

import re
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._validation import require
from ._pixels import Pixels, to_grey
from ._planes import Planes

_FIRST_PLANE_IS_LUMA = re.compile(r"(yuv[aj]?4\d\dp|gray|nv(12|21|16|24|42))(9|1[0246])?(le|be)?")
Colour = bool | Literal["planes"]
"""Grey, red, green and blue, or brightness and half-sized planes of colour."""
_SWS_BT601 = 5
"""How FFmpeg numbers the matrix of 0.299 R + 0.587 G + 0.114 B."""
_FULL = 2
"""How FFmpeg marks a range of 0 to 255; others are of 16 to 235."""


class Converter:
    """Takes the pixels out of decoded frames, turned upright: grey as they were coded, colours, or planes.

    The luma is taken as it was coded, without a detour over colours, and brought to the full range from black to
    white. Sources of more than 8 bits become uint16.
    """

    def __init__(self, colour: Colour) -> None:
        self._colour = colour
        self._reformatter = require("av.video.reformatter", "media").VideoReformatter()
        self._scratch: NDArray[np.uint16] = np.empty((0, 0), dtype=np.uint16)

    def pixels(self, frame: Any) -> Pixels | Planes:
        """The pixels of a frame, in memory of their own."""
        is_grey = frame.format.name.startswith("gray")
        if self._colour == "planes" and not is_grey:
            return self._planes(frame)
        pixels = self._luma(frame) if is_grey or not self._colour else self._colours(frame)
        turns = round(getattr(frame, "rotation", 0) / 90)
        return np.ascontiguousarray(np.rot90(pixels, turns)) if turns else pixels

    def _planes(self, frame: Any) -> Planes:
        """Brightness and two half-sized planes of colour in 8 bits and the full range, whatever the format is."""
        other = self._reformatter.reformat(frame, format="yuvj420p", dst_colorspace=_SWS_BT601, dst_color_range="JPEG")
        turns, parts = round(getattr(frame, "rotation", 0) / 90) % 4, []
        sides = (frame.height, frame.width), *[((frame.height + 1) // 2, (frame.width + 1) // 2)] * 2
        for plane, (height, width) in zip(other.planes, sides, strict=True):
            rows = np.frombuffer(plane, dtype=np.uint8).reshape(-1, plane.line_size)[:height, :width]
            parts.append(np.rot90(rows, turns).reshape(-1))
        height, width = sides[0][::-1] if turns % 2 else sides[0]
        return Planes(np.concatenate(parts), height, width)

    def _colours(self, frame: Any) -> Pixels:
        return self._reformatted(frame, "rgb48le" if _bits(frame) > 8 else "rgb24")

    def _luma(self, frame: Any) -> Pixels:
        kind, bits = frame.format, _bits(frame)
        if kind.is_rgb or kind.has_palette or kind.name.startswith(("pal", "bgr", "rgb", "gbr")):
            return to_grey(self._colours(frame))
        if not _FIRST_PLANE_IS_LUMA.fullmatch(kind.name):
            return self._reformatted(frame, "gray16le" if bits > 8 else "gray")
        plane = _first_plane(frame, bits)
        if _is_full_range(frame) and bits in (8, 16):
            return plane.astype(plane.dtype.newbyteorder("="))
        if bits > 8:
            return np.take(_wide_table(bits, _is_full_range(frame)), plane, mode="clip")
        return self._widened(plane)

    def _reformatted(self, frame: Any, kind: str) -> Pixels:
        other = self._reformatter.reformat(frame, format=kind, dst_color_range="JPEG")
        pixels = other.to_ndarray()
        return pixels.copy() if other is frame else np.ascontiguousarray(pixels)

    def _widened(self, plane: Pixels) -> Pixels:
        """Bring 16 to 235 to 0 to 255: times 298 / 256 for 255 / 219, so that six of 220 levels are one off."""
        if self._scratch.shape != plane.shape:
            self._scratch = np.empty(plane.shape, dtype=np.uint16)
        widened, scaled = np.clip(plane, 16, 235), self._scratch
        widened -= np.uint8(16)
        np.copyto(scaled, widened)
        scaled *= np.uint16(298)
        scaled += np.uint16(132)
        scaled >>= np.uint16(8)
        np.copyto(widened, scaled, casting="unsafe")
        return widened


def _bits(frame: Any) -> int:
    return max(component.bits for component in frame.format.components)


def _first_plane(frame: Any, bits: int) -> Pixels:
    """A view of the first plane."""
    plane = frame.planes[0]
    order = ">" if frame.format.name.endswith("be") else "<"
    values = np.frombuffer(plane, dtype=np.uint8 if bits <= 8 else f"{order}u2")
    row = plane.line_size // values.itemsize
    return values[: row * frame.height].reshape(frame.height, row)[:, : frame.width]


def _is_full_range(frame: Any) -> bool:
    name = frame.format.name
    return frame.color_range == _FULL or name.startswith("yuvj") or (name.startswith("gray") and frame.color_range == 0)


@cache
def _wide_table(bits: int, full: bool) -> Pixels:
    """For each value of so many bits the one of 16 bits."""
    values = np.arange(1 << bits, dtype=np.float64)
    black, white = (0, (1 << bits) - 1) if full else (16 << (bits - 8), 235 << (bits - 8))
    return np.clip(np.rint((values - black) * (65535 / (white - black))), 0, 65535).astype(np.uint16)
