"""The table of boxes: where each event is, frame by frame."""

import csv
import heapq
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ...store import StoreError, write_atomically
from ._drawing import Place
from ._events import MOST_PENDING

HEAD = ("frame", "time", "event", "left", "top", "right", "bottom", "regions")


class BoxTable:
    """Writes where events are as it becomes known, by frame and event.

    Rows wait for as many frames as it may take until something is known to be an event, so memory does not grow with
    the film. A failure is kept, and what comes after it is not written.

    Parameters
    ----------
    path : Path
        The .csv file, which is written aside until it is closed.

    Attributes
    ----------
    error : StoreError or None
        Why it could not be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.error: StoreError | None = None
        self._waiting: list[tuple[int, int, tuple[Any, ...]]] = []
        self._opened = ExitStack()
        aside = self._opened.enter_context(write_atomically(path))
        self._file = self._opened.enter_context(aside.open("w", newline="", encoding="utf-8"))
        self._writer: Any = csv.writer(self._file, lineterminator="\n")
        self._writer.writerow(HEAD)

    def add(self, frame: int, sightings: Sequence[Place]) -> None:
        """Take in what became known with a frame."""
        for event, seen in sightings:
            row = (seen.frame, f"{seen.time:.3f}", event, *seen[2:6], "; ".join(seen.regions))
            heapq.heappush(self._waiting, (seen.frame, event, row))
        self._write(frame - MOST_PENDING)

    def _write(self, until: float) -> None:
        try:
            while self._waiting and self._waiting[0][0] <= until and self.error is None:
                self._writer.writerow(heapq.heappop(self._waiting)[2])
        except OSError as error:
            self._end(type(error), error, error.__traceback__)

    def _end(self, *failure: Any) -> None:
        """Close the file; it takes its name only if nothing has failed."""
        try:
            self._opened.__exit__(*failure)
        except StoreError as error:
            self.error = error

    def close(self) -> None:
        """Write what waits, and give the file its name."""
        self._write(float("inf"))
        if self.error is None:
            self._end(None, None, None)
