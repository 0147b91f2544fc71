"""What all writers of frames have in common: checks, times, temporary names, and keeping what is complete."""

import math
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from numpy.typing import ArrayLike

from .._atomic_files import Hold
from ._files import unwritable_in_words
from .errors import MediaError, cause
from .frames import IMAGE_RATE
from .pixels import Pixels, check_pixels, describe_pixels
from .planes import Planes

_SMALLEST_STEP = 1e-5
"""Seconds from one frame to the next, at least."""


class Kept(NamedTuple):
    """What is kept of a file that could not be completed."""

    path: Path
    n_frames: int | None
    """How many frames it contains, as far as known."""


class FrameWriter(ABC):
    """Writes frames of one size one after the other; used in a with statement, or closed at the end.

    The file has a temporary name until it is closed. It is also closed when the with statement is left by an error, so
    that finished parts are kept; without any frame no file is left. If the disk is full or writing fails for another
    reason, what was complete is kept where that is possible; the error says where, and how many frames.

    Attributes
    ----------
    path : Path
        The file or folder.
    n_written : int
        How many frames were written.
    """

    def __init__(self, path: Path, rate: float | None) -> None:
        self.path, self.n_written = path, 0
        self._rate = rate or IMAGE_RATE
        self._kind: str | None = None
        self._start, self._last = 0.0, -math.inf
        self._closed = False
        self._claim = Hold(None)
        try:
            with unwritable_in_words(path):
                self._open()
        except MediaError:
            self._claim.release()
            raise

    _takes_planes = False

    def write(self, pixels: ArrayLike | Planes, time: float | None = None) -> None:
        """Write a frame.

        Parameters
        ----------
        pixels : array of shape (height, width) or (height, width, 3), or Planes
            Booleans, black and white; uint8; uint16, of which videos keep the upper 8 bits; or floating-point numbers
            from 0 to 1, of which videos and images keep 8 bits.
        time : float, optional
            Seconds; by default, frames follow each other at the rate that the writer was opened with. A time that is
            not after the one before is taken as a little after it.

        Raises
        ------
        MediaError
            The frame is unlike the first one, or the file cannot be written.
        """
        if self._closed:
            raise MediaError(f"{self.path.name} is closed; frames must be written before that.")
        if isinstance(pixels, Planes) and not self._takes_planes:
            pixels = pixels.to_rgb()
        name = f"Frame {self.n_written + 1} for {self.path.name}"
        picture: Any = pixels if isinstance(pixels, Planes) else check_pixels(pixels, name)
        kind = describe_pixels(picture)
        if self._kind is not None and kind != self._kind:
            raise MediaError(
                f"{self.path.name} contains {self._kind}, but a frame has {kind}; write it to another file."
            )
        seconds = self._time(time)
        try:
            if self._kind is None:
                self._begin(picture)
                self._kind = kind
            self._add(picture, seconds)
        except OSError as error:
            self._closed = True
            raise self._failed(error) from error
        self.n_written += 1

    def _time(self, time: float | None) -> float:
        """Seconds since the first frame."""
        if time is None:
            since = self.n_written / self._rate
        else:
            self._start = time if self.n_written == 0 else self._start
            since = float(time) - self._start
        if not math.isfinite(since):
            raise MediaError(f"Frame {self.n_written + 1} for {self.path.name} has the time {time}; expected seconds.")
        self._last = max(since, self._last + _SMALLEST_STEP)
        return self._last

    def close(self) -> None:
        """Finish the file and give it its name.

        Raises
        ------
        MediaError
            The file cannot be finished.
        """
        if self._closed:
            return
        self._closed = True
        try:
            if self.n_written:
                self._finish()
            else:
                self._discard()
        except OSError as error:
            raise self._failed(error) from error
        finally:
            self._claim.release()

    def _failed(self, error: OSError) -> MediaError:
        """What to tell of a failure, once what was complete is safe."""
        try:
            return MediaError(_sentence_unwritable(self.path, error, self._salvage()))
        finally:
            self._claim.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            with suppress(MediaError):
                self.close()

    @abstractmethod
    def _open(self) -> None:
        """Make sure that the place can be written to, and hold it."""

    @abstractmethod
    def _begin(self, first: Pixels) -> None:
        """Prepare for frames like the first."""

    @abstractmethod
    def _add(self, pixels: Pixels, time: float) -> None:
        """Write a frame that was checked."""

    @abstractmethod
    def _finish(self) -> None:
        """Complete what was written and give it its name."""

    @abstractmethod
    def _discard(self) -> None:
        """Leave nothing behind."""

    @abstractmethod
    def _salvage(self) -> Kept | None:
        """After a failure, keep what was complete and say where, or leave nothing behind."""


def _sentence_unwritable(path: Path, error: OSError, kept: Kept | None) -> str:
    end = ""
    if kept:
        n = kept.n_frames
        complete = "what was complete" if n is None else "the first frame" if n == 1 else f"the first {n} frames"
        end = f"; {complete} {'is' if n in (None, 1) else 'are'} kept in {kept.path}"
    return f"{path} cannot be written: {cause(error)}{end}."
