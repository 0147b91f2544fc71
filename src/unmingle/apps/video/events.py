"""When something was in front of the background: the events of a film."""

import csv
from array import array
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from os import PathLike
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from ..._types import BoolArray
from ...store import write_atomically
from ._objects import FollowedObject, ObjectFollower, likeness
from ._separation import Separation


@dataclass(frozen=True)
class EventRules:
    """When something that is followed is an event, and when it is over.

    Held to the objects of films with known truth: `python -m lab film-events`.
    """

    least_frames: int = 3
    """What is seen in fewer frames is no event."""
    least_seconds: float = 0.3
    """What is seen for a shorter time is no event."""
    moved: float = 0.5
    """A thing has moved if its overlap over union with where it was first seen is below this."""
    stayed: float = 2.0
    """A thing that does not move is an event only if it is seen for this number of seconds."""
    steady: float = 0.8
    """A thing that does not move is an event only if it is seen in this share of the frames of that time."""
    least_gap: float = 1.5
    """An event goes on for this number of steps from frame to frame, whatever the gap is."""
    quick_gap: int = 3
    """Something that went out of the picture is gone after this number of frames."""
    most_pending: int = 256
    """Of something that is not known to be an event yet, this number of places is kept."""
    most_boxes: int = 64
    """Of an event, at most this number of places is kept."""
    last_steps: int = 25
    """The median of this number of last steps tells how far frames are apart."""


EVENTS = EventRules()
_NUMBERS = 6
"""Numbers of a place that say when and where it is."""
COUNTING = ("watching", "frozen")
"""States in which foreground counts; while the scene changes as a whole it says little."""


class FrameStep:
    """How far the frames of a film are apart: the median of the last steps, so that a single gap does not count.

    Parameters
    ----------
    rate : float, optional
        Frames in a second, for as long as there is one frame only.
    """

    def __init__(self, rate: float | None = None) -> None:
        self._steps: deque[float] = deque(maxlen=EVENTS.last_steps)
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


class EventPlace(NamedTuple):
    """Where a thing is in a frame; `right` and `bottom` are the first beyond it."""

    frame: int
    time: float
    left: int
    top: int
    right: int
    bottom: int
    share: float = 0.0
    """Of what is watched that is covered by it."""
    regions: tuple[str, ...] = ()
    """The names of the regions that it touches."""


@dataclass
class Event:
    """A thing that comes and goes: times in seconds, frames counted from 0, and the box around all of its places.

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
    regions: tuple[str, ...] = ()
    """The names of the regions it was in."""
    number: int = 0
    """From 1, in the order in which things were found to be events."""
    stride: int = 1
    """Frames from one of the boxes to the next, as far as it was seen."""
    _places: "array[float]" = field(default_factory=lambda: array("d"), repr=False)
    """Frame, time and sides of each of the boxes; there may be many events."""

    @property
    def boxes(self) -> list[EventPlace]:
        """Where it was: in all frames of a short event, and in every second, fourth and so on of longer ones."""
        rows = np.array(self._places).reshape(-1, _NUMBERS).tolist()
        return [
            EventPlace(int(frame), time, int(left), int(top), int(right), int(bottom))
            for frame, time, left, top, right, bottom in rows
        ]

    def _keep(self, seen: EventPlace) -> None:
        self._places.extend((seen.frame, seen.time, seen.left, seen.top, seen.right, seen.bottom))
        if len(self._places) > EVENTS.most_boxes * _NUMBERS:
            kept = np.array(self._places).reshape(-1, _NUMBERS)[::2]
            self._places, self.stride = array("d", kept.reshape(-1).tolist()), 2 * self.stride

    @classmethod
    def begin(cls, seen: EventPlace, step: float = 0.0) -> "Event":
        """Start an event with a frame, which lasts for a step."""
        sides = seen.left, seen.top, seen.right, seen.bottom
        event = cls(seen.time, seen.time + step, seen.frame, seen.frame, seen.share, seen.time, *sides, seen.regions)
        event._keep(seen)
        return event

    def extend(self, seen: EventPlace, step: float = 0.0) -> None:
        """Take in a later frame."""
        self.end, self.last_frame = seen.time + step, seen.frame
        if not set(seen.regions) <= set(self.regions):
            self.regions = tuple(dict.fromkeys(self.regions + seen.regions))
        if seen.share > self.peak_share:
            self.peak_share, self.peak_time = seen.share, seen.time
        self.left, self.top = min(self.left, seen.left), min(self.top, seen.top)
        self.right, self.bottom = max(self.right, seen.right), max(self.bottom, seen.bottom)
        if seen.frame >= self._places[-_NUMBERS] + self.stride:
            self._keep(seen)

    def row(self) -> dict[str, Any]:
        """What a table of events says about it."""
        return {
            "event": self.number,
            "start": round(self.start, 3),
            "end": round(self.end, 3),
            "duration": round(self.end - self.start, 3),
            "first_frame": self.first_frame,
            "last_frame": self.last_frame,
            "peak_share": round(self.peak_share, 5),
            "peak_time": round(self.peak_time, 3),
            "left": self.left,
            "top": self.top,
            "right": self.right,
            "bottom": self.bottom,
            "regions": "; ".join(self.regions),
        }

    def to_dict(self, started: datetime | None) -> dict[str, Any]:
        """The row, the dates of start and end if that of the first frame is known, and the places."""
        dates = {
            name: None
            if started is None
            else (started + timedelta(seconds=round(time, 3))).isoformat(timespec="milliseconds")
            for name, time in (("start_time", self.start), ("end_time", self.end))
        }
        places = [{**seen._asdict(), "time": round(seen.time, 3)} for seen in self.boxes]
        boxes = [
            {name: place[name] for name in ("frame", "time", "left", "top", "right", "bottom")} for place in places
        ]
        return {**self.row(), "regions": list(self.regions), **dates, "boxes": boxes}


COLUMNS = tuple(Event(0.0, 0.0, 0, 0, 0.0, 0.0, 0, 0, 0, 0).row())


@dataclass(eq=False)
class _TrackState:
    """What is known of a thing that is followed."""

    seen: float
    """When it was there last."""
    pending: deque[EventPlace] = field(default_factory=lambda: deque(maxlen=EVENTS.most_pending))
    """Where it was, until it is known to be an event."""
    event: Event | None = None
    moved: bool = False


class EventFinder:
    """Finds events frame by frame: one for each thing that comes and goes.

    What is seen for a moment only, or flickers where it is, is no event: a thing has to move, or to stay.

    Parameters
    ----------
    gap : float
        Seconds without being seen after which a thing is gone; at least one and a half steps from frame to frame.
    rate : float, optional
        Frames in a second, as far as it is known.
    regions : mapping of str to array of bool, shape (height, width)
        Parts of the picture by their names, for events to tell which of them they touch.

    Attributes
    ----------
    events : list of Event
        Those that are over.
    step : FrameStep
        How far frames are apart.
    sightings : list of (int, EventPlace)
        Numbers of events, and where they are, which became known with the last frame: of that frame, and of earlier
        ones if it showed that something is an event.
    """

    def __init__(self, gap: float, rate: float | None = None, regions: Mapping[str, BoolArray] | None = None) -> None:
        self.gap, self.regions = gap, dict(regions or {})
        self.events: list[Event] = []
        self.sightings: list[tuple[int, EventPlace]] = []
        self._follower = ObjectFollower()
        self._tracks: dict[FollowedObject, _TrackState] = {}
        self._found, self._number = 0, -1
        self.step = FrameStep(rate)

    def push(self, number: int, found: Separation) -> None:
        """Look at the next frame."""
        self.step.add(found.time)
        self._number, self.sightings = number, []
        self._end(list(self._tracks) if found.state == "moving" else self._gone(number, found))
        for name, flags in self.regions.items():
            if flags.shape != found.mask.shape:
                raise ValueError(
                    f"Region {name} has {flags.shape[1]} x {flags.shape[0]} pixels, but the frames have "
                    f"{found.mask.shape[1]} x {found.mask.shape[0]}; a region must be as large as they are."
                )
        counts = found.score > 0.0 and found.state in COUNTING
        present = self._follower.follow(number, found.boxes) if counts else []
        area = sum(one.area for one in present)
        for one in present:
            left, top, right, bottom = (int(side) for side in np.rint(one.box))
            part, share = (slice(top, bottom), slice(left, right)), found.score * one.area / area
            names = tuple(name for name, flags in self.regions.items() if (flags[part] & found.mask[part]).any())
            self._take(one, EventPlace(number, found.time, left, top, right, bottom, share, names))

    @property
    def present(self) -> list[tuple[int, EventPlace]]:
        """Numbers of the events that are in the last frame, and where."""
        return [(event, seen) for event, seen in self.sightings if seen.frame == self._number]

    @property
    def going_on(self) -> set[int]:
        """Numbers of the events that are not over."""
        return {track.event.number for track in self._tracks.values() if track.event is not None}

    def _take(self, one: FollowedObject, seen: EventPlace) -> None:
        track = self._tracks.setdefault(one, _TrackState(seen.time))
        track.seen = seen.time
        if track.event is not None:
            track.event.extend(seen, self.step.typical)
            self.sightings.append((track.event.number, seen))
            return
        track.pending.append(seen)
        first = track.pending[0]
        track.moved = track.moved or likeness(np.array(first[2:6], float), np.array(seen[2:6], float)) < EVENTS.moved
        if self._is_event(track):
            one.certain = True
            self._found += 1
            track.event = Event.begin(first, self.step.typical)
            track.event.number = self._found
            for earlier in list(track.pending)[1:]:
                track.event.extend(earlier, self.step.typical)
            self.sightings += [(self._found, earlier) for earlier in track.pending]
            track.pending.clear()

    def _is_event(self, track: _TrackState) -> bool:
        """Whether a thing was seen for long enough, and moved, or stayed without flickering."""
        first, last, count = track.pending[0], track.pending[-1], len(track.pending)
        lasted = last.time - first.time + self.step.typical
        if count < EVENTS.least_frames or lasted < EVENTS.least_seconds - 1e-6:
            return False
        return track.moved or (lasted >= EVENTS.stayed and count >= EVENTS.steady * (last.frame - first.frame + 1))

    def _gone(self, number: int, found: Separation) -> list[FollowedObject]:
        """The things that are no longer there."""
        step = self.step.typical
        gap = max(self.gap, EVENTS.least_gap * step)
        gone = []
        for one, track in self._tracks.items():
            out = number - one.last > EVENTS.quick_gap and one.has_left(*found.mask.shape)
            merged = one.joint and number - one.alone_at > max(one.alone, gap / step if step else 0.0)
            if out or merged or found.time - track.seen > gap or one not in self._follower.objects:
                gone.append(one)
        return gone

    def _end(self, things: Sequence[FollowedObject]) -> None:
        events = [track.event for track in map(self._tracks.pop, things) if track.event is not None]
        self.events += sorted(events, key=lambda event: event.number)
        if things:
            self._follower.drop(things)

    def close(self) -> None:
        """End the events that go on."""
        self._end(list(self._tracks))

    def rows(self) -> list[dict[str, Any]]:
        """All events that are over, as rows of a table."""
        return [event.row() for event in self.ordered()]

    def ordered(self) -> list[Event]:
        """All events that are over, by their numbers."""
        return sorted(self.events, key=lambda event: event.number)


def write_events(path: str | PathLike[str], rows: Sequence[dict[str, Any]]) -> None:
    """Write rows of events as .csv."""
    with write_atomically(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([_cell(name, value) for name, value in row.items()] for row in rows)


def _cell(name: str, value: Any) -> str:
    if isinstance(value, int | str):
        return str(value)
    return f"{value:.5f}" if "share" in name else f"{value:.3f}"
