"""Results of a film on their way to files: films, boxes, events, a report and the stream itself."""

import csv
import heapq
import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ...store import StoreError, write_atomically
from ._drawing import Place
from ._report import report_page
from ._result import Result
from .events import EVENTS, write_events
from .settings import Outputs

BOX_COLUMNS = ("frame", "time", "event", "left", "top", "right", "bottom", "regions")


class BoxTable:
    """Writes where events are as it becomes known, by frame and event.

    Rows wait for as many frames as it may take until something is known to be an event, so memory does not grow with
    the film. A failure is kept, and what comes after it is not written.

    Parameters
    ----------
    path : Path
        The .csv file, which is written under a temporary name until it is closed.

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
        temporary = self._opened.enter_context(write_atomically(path))
        self._file = self._opened.enter_context(temporary.open("w", newline="", encoding="utf-8"))
        self._writer: Any = csv.writer(self._file, lineterminator="\n")
        self._writer.writerow(BOX_COLUMNS)

    def add(self, frame: int, sightings: Sequence[Place]) -> None:
        """Take in what became known with a frame."""
        for event, seen in sightings:
            row = (seen.frame, f"{seen.time:.3f}", event, *seen[2:6], "; ".join(seen.regions))
            heapq.heappush(self._waiting, (seen.frame, event, row))
        self._write(frame - EVENTS.most_pending)

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


def write_results(outputs: Outputs, result: Result, keep_model: bool) -> None:
    """Write all but the films; a failure of one is kept, and does not keep the others from being written."""
    ways: dict[str, Callable[[Path], None]] = {
        "events": lambda path: _write_events(path, result),
        "report": lambda path: _write_text(path, report_page(result)),
    }
    if keep_model:
        ways["model"] = result.stream.save
    for name, path in outputs.wanted().items():
        if name not in ways:
            continue
        try:
            ways[name](path)
            result.written[name] = path
        except (StoreError, OSError) as error:
            result.failures.append(error)


def _write_events(path: Path, result: Result) -> None:
    """A table, or a document with the places of the events."""
    if path.suffix.lower() != ".json":
        write_events(path, result.finder.rows())
        return
    started = None if result.started is None else result.started.isoformat(timespec="milliseconds")
    document = {"film": result.name, "start_time": started, "events": result.event_list}
    _write_text(path, json.dumps(document, indent=2))


def _write_text(path: Path, text: str) -> None:
    with write_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
