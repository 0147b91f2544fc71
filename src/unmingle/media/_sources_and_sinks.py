"""Where frames come from and go to: files, folders, arrays, addresses, cameras, by their names."""

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from io import FileIO
from os import PathLike, fspath
from pathlib import Path
from select import select
from threading import Event
from typing import Any, TextIO

import numpy as np

from .._validation import check_positive, is_missing
from ._arrays import add_times, from_array, from_numpy_file
from ._frame_writer import FrameWriter
from ._live import hide_password, is_always_live, open_camera, open_stream
from ._read_video import open_video, read_frames
from ._write_files import ArrayWriter, FolderWriter
from ._write_video import FORMATS, VideoWriter
from .errors import MediaError, cause
from .frames import IMAGE_RATE, Colour, Frame, FrameSource
from .images import IMAGE_SUFFIXES, image_paths, iterate_images

_FILMS = frozenset({".gif", ".webp"})
"""Image files that may hold a film."""
_SCHEMES = ("rtsp", "rtsps", "rtmp", "http", "https", "udp", "tcp")


def open_frames(
    source: Any, *, colour: Colour = False, live: bool = False, timeout: float = 10.0, rate: float | None = None
) -> FrameSource:
    """Open whatever gives pictures one after the other.

    Times are those of the source, so a variable frame rate is kept; images and arrays have none and count as 25 in a
    second. Grey values are the luma of videos, brought to the full range from black to white, and
    0.299 R + 0.587 G + 0.114 B of other colours. Frames have memory of their own. Videos and folders are read ahead in
    a thread, which ends when the source is closed.

    Parameters
    ----------
    source : path, str, int, array or iterable
        A video file, an image, or a folder of images in the order of the numbers in their names; a .npy or .npz file
        with an array of shape (n, height, width) or (n, height, width, 3), in .npz the only one or the one named
        "frames"; "-" for a video at standard input; an address that begins with rtsp://, rtsps://, rtmp://, http://,
        https://, udp:// or tcp://; a camera as its number, "camera:0" or "/dev/video0"; an array of frames; or an
        iterable of frames or of pairs of time and frame.
    colour : bool or "planes", default=False
        Give red, green and blue where the source has colours; what is grey stays (height, width) all the same. With
        "planes" videos give `Planes`, as they are coded, in 8 bits: half the numbers.
    live : bool, default=False
        Keep only the newest frame while the consumer is busy, and connect again when a connection breaks. Cameras and
        addresses of rtsp, rtmp and udp are always live.
    timeout : float, default=10
        Seconds to wait for an address or a camera.
    rate : float, optional
        Pictures in a second, for folders, images and arrays, which carry no times; 25 by default.

    Returns
    -------
    FrameSource
        An iterator of frames, to be closed or used in a with statement.

    Raises
    ------
    MediaError
        The source is missing or gives no pictures. While it is read: a frame is of another kind than the first, or,
        after the last readable frame, the file is cut off or damaged (IncompleteError).

    Examples
    --------
    >>> with open_frames(np.zeros((2, 3, 4), dtype=np.uint8)) as frames:
    ...     [(frame.time, frame.pixels.shape) for frame in frames]
    [(0.0, (3, 4)), (0.04, (3, 4))]
    """
    check_positive(timeout, "timeout")
    opened = _open_source(source, colour, live, timeout)
    if rate is not None:
        opened.retime(check_positive(rate, "rate"))
    return opened


def _open_source(source: Any, colour: Colour, live: bool, timeout: float) -> FrameSource:
    match source:
        case bool():
            pass
        case int() | np.integer():
            return open_camera(int(source), colour, timeout)
        case np.ndarray():
            return from_array(source, "the array", colour, live)
        case str() | PathLike():
            return _from_name(fspath(source), colour, live, timeout)
        case Iterable():
            return FrameSource(lambda stop: add_times(source), name="the source", colour=colour, live=live, ahead=False)
    raise MediaError(f"A source of frames must be a path, an address, a camera or arrays, got {source!r}.")


def _from_name(name: str, colour: Colour, live: bool, timeout: float) -> FrameSource:
    scheme = name.partition("://")[0].lower() if "://" in name else ""
    if name == "-":
        return _from_standard_input(colour, live)
    if scheme in _SCHEMES:
        if live or is_always_live(scheme):
            return open_stream(name, colour, timeout)
        return _from_video(name, hide_password(name), colour, live, timeout=timeout)
    if name.startswith(("camera:", "/dev/video")):
        return open_camera(name, colour, timeout)
    if scheme and not Path(name).exists():
        known = ", ".join(f"{scheme}://" for scheme in _SCHEMES)
        raise MediaError(f"{name} cannot be opened; expected a file, a folder, or an address of {known}.")
    try:
        return _from_path(Path(name), colour, live)
    except OSError as error:
        raise MediaError(f"{name} cannot be read: {cause(error)}.") from error


def _from_path(path: Path, colour: Colour, live: bool) -> FrameSource:
    if path.is_dir():
        return _from_images(image_paths(path), path.name or str(path), colour, live)
    if not path.exists():
        raise MediaError(f"{path} {is_missing(path)}; check its name.")
    if path.is_file() and path.stat().st_size == 0:
        raise MediaError(f"{path.name} is empty: it has 0 bytes.")
    suffix = path.suffix.lower()
    if suffix in (".npy", ".npz"):
        return from_numpy_file(path, colour, live)
    if suffix in IMAGE_SUFFIXES - _FILMS:
        return _from_images([path], path.name, colour, live)
    return _from_video(f"file:{path}", path.name, colour, live)


def _from_video(place: Any, name: str, colour: Colour, live: bool, timeout: float | None = None) -> FrameSource:
    video = open_video(place, name, timeout=timeout, in_order=timeout is not None)
    facts: dict[str, Any] = {"rate": video.rate, "n_frames": video.n_frames, "start_time": video.start_time}
    return FrameSource(lambda stop: read_frames(video, colour, stop), name=name, colour=colour, live=live, **facts)


def _from_images(paths: list[Path], name: str, colour: Colour, live: bool) -> FrameSource:
    def frames(stop: Event) -> Iterator[Frame]:
        return add_times(iterate_images(paths, colour), copy=False)

    facts: dict[str, Any] = {"rate": IMAGE_RATE, "n_frames": len(paths), "untimed": True}
    return FrameSource(frames, name=name, colour=colour, live=live, **facts)


def _from_standard_input(colour: Colour, live: bool) -> FrameSource:
    if sys.stdin is None or sys.stdin.isatty():
        raise MediaError("Standard input gives no video; send one into it, such as: unmingle ... - < street.mkv")
    file = _open_regular_file(sys.stdin)
    if file is not None:
        return _from_video(file, "standard input", colour, live)
    pipe = _Pipe(sys.stdin)
    video = open_video(pipe, "standard input", in_order=True)

    def frames(stop: Event) -> Iterator[Frame]:
        pipe.stop = stop
        return read_frames(video, colour, stop)

    return FrameSource(frames, name="standard input", colour=colour, rate=video.rate, live=live)


def _open_regular_file(stream: TextIO) -> FileIO | None:
    """The file that a stream reads from its beginning, in which one can go back; None if it is no such file."""
    try:
        descriptor = stream.fileno()
        if not stat.S_ISREG(os.fstat(descriptor).st_mode) or os.lseek(descriptor, 0, os.SEEK_CUR) != 0:
            return None
    except (OSError, ValueError):
        return None
    return FileIO(descriptor, closefd=False)


def open_writer(path: str | PathLike[str], *, rate: float | None = None) -> FrameWriter:
    """Open a file or folder to write frames to, by its suffix.

    Parameters
    ----------
    path : path
        .mp4, .m4v, .mov or .mkv for a video of H.264, whose size is made even by repeating the edge; .npz for the
        compressed arrays "frames" and "times"; without a suffix, a new or empty folder for images frame_000001.png,
        frame_000002.png and so on.
    rate : float, optional
        Frames in a second, for frames that are written without their time; 25 by default.

    Returns
    -------
    FrameWriter
        To be closed, or used in a with statement.

    Raises
    ------
    MediaError
        There is no such kind of file, or it cannot be written.
    """
    target = Path(fspath(path))
    if rate is not None:
        check_positive(rate, "rate")
    suffix = target.suffix.lower()
    if suffix in FORMATS:
        return VideoWriter(target, rate)
    if suffix == ".npz":
        return ArrayWriter(target, rate)
    if not suffix:
        return FolderWriter(target, rate)
    kinds = ", ".join(sorted(FORMATS))
    raise MediaError(
        f"{target} cannot be written: videos are {kinds}, arrays .npz; a name without a suffix is a folder of images."
    )


class _Pipe:
    """Bytes as they come, without the locks of Python's buffers, which a waiting thread would never give back."""

    name = "standard input"

    def __init__(self, stream: TextIO) -> None:
        self.stop = Event()
        self._buffer = stream.buffer
        try:
            self._descriptor: int | None = self._buffer.fileno()
        except (OSError, ValueError):
            self._descriptor = None

    def read(self, n: int) -> bytes:
        """At most n bytes, none at the end."""
        if self._descriptor is None:
            return bytes(self._buffer.read(n))
        while os.name == "posix" and not self.stop.is_set():
            if select([self._descriptor], [], [], 0.2)[0]:
                break
        return b"" if self.stop.is_set() else os.read(self._descriptor, n)
