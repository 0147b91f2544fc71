"""Where results of a film go: films, events, a report and the stream itself."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...store import StoreError, write_atomically
from ._events import write_events
from ._films import CLIPS, VIEWS
from ._report import report_page
from ._watched import Watched


@dataclass(frozen=True)
class Outputs:
    """Where results go, as far as wanted; every path may be a string."""

    background: Any = None
    foreground: Any = None
    mask: Any = None
    overlay: Any = None
    """The film with the boxes of events, their numbers, and the time."""
    clips: Any = None
    """A folder for a film of each event."""
    events: Any = None
    boxes: Any = None
    """A table of where each event is, frame by frame."""
    report: Any = None
    model: Any = None
    """The stream itself; one that was frozen from the start is as it was, and not written."""

    def wanted(self) -> dict[str, Path]:
        """The results that are wanted."""
        return {name: Path(path) for name, path in asdict(self).items() if path is not None}

    def films(self) -> dict[str, Path]:
        """The films among them."""
        return {name: path for name, path in self.wanted().items() if name in (*VIEWS, CLIPS)}


def write_results(outputs: Outputs, watched: Watched, keep_model: bool) -> None:
    """Write all but the films; a failure of one is kept, and does not keep the others from being written."""
    ways: dict[str, Callable[[Path], None]] = {
        "events": lambda path: _write_events(path, watched),
        "report": lambda path: _write_text(path, report_page(watched)),
    }
    if keep_model:
        ways["model"] = watched.stream.save
    for result, path in outputs.wanted().items():
        if result not in ways:
            continue
        try:
            ways[result](path)
            watched.written[result] = path
        except (StoreError, OSError) as error:
            watched.failures.append(error)


def _write_events(path: Path, watched: Watched) -> None:
    """A table, or a document with the places of the events."""
    if path.suffix.lower() != ".json":
        write_events(path, watched.finder.rows())
        return
    started = None if watched.started is None else watched.started.isoformat(timespec="milliseconds")
    told = {"film": watched.name, "start_time": started, "events": watched.event_list}
    _write_text(path, json.dumps(told, indent=2))


def _write_text(path: Path, text: str) -> None:
    with write_atomically(path) as aside:
        aside.write_text(text, encoding="utf-8")
