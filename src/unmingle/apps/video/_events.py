"""When something was in front of the background: the events of a film."""

import csv
import json
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from statistics import median
from typing import Any

from ...store import write_atomically
from ._result import Separation

LEAST_FRAMES = 3
"""What is there for fewer frames is no event."""
LEAST_GAP = 1.5
"""Steps from frame to frame; an event goes on for so long whatever the gap is."""
COUNTING = ("watching", "frozen")
"""States in which foreground counts; while the scene changes as a whole it says little."""


_LAST_STEPS = 25
"""How many of the last steps tell what is typical."""


class FrameStep:
    """How far the frames of a film are apart: the median of the last steps, so that a single gap does not count.

    Parameters
    ----------
    rate : float, optional
        Frames in a second, for as long as there is one frame only.
    """

    def __init__(self, rate: float | None = None) -> None:
        self._steps: deque[float] = deque(maxlen=_LAST_STEPS)
        self._last: float | None = None
        self._first = 1.0 / rate if rate else 0.0

    def add(self, time: float) -> None:
        """Take in the time of the next frame."""
        if self._last is not None:
            self._steps.append(max(0.0, time - self._last))
        self._last = time

    @property
    def typical(self) -> float:
        """Seconds from one frame to the next."""
        return median(self._steps) if self._steps else self._first


@dataclass
class Event:
    """A stretch of a film with foreground; times in seconds, frames counted from 0, and a box around all of it.

    It ends when its last frame does.
    """

    start: float
    end: float
    first_frame: int
    last_frame: int
    peak_share: float
    peak_time: float
    left: int
    top: int
    right: int
    bottom: int

    @classmethod
    def begin(cls, number: int, found: Separation, step: float = 0.0) -> "Event":
        """Start an event with a frame, which lasts for a step."""
        boxes, time = found.boxes, found.time
        sides = (min(box.left for box in boxes), min(box.top for box in boxes))
        other = (max(box.right for box in boxes), max(box.bottom for box in boxes))
        return cls(time, time + step, number, number, found.score, time, *sides, *other)

    def extend(self, later: "Event") -> None:
        """Take in what came later."""
        self.end, self.last_frame = later.end, later.last_frame
        if later.peak_share > self.peak_share:
            self.peak_share, self.peak_time = later.peak_share, later.peak_time
        self.left, self.top = min(self.left, later.left), min(self.top, later.top)
        self.right, self.bottom = max(self.right, later.right), max(self.bottom, later.bottom)

    def row(self, number: int) -> dict[str, Any]:
        """What a table of events says about it."""
        values = {name: round(value, 5 if "share" in name else 3) for name, value in asdict(self).items()}
        start, end = values.pop("start"), values.pop("end")
        return {"event": number, "start": start, "end": end, "duration": round(end - start, 3), **values}


COLUMNS = tuple(Event(0.0, 0.0, 0, 0, 0.0, 0.0, 0, 0, 0, 0).row(1))


class EventFinder:
    """Finds events frame by frame.

    Parameters
    ----------
    gap : float
        Seconds without foreground after which an event is over; at least one and a half steps from frame to frame.
    rate : float, optional
        Frames in a second, as far as it is known.
    """

    def __init__(self, gap: float, rate: float | None = None) -> None:
        self.gap = gap
        self.events: list[Event] = []
        self._open: Event | None = None
        self._frames = 0
        self._seen = 0.0
        self._step = FrameStep(rate)

    def push(self, number: int, found: Separation) -> None:
        """Look at the next frame."""
        self._step.add(found.time)
        step = self._step.typical
        if self._open is not None and found.time - self._seen > max(self.gap, LEAST_GAP * step):
            self.close()
        if not found.boxes or found.score <= 0.0 or found.state not in COUNTING:
            return
        self._seen = found.time
        news = Event.begin(number, found, step)
        if self._open is None:
            self._open, self._frames = news, 1
        else:
            self._open.extend(news)
            self._frames += 1

    def close(self) -> None:
        """End the event that goes on, if any."""
        if self._open is not None and self._frames >= LEAST_FRAMES:
            self.events.append(self._open)
        self._open = None

    def rows(self) -> list[dict[str, Any]]:
        """All events that are over, as rows of a table."""
        return [event.row(number) for number, event in enumerate(self.events, start=1)]


def write_events(path: str | PathLike[str], rows: Sequence[dict[str, Any]]) -> None:
    """Write events as .json or, with any other suffix, as .csv."""
    with write_atomically(path) as aside, aside.open("w", newline="", encoding="utf-8") as file:
        if Path(path).suffix.lower() == ".json":
            json.dump(list(rows), file, indent=2)
            return
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([_cell(name, value) for name, value in row.items()] for row in rows)


def _cell(name: str, value: Any) -> str:
    if isinstance(value, int):
        return str(value)
    return f"{value:.5f}" if "share" in name else f"{value:.3f}"
