"""What came of a film."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from ._events import Event, EventFinder, FrameStep
from ._highlights import Highlights
from ._result import Separation
from ._stream import Stream
from ._words import event_table, facts, warnings_of


@dataclass
class Tally:
    """What is counted while a film is watched."""

    frames: int = 0
    height: int = 0
    width: int = 0
    step: FrameStep = field(default_factory=FrameStep)
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
        self.step.add(found.time)
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

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the end of the last one."""
        return self.last + self.step.typical if self.frames else 0.0


@dataclass
class Watched:
    """What came of a film."""

    name: str
    """What to call the film."""
    stream: Stream
    """What separated it."""
    tally: Tally
    finder: EventFinder
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
        card = self.card_
        return f"Watched({self.name!r}, {card['frames']} frames, {len(self.finder.rows())} events)"

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
        return [event.told(self.started) for event in self.finder.ordered()]

    @property
    def warnings(self) -> list[str]:
        """What whoever uses the masks should know, each in a sentence."""
        return warnings_of(self.card_)

    @property
    def facts(self) -> dict[str, str]:
        """The card in words, each line with its name."""
        return facts(self.card_)

    @property
    def errors(self) -> list[Exception]:
        """All that went wrong, what ended the film first."""
        return [*([] if self.error is None else [self.error]), *self.failures]

    @property
    def card_(self) -> dict[str, Any]:
        """The film and its separation in numbers."""
        tally, spent, model = self.tally, sum(self.seconds.values()), self.stream.card_
        return {
            "frames": tally.frames,
            "height": tally.height,
            "width": tally.width,
            "duration": round(tally.duration, 3),
            "region": self.stream.region is not None,
            "stabilise": self.stream.stabilise,
            "rank": model["rank"],
            "noise": model["noise"],
            "mean_share": tally.total_share / max(1, tally.judged),
            "largest_share": tally.largest_share,
            "adapting_frames": tally.adapting,
            "scene_changes": tally.jumps,
            "camera_moves": [round(time, 3) for time in tally.moves],
            "frames_without_mask": tally.blind,
            "start_frames": self.stream.n_frames if self.stream.n_frames < self.stream.start_size else None,
            "dropped": self.dropped,
            "seconds": {name: round(value, 3) for name, value in self.seconds.items()},
            "frames_per_second": tally.frames / spent if spent else None,
        }
