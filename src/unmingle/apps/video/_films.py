"""The films that are written beside the separation: background, foreground and mask."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ...media import MediaError, WritingThread, open_writer
from ._result import Separation

VIEWS: dict[str, Callable[[Separation], Any]] = {
    "background": lambda found: found.background,
    "foreground": lambda found: found.foreground,
    "mask": lambda found: found.mask,
}
"""What the films show of a frame."""


class Films:
    """The films that are written: background, foreground and mask, as far as wanted, each by a thread of its own.

    Parameters
    ----------
    paths : mapping of str to Path
        Where to write which of them.
    rate : float, optional
        Frames in a second.
    """

    def __init__(self, paths: Mapping[str, Path], rate: float | None) -> None:
        self._threads: dict[str, WritingThread] = {}
        self._failed: set[str] = set()
        self.kept: dict[str, Path] = {}
        try:
            for name, path in paths.items():
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

    def write(self, found: Separation) -> None:
        """Write what was found in a frame, soon."""
        for name, thread in self._threads.items():
            try:
                thread.write(partial(VIEWS[name], found), found.time)
            except MediaError:
                self._failed.add(name)
                raise

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
        return errors
