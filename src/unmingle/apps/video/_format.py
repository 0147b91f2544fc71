"""What frames of a stream look like, and the row of numbers that each of them is to its background."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..._rules import Count, OneOf
from ..._types import AnyArray, BoolArray, ByteArray
from ..._validation import generator
from ...kernels.video_learning import KNOWN
from ...kernels.video_planes import planes_from_rgb, rgb_from_planes
from ...media import Planes
from ...media.pixels import check_pixels, describe_pixels

Kind = Literal["grey", "colours", "planes"]

PIXEL_TYPES = ("uint8", "uint16", "float32")
"""Types of the numbers of a camera."""
MOST_PIXELS = 20_000
"""Codes are found from at most this number of pixels by default: more hardly tell more about five numbers."""
_SIDE = Count(1, 2**20)


@dataclass(frozen=True)
class FrameFormat:
    """Size and type of all frames of a stream."""

    kind: Annotated[Kind, OneOf("grey", "colours", "planes")]
    """(height, width), (height, width, 3), or `unmingle.media.Planes`."""
    height: Annotated[int, _SIDE]
    width: Annotated[int, _SIDE]
    pixel_type: Annotated[str, OneOf(*PIXEL_TYPES)]
    dtype: np.dtype[Any] = field(init=False, compare=False)
    """The same as a type of NumPy."""
    shape: tuple[int, ...] = field(init=False, compare=False)
    """Of a frame in grey or in red, green and blue."""
    pixels: int = field(init=False, compare=False)
    places: int = field(init=False, compare=False)
    """Numbers of a plane of colour, 0 for grey frames."""
    entries: int = field(init=False, compare=False)
    """Numbers of a row."""
    white: float | None = field(init=False, compare=False)
    """The number that is white, None for fractions."""

    def __post_init__(self) -> None:
        height, width, grey = self.height, self.width, self.kind == "grey"
        places = 0 if grey else ((height + 1) // 2) * ((width + 1) // 2)
        dtype = np.dtype(self.pixel_type)
        derived = {
            "dtype": dtype,
            "shape": (height, width) if grey else (height, width, 3),
            "pixels": height * width,
            "places": places,
            "entries": height * width + 2 * places,
            "white": None if dtype.kind == "f" else float(np.iinfo(dtype).max),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, frame: AnyArray | Planes) -> "FrameFormat":
        """That of a frame."""
        kind: Kind = "planes" if isinstance(frame, Planes) else "grey" if frame.ndim == 2 else "colours"
        return cls(kind, frame.shape[0], frame.shape[1], frame.dtype.name)

    @property
    def words(self) -> str:
        """Size and kind in words."""
        return describe_pixels(np.broadcast_to(self.dtype.type(0), self.shape))

    def fits(self, frame: Any) -> bool:
        """Whether a frame can be taken as it is; fractions are to be checked one by one."""
        if type(frame) is Planes and self.kind == "planes":
            fitting = frame.height == self.height and frame.width == self.width
            frame = frame.values
        else:
            fitting = type(frame) is np.ndarray and frame.shape == self.shape and self.kind != "planes"
        return fitting and frame.dtype == self.dtype and frame.dtype.kind == "u" and frame.flags.carray

    def row(self, frame: AnyArray | Planes) -> AnyArray:
        """The numbers of a frame: its brightness and, of a coloured one, two planes of colour."""
        if isinstance(frame, Planes):
            return frame.values
        if self.kind == "grey":
            return frame.reshape(-1)
        row = np.empty(self.entries, dtype=self.dtype)
        planes_from_rgb(frame.reshape(-1), self.height, self.width, self.white, row)
        return row

    def brightness_of(self, row: AnyArray) -> AnyArray:
        """The brightness of a row, (height, width); a view."""
        return row[: self.pixels].reshape(self.height, self.width)

    def picture_of(self, row: AnyArray) -> Any:
        """A row as a picture of the kind of the frames; red, green and blue are made when the answer is called."""
        if self.kind == "planes":
            return Planes(row, self.height, self.width)
        return row.reshape(self.shape) if self.kind == "grey" else lambda: self._colours(row)

    def _colours(self, row: AnyArray) -> AnyArray:
        pixels = np.empty(self.shape, dtype=self.dtype)
        rgb_from_planes(row, self.height, self.width, self.white, pixels.reshape(-1))
        return pixels


def checked_frame(frame: Any) -> AnyArray | Planes:
    """Return a frame as an array of one piece or as planes, or say what is wrong with it."""
    if isinstance(frame, Planes):
        values = check_pixels(frame.values[None], "The frame").reshape(-1)
        return Planes(values, frame.height, frame.width)
    pixels = check_pixels(frame, "The frame")
    return pixels if pixels.flags.carray else pixels.copy()


def admit_frame(frame: Any, form: FrameFormat | None) -> tuple[AnyArray | Planes, FrameFormat]:
    """Return a frame of the size and type of all frames, and its format, or say what is wrong with it."""
    if form is not None and form.fits(frame):
        return frame, form
    pixels = checked_frame(frame)
    its = FrameFormat.of(pixels)
    if form is not None and its.words != form.words:
        raise ValueError(f"The frame has {its.words}, but the stream began with {form.words}.")
    return pixels, its


def checked_region(region: Any) -> BoolArray:
    """Return a region of interest as flags, or say what is wrong with it."""
    array = np.asarray(region)
    if array.ndim != 2 or array.dtype.kind not in "biuf" or not np.isfinite(array).all():
        raise ValueError(f"region must be an array of flags of shape (height, width), got {array.dtype} {array.shape}.")
    return np.ascontiguousarray(array != 0)


def stride_of_rows(form: FrameFormat) -> int:
    """How far the rows are apart that tell the light of a large picture; 1 for all."""
    return max(1, -(-form.pixels // MOST_PIXELS))


def chosen_pixels(pixels: int, share: float, region: BoolArray | None, seed: int) -> NDArray[np.int32]:
    """Pixels that codes are found from: a share of those of the region, in order; none means all."""
    chosen = np.arange(pixels, dtype=np.int32)
    if region is not None:
        chosen = chosen[region.reshape(-1)]
    if share < 1:
        count = max(min(chosen.size, 200), round(share * chosen.size))
        chosen = np.sort(generator(seed).permutation(chosen)[:count])
    return np.empty(0, dtype=np.int32) if chosen.size == pixels else chosen


def known_pixels(form: FrameFormat, known: Any) -> BoolArray:
    """Return pixels that are known to be foreground as a row of flags, or say what is wrong with them."""
    array, size = np.asarray(known), (form.height, form.width)
    if array.shape != size:
        raise ValueError(f"known_foreground must have the shape of the frames, {size}; got {array.shape}.")
    return array.astype(bool).reshape(-1)


def mark_known(form: FrameFormat, near: ByteArray, known: BoolArray) -> None:
    """Mark known pixels, and the places of colour that belong to them, among those near foreground."""
    near[: form.pixels][known] = KNOWN
    if form.places:
        even = np.pad(known.reshape(form.height, form.width), ((0, form.height % 2), (0, form.width % 2)))
        near[form.pixels :][even.reshape(len(even) // 2, 2, -1, 2).any(axis=(1, 3)).reshape(-1)] = KNOWN
