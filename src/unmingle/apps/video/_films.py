"""The films that are written beside the separation: views of all frames, and a clip of each event."""

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ...media import MediaError, open_writer
from ...media.background import WritingThread
from ._drawing import Place, with_boxes
from ._separation import Separation
from .events import EventFinder

VIEWS: dict[str, Callable[[Separation, Sequence[Place]], Any]] = {
    "background": lambda found, places: found.background,
    "foreground": lambda found, places: found.foreground,
    "mask": lambda found, places: found.mask,
    "overlay": lambda found, places: with_boxes(found.frame, places, found.time),
}
"""What the films show of a frame, and of the events in it."""


class Films:
    """The films that are written, as far as wanted, each by a thread of its own: the views, and a clip of each event.

    Parameters
    ----------
    paths : mapping of str to Path
        Where to write which of the views, and, by the name "clips", the folder for clips.
    rate : float, optional
        Frames in a second.
    """

    def __init__(self, paths: Mapping[str, Path], rate: float | None) -> None:
        self._threads: dict[str, WritingThread] = {}
        self._clips: Clips | None = None
        self._failed: set[str] = set()
        self.kept: dict[str, Path] = {}
        try:
            for name, path in paths.items():
                if name == "clips":
                    self._clips = Clips(path, rate)
                else:
                    self._threads[name] = WritingThread(open_writer(path, rate=rate))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def write(self, found: Separation, finder: EventFinder) -> None:
        """Write what was found in a frame, soon.

        Parameters
        ----------
        found : Separation
            The frame.
        finder : EventFinder
            Has seen it.
        """
        places = finder.present if "overlay" in self._threads else []
        for name, thread in self._threads.items():
            try:
                thread.write(partial(VIEWS[name], found, places), found.time)
            except MediaError:
                self._failed.add(name)
                raise
        if self._clips is not None:
            self._clips.write(found.frame, found.time, finder.sightings, finder.going_on)

    def close(self) -> list[MediaError]:
        """Finish all films and return why some could not be finished; a film that failed before is left out."""
        errors = []
        for name, thread in self._threads.items():
            try:
                thread.close()
                if thread.writer.n_written and name not in self._failed:
                    self.kept[name] = thread.writer.path
            except MediaError as error:
                if name not in self._failed:
                    errors.append(error)
        self._threads.clear()
        if self._clips is not None:
            errors += self._clips.close()
            if self._clips.n_written:
                self.kept["clips"] = self._clips.folder
        return errors


@dataclass(frozen=True)
class ClipRules:
    """What a clip holds beside its event, and how much is kept for clips that may begin."""

    margin: float = 1.0
    """A clip begins this number of seconds before its event, and ends as much after it."""
    back: float = 3.0
    """It takes at most this number of seconds until it is known that something is an event."""
    most_bytes: int = 2**28
    """At most this number of bytes of frames is kept."""
    hair: float = 1e-6
    """Seconds that do not count."""


CLIPS = ClipRules()


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
                self._open[number] = _OpenClip(
                    WritingThread(open_writer(path, rate=self._rate)), seen.time - CLIPS.margin
                )
            self._open[number].until = seen.time + CLIPS.margin
        for number, clip in list(self._open.items()):
            clip.write(self._frames)
            if number not in going_on and time > clip.until:
                self._finish(number)

    def _keep(self, frame: Any, time: float) -> None:
        self._frames.append((time, frame))
        self._bytes += _size(frame)
        while len(self._frames) > 1 and (
            self._bytes > CLIPS.most_bytes or self._frames[0][0] < time - CLIPS.back - CLIPS.margin
        ):
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
            if self._next - CLIPS.hair <= time <= self.until + CLIPS.hair:
                self.thread.write(partial(_as_it_is, frame), time)
                self._next = time + 2 * CLIPS.hair


def clip_name(number: int, time: float) -> str:
    """The name of the clip of an event that begins at a time."""
    minutes, seconds = divmod(int(time), 60)
    hours, minutes = divmod(minutes, 60)
    return f"event_{number:04d}_{hours:02d}h{minutes:02d}m{seconds:02d}s.mp4"


def _as_it_is(frame: Any) -> Any:
    return frame


def _size(frame: Any) -> int:
    return int(getattr(frame, "values", frame).nbytes)
