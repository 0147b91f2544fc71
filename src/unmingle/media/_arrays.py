"""Arrays, in memory or in files of NumPy, to frames."""

import math
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from .._numpy_files import (
    ArrayHeader,
    DamagedError,
    damage_as_error,
    map_npy,
    npz_header,
    npz_names,
    read_header,
    read_npz,
)
from .._types import AnyArray, Float64Array
from .errors import MediaError, cause
from .frames import IMAGE_RATE, Colour, Frame, FrameSource
from .pixels import check_extent

_MAX_TIMES = 2**25
"""Frames whose times are read, at most: those of two weeks at 25 in a second."""
_MAX_NAMED = 10
"""Arrays of a file that an error names, at most."""


def from_array(frames: AnyArray, name: str, colour: Colour, live: bool) -> FrameSource:
    """Frames of an array of shape (n, height, width) or (n, height, width, 3)."""
    _check_shape(frames.shape, name)
    return FrameSource(
        lambda stop: add_times(frames),
        name=name,
        colour=colour,
        rate=IMAGE_RATE,
        n_frames=len(frames),
        live=live,
        ahead=False,
        untimed=True,
    )


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    if len(shape) not in (3, 4) or 0 in shape:
        raise MediaError(f"{name} has shape {shape}; expected (frames, height, width) or (frames, height, width, 3).")


def _check_frames(shape: tuple[int, ...], name: str) -> None:
    """Raise an error if single frames of a file would take all memory."""
    if len(shape) in (3, 4):
        check_extent(f"Each frame of {name}", *shape[1:])


def add_times(items: Iterable[Any], *, copy: bool = True) -> Iterator[Frame]:
    """Pictures with their times, those that are given or 25 in a second; copied if the giver may use them again."""
    start: float | None = None
    for number, item in enumerate(items):
        is_pair = isinstance(item, tuple) and len(item) == 2 and np.ndim(item[0]) == 0
        time, pixels = item if is_pair else (number / IMAGE_RATE, item)
        start = float(time) if start is None else start
        yield Frame(float(time) - start, np.array(pixels) if copy else pixels)


def from_numpy_file(path: Path, colour: Colour, live: bool) -> FrameSource:
    """Frames of a .npy or .npz file, which is never read as a whole."""
    try:
        if path.suffix.lower() == ".npy":
            frames = map_npy(path)
            _check_frames(frames.shape, path.name)
            return from_array(frames, path.name, colour, live)
        return _from_archive(path, colour, live)
    except (OSError, DamagedError) as error:
        raise MediaError(f"{path.name} cannot be read: {_why(error)}.") from error


def _why(error: BaseException) -> str:
    return cause(error) if isinstance(error, OSError) and error.strerror else "it is damaged or contains no numbers"


def _from_archive(path: Path, colour: Colour, live: bool) -> FrameSource:
    names = npz_names(path)
    if "frames" not in names and len(names) != 1:
        found = ", ".join(names[:_MAX_NAMED]) or "no arrays"
        raise MediaError(f"{path.name} contains {found}; expected one array, or one named frames.")
    name = "frames" if "frames" in names else names[0]
    header = npz_header(path, name)
    if header.by_columns or header.dtype.kind not in "biufc":
        raise MediaError(
            f"{path.name} must hold frames of numbers, stored by rows; save them with numpy.ascontiguousarray."
        )
    _check_shape(header.shape, path.name)
    _check_frames(header.shape, path.name)
    n_frames = header.shape[0]
    times = _read_times(path, n_frames) if "times" in names else None
    span = float(times[-1] - times[0]) if times is not None else 0.0
    return FrameSource(
        lambda stop: add_times(_iterate_rows(path, name, header, times)),
        name=path.name,
        colour=colour,
        rate=(n_frames - 1) / span if 0 < span < math.inf else IMAGE_RATE,
        n_frames=n_frames,
        live=live,
        untimed=times is None,
    )


def _read_times(path: Path, n_frames: int) -> Float64Array:
    header = npz_header(path, "times")
    if header.shape != (n_frames,) or n_frames > _MAX_TIMES or header.dtype.kind not in "biuf":
        raise MediaError(f"{path.name} contains times of shape {header.shape}; expected one number for each frame.")
    times = np.asarray(read_npz(path, "times"), dtype=np.float64)
    if not np.isfinite(times).all():
        raise MediaError(f"{path.name} contains times that are not numbers; expected one number for each frame.")
    return times


def _iterate_rows(path: Path, name: str, header: ArrayHeader, times: Float64Array | None) -> Iterator[Any]:
    """The frames one by one, and their times where there are some."""
    n_bytes = header.n_bytes // header.shape[0]
    with ExitStack() as opened:
        try:
            with damage_as_error():
                file = opened.enter_context(opened.enter_context(zipfile.ZipFile(path)).open(f"{name}.npy"))
            read_header(file)
            for number in range(header.shape[0]):
                with damage_as_error():
                    content = file.read(n_bytes)
                    pixels = np.frombuffer(content, dtype=header.dtype).reshape(header.shape[1:])
                yield pixels if times is None else (times[number], pixels)
        except (OSError, DamagedError) as error:
            raise MediaError(f"{path.name} cannot be read: {_why(error)}.") from error
