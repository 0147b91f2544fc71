"""The films that are written beside the separation."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ...media import MediaError, open_writer
from ...media.background import WritingThread
from ._clips import Clips
from ._drawing import Place, with_boxes
from ._events import EventFinder
from ._result import Separation

CLIPS = "clips"

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
                if name == CLIPS:
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
        places = finder.present
        for name, thread in self._threads.items():
            try:
                thread.write(partial(VIEWS[name], found, places), found.time)
            except MediaError:
                self._failed.add(name)
                raise
        if self._clips is not None:
            self._clips.write(found.frame, found.time, finder.sightings, finder.going_on)

    def close(self) -> list[MediaError]:
        """Finish all films and return why some could not be finished; a film that failed before is not told again."""
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
                self.kept[CLIPS] = self._clips.folder
        return errors
