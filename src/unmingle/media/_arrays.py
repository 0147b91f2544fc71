"""Arrays, in memory or in files of NumPy, to frames."""

import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import MediaError, cause
from ._relay import Frame
from ._source import FrameSource

IMAGE_RATE = 25.0
"""Pictures that carry no time follow each other at so many in a second."""


def from_array(frames: NDArray[Any], name: str, colour: bool, live: bool) -> FrameSource:
    """Frames of an array of shape (n, height, width) or (n, height, width, 3)."""
    _check_shape(frames.shape, name)
    return FrameSource(
        lambda stop: timed(frames),
        name=name,
        colour=colour,
        rate=IMAGE_RATE,
        n_frames=len(frames),
        live=live,
        ahead=False,
    )


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    if len(shape) not in (3, 4) or 0 in shape:
        raise MediaError(f"{name} has shape {shape}; expected (frames, height, width) or (frames, height, width, 3).")


def timed(items: Iterable[Any]) -> Iterator[Frame]:
    """Pictures with their times, those that are given or 25 in a second; each is copied, for the giver may reuse it."""
    start: float | None = None
    for number, item in enumerate(items):
        is_pair = isinstance(item, tuple) and len(item) == 2 and np.ndim(item[0]) == 0
        time, pixels = item if is_pair else (number / IMAGE_RATE, item)
        start = float(time) if start is None else start
        yield Frame(float(time) - start, np.array(pixels))


def from_numpy_file(path: Path, colour: bool, live: bool) -> FrameSource:
    """Frames of a .npy or .npz file, which is never read as a whole."""
    try:
        if path.suffix.lower() == ".npy":
            return from_array(np.load(path, mmap_mode="r", allow_pickle=False), path.name, colour, live)
        return _from_archive(path, colour, live)
    except MediaError:
        raise
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise MediaError(f"{path.name} cannot be read: {_why(error)}.") from error


def _why(error: BaseException) -> str:
    return cause(error) if isinstance(error, OSError) and error.strerror else "it is damaged or holds no numbers"


def _from_archive(path: Path, colour: bool, live: bool) -> FrameSource:
    with zipfile.ZipFile(path) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
        if "frames" not in names and len(names) != 1:
            raise MediaError(
                f"{path.name} holds {', '.join(names) or 'no arrays'}; expected one array, or one named frames."
            )
        member = "frames.npy" if "frames" in names else f"{names[0]}.npy"
        with archive.open(member) as file:
            shape, dtype = _header(file, path.name)
    _check_shape(shape, path.name)
    times = _stored_times(path, shape[0]) if "times" in names else None
    span = float(times[-1] - times[0]) if times is not None else 0.0
    return FrameSource(
        lambda stop: timed(_rows(path, member, shape, dtype, times)),
        name=path.name,
        colour=colour,
        rate=(shape[0] - 1) / span if span > 0 else IMAGE_RATE,
        n_frames=shape[0],
        live=live,
    )


def _header(file: Any, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_columns, dtype = read(file)
    if by_columns or dtype.hasobject:
        raise MediaError(f"{name} must hold frames of numbers, stored by rows; save them with numpy.ascontiguousarray.")
    return shape, dtype


def _stored_times(path: Path, n_frames: int) -> NDArray[np.float64]:
    with np.load(path, allow_pickle=False) as arrays:
        times = np.asarray(arrays["times"], dtype=np.float64)
    if times.shape != (n_frames,) or not np.isfinite(times).all():
        raise MediaError(f"{path.name} holds times of shape {times.shape}; expected one number for each frame.")
    return times


def _rows(
    path: Path, member: str, shape: tuple[int, ...], dtype: np.dtype[Any], times: NDArray[np.float64] | None
) -> Iterator[Any]:
    n_bytes = int(np.prod(shape[1:])) * dtype.itemsize
    try:
        with zipfile.ZipFile(path) as archive, archive.open(member) as file:
            _header(file, path.name)
            for number in range(shape[0]):
                content = file.read(n_bytes)
                if len(content) < n_bytes:
                    raise EOFError
                pixels = np.frombuffer(content, dtype=dtype).reshape(shape[1:])
                yield pixels if times is None else (times[number], pixels)
    except (OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
        raise MediaError(f"{path.name} cannot be read: {_why(error)}.") from error
