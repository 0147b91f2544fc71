"""Each event as a film of its own, with some time before and after it."""

from collections import deque
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ...media import MediaError, open_writer
from ...media.background import WritingThread
from ._drawing import Place

MARGIN = 1.0
"""Seconds that a clip begins before its event, and ends after it."""
BACK = 3.0
"""Seconds after which, at the latest, it is known that something was an event."""
MOST_BYTES = 2**28
"""Of frames that are kept for clips that may begin."""
_HAIR = 1e-6
"""Seconds that do not count."""


class Clips:
    """Cuts each event out of a film, as a film of its own in a folder.

    The last frames are kept, as it takes some of them to know that something is an event; of large pictures so few are
    kept that clips may begin later than they should.

    Parameters
    ----------
    folder : Path
        Made if need be; clips are named by number and time of the event, such as event_0002_00h01m12s.mp4.
    rate : float, optional
        Frames in a second.
    """

    def __init__(self, folder: Path, rate: float | None) -> None:
        self.folder, self._rate = folder, rate
        self.n_written = 0
        self._frames: deque[tuple[float, Any]] = deque()
        self._bytes = 0
        self._open: dict[int, _OpenClip] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MediaError(f"{folder} is no folder to write clips to: {error.strerror}.") from error

    def write(self, frame: Any, time: float, sightings: Sequence[Place], going_on: Collection[int]) -> None:
        """Take in a frame.

        Parameters
        ----------
        frame : array or Planes
            The picture.
        time : float
            Its time in seconds.
        sightings : sequence of (int, EventPlace)
            What became known of events with it.
        going_on : collection of int
            The numbers of the events that are not over.
        """
        self._keep(frame, time)
        for number, seen in sightings:
            if number not in self._open:
                path = self.folder / clip_name(number, seen.time)
                self._open[number] = _OpenClip(WritingThread(open_writer(path, rate=self._rate)), seen.time - MARGIN)
            self._open[number].until = seen.time + MARGIN
        for number, clip in list(self._open.items()):
            clip.write(self._frames)
            if number not in going_on and time > clip.until:
                self._finish(number)

    def _keep(self, frame: Any, time: float) -> None:
        self._frames.append((time, frame))
        self._bytes += _size(frame)
        while len(self._frames) > 1 and (self._bytes > MOST_BYTES or self._frames[0][0] < time - BACK - MARGIN):
            self._bytes -= _size(self._frames.popleft()[1])

    def _finish(self, number: int) -> None:
        thread = self._open.pop(number).thread
        thread.close()
        self.n_written += thread.writer.n_written > 0

    def close(self) -> list[MediaError]:
        """Finish all clips, and return why some could not be finished."""
        errors = []
        for number in list(self._open):
            try:
                self._finish(number)
            except MediaError as error:
                errors.append(error)
        return errors


class _OpenClip:
    """A clip that is being written: what of it was, and until when it goes on."""

    def __init__(self, thread: WritingThread, since: float) -> None:
        self.thread, self.until = thread, since
        self._next = since

    def write(self, frames: deque[tuple[float, Any]]) -> None:
        """Write those of the frames that belong to it and were not written yet."""
        for time, frame in frames:
            if self._next - _HAIR <= time <= self.until + _HAIR:
                self.thread.write(partial(_as_it_is, frame), time)
                self._next = time + 2 * _HAIR


def clip_name(number: int, time: float) -> str:
    """The name of the clip of an event that begins at a time."""
    minutes, seconds = divmod(int(time), 60)
    hours, minutes = divmod(minutes, 60)
    return f"event_{number:04d}_{hours:02d}h{minutes:02d}m{seconds:02d}s.mp4"


def _as_it_is(frame: Any) -> Any:
    return frame


def _size(frame: Any) -> int:
    return int(getattr(frame, "values", frame).nbytes)
