"""What came of a film: its events, figures and warnings, in numbers and in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from ...core.encoder.encoder import Encoder
from ...report.numbers_in_words import clock, counted, share
from ._highlights import Highlights
from ._separation import Separation
from ._stream import Stream
from .events import Event, EventFinder
from .settings import StreamSettings


@dataclass
class Tally:
    """What is counted while a film is watched."""

    frames: int = 0
    height: int = 0
    width: int = 0
    last: float = 0.0
    """Time of the last frame."""
    judged: int = 0
    """Frames that could have foreground: all but those the first background is learnt from."""
    total_share: float = 0.0
    largest_share: float = 0.0
    adapting: int = 0
    jumps: int = 0
    moves: list[float] = field(default_factory=list)
    """Times at which the camera was seen to move, or the film to be cut."""
    blind: int = 0
    """Frames without a mask after that."""
    state: str = ""

    def add(self, found: Separation) -> None:
        """Count a frame."""
        self.frames += 1
        self.height, self.width = found.mask.shape
        self.last = found.time
        self.judged += found.state not in ("starting", "moving")
        self.total_share += found.score
        self.largest_share = max(self.largest_share, found.score)
        self.adapting += found.state == "adapting"
        self.jumps += found.state == "adapting" != self.state
        if found.state == "moving" != self.state:
            self.moves.append(found.time)
        self.blind += bool(self.moves) and found.state in ("starting", "moving")
        self.state = found.state


@dataclass
class Result:
    """What came of a film."""

    name: str
    """What to call the film."""
    stream: Stream
    """What separated it."""
    finder: EventFinder
    tally: Tally = field(default_factory=Tally)
    highlights: Highlights | None = None
    """What a report shows, if one is wanted."""
    started: datetime | None = None
    """When the first frame was taken, if that is known."""
    seconds: dict[str, float] = field(default_factory=lambda: {"reading": 0.0, "separating": 0.0, "writing": 0.0})
    """Spent on each stage."""
    dropped: int = 0
    """Frames of a live source that came too fast."""
    interrupted: bool = False
    error: Exception | None = None
    """What ended the film early."""
    failures: list[Exception] = field(default_factory=list)
    """Why some of the results could not be written."""
    written: dict[str, Path] = field(default_factory=dict)
    """The results that were written."""

    def __repr__(self) -> str:
        return f"Result({self.name!r}, {self.tally.frames} frames, {len(self.finder.events)} events)"

    def add(self, found: Separation) -> None:
        """Take in the next frame."""
        number = self.tally.frames
        self.tally.add(found)
        self.finder.push(number, found)
        if self.highlights is not None:
            self.highlights.add(number, found, self.finder.present)

    @property
    def events(self) -> list[Event]:
        """When something was in front of the background."""
        return self.finder.events

    @property
    def event_table(self) -> tuple[tuple[str, ...], list[list[str]]]:
        """The events for people: head and rows of a table."""
        return event_table(self.finder.rows())

    @property
    def event_list(self) -> list[dict[str, Any]]:
        """The events for other programs: rows of the table with their places, and with dates where they are known."""
        return [event.to_dict(self.started) for event in self.finder.ordered()]

    @property
    def warnings(self) -> list[str]:
        """What whoever uses the masks should know, each in a sentence."""
        return warnings_of(self.summary())

    @property
    def errors(self) -> list[Exception]:
        """All that went wrong, what ended the film first."""
        return [*([] if self.error is None else [self.error]), *self.failures]

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the end of the last one."""
        return self.tally.last + self.finder.step.typical if self.tally.frames else 0.0

    def summary(self) -> dict[str, Any]:
        """The film and its separation in numbers."""
        tally, spent, stream, model = self.tally, sum(self.seconds.values()), self.stream, self.stream.card_
        few = stream.state.n_frames < stream.settings.start_size
        return {
            "complete": not self.errors and not self.interrupted,
            "frames": tally.frames,
            "height": tally.height,
            "width": tally.width,
            "duration": round(self.duration, 3),
            "region": stream.settings.region is not None,
            "stabilise": stream.settings.stabilise,
            "rank": model["rank"],
            "noise": model["noise"],
            "mean_share": tally.total_share / max(1, tally.judged),
            "largest_share": tally.largest_share,
            "adapting_frames": tally.adapting,
            "scene_changes": tally.jumps,
            "camera_moves": [round(time, 3) for time in tally.moves],
            "frames_without_mask": tally.blind,
            "start_frames": stream.state.n_frames if few else None,
            "dropped": self.dropped,
            "seconds": {name: round(value, 3) for name, value in self.seconds.items()},
            "frames_per_second": tally.frames / spent if spent else None,
        }

    def summary_text(self) -> dict[str, str]:
        """The same in words, each line with its name."""
        return summary_text(self.summary())


def whole(summary: Mapping[str, Any]) -> str:
    """What the shares of a summary are shares of."""
    return "region" if summary["region"] else "picture"


def summary_text(summary: Mapping[str, Any]) -> dict[str, str]:
    """A summary in words, each line with its name."""
    lines = {
        "film": f"{counted(summary['frames'], 'frame')} of {summary['width']} x {summary['height']} pixels, "
        f"{clock(summary['duration'], 1)}",
        "rank of the background": str(summary["rank"]),
        "noise": f"{summary['noise'] or 0:.1f} of 255 grey steps",
        "foreground": f"{share(summary['mean_share'])} of the {whole(summary)} on average, "
        f"at most {share(summary['largest_share'])}",
        "scene changes": _changes(summary["scene_changes"], summary["adapting_frames"]),
        "time": ", ".join(f"{name} {seconds:.1f} s" for name, seconds in summary["seconds"].items()),
        "processing speed": f"{summary['frames_per_second'] or 0:.0f} frames/s",
    }
    if summary.get("camera_moves"):
        lines["camera"] = _moves(summary["camera_moves"])
    if summary.get("start_frames") is not None:
        lines["start"] = (
            f"the film is short, the background was learnt from {counted(summary['start_frames'], 'frame')} only"
        )
    if summary["dropped"]:
        lines["dropped"] = f"{counted(summary['dropped'], 'frame')} that came too fast"
    unknown = [line for line, key in (("rank of the background", "rank"), ("noise", "noise")) if summary[key] is None]
    return {name: words for name, words in lines.items() if name not in unknown}


def _changes(changes: int, frames: int) -> str:
    return f"{changes}, which took {counted(frames, 'frame')} to learn" if changes else "none"


def _moves(times: Sequence[float]) -> str:
    first = ", ".join(clock(time, 1) for time in times[:5])
    return f"moved, or the film was cut, at {first}{f' and {len(times) - 5} more times' if len(times) > 5 else ''}"


def warnings_of(summary: Mapping[str, Any]) -> list[str]:
    """What users of the masks should know, one sentence each."""
    sentences, blind = [], summary["frames_without_mask"]
    hint = "" if summary["stabilise"] else "; one that shakes is followed with --stabilise (Stream(stabilise=...))"
    if summary["camera_moves"]:
        sentences.append(
            f"The camera {_moves(summary['camera_moves'])}; the background was learnt again, and "
            f"{counted(blind, 'frame')} {'has' if blind == 1 else 'have'} no mask. A fixed camera is needed{hint}."
        )
    return sentences


EVENT_HEAD = ("event", "start", "end", "seconds", "frames", "peak", "place")


def event_table(rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, ...], list[list[str]]]:
    """The events as a table to read: its head and rows, with regions if a named one was touched."""
    cells = [
        [
            str(row["event"]),
            clock(row["start"], 2),
            clock(row["end"], 2),
            f"{row['duration']:.2f}",
            f"{row['first_frame']}–{row['last_frame']}",
            share(row["peak_share"]),
            f"x {row['left']}–{row['right']}, y {row['top']}–{row['bottom']}",
        ]
        for row in rows
    ]
    if not any(row["regions"] for row in rows):
        return EVENT_HEAD, cells
    return (*EVENT_HEAD, "regions"), [[*cell, row["regions"]] for cell, row in zip(cells, rows, strict=True)]


UNSET = {
    "patience": "never",
    "region": "the whole picture",
    "min_area": "by the size of the picture",
    "smoothing": "by the size of the picture",
    "stabilise": "no, the camera stands still",
}
"""What None means for a setting."""


def settings_in_words(stream: Stream) -> dict[str, str]:
    """The settings of a stream in words, by their names."""
    return {one.name: _in_words(one.name, getattr(stream.settings, one.name)) for one in fields(StreamSettings)}


def _in_words(name: str, value: Any) -> str:
    if value is None:
        return UNSET.get(name, "not set")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, np.ndarray):
        return f"{np.count_nonzero(value) / value.size:.0%} of the picture"
    if isinstance(value, Encoder):
        return f"a trained network of {counted(value.n_layers, 'layer')}"
    words = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{words} frames" if name == "patience" else words
