"""What `unmingle video` does: it takes a film apart frame by frame and keeps what was found, whatever ends it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from time import monotonic, perf_counter, sleep
from types import TracebackType
from typing import Any, Protocol, Self

from ..apps.video import Separation, Stream, separate
from ..iterate import Callback, Progress
from ..media import Frame, FrameSource, FrameWriter, MediaError, open_writer
from .events import EventFinder
from .highlights import Highlights
from .interrupts import Interrupts
from .steps import Steps

FILMS = ("background", "foreground", "mask")


class Screen(Protocol):
    """Shows frames while they are separated, and may change the settings of the stream."""

    def show(self, found: Separation, dropped: int) -> None:
        """Show a frame; never wait for whoever looks."""


class Feed:
    """The frames of a source up to a limit; what ends them early is kept, so that all that came is finished first.

    Parameters
    ----------
    source : FrameSource
        Where they come from.
    interrupts : Interrupts
        Allowed while waiting for a frame.
    max_frames : int, optional
        How many frames to take at most.
    seconds : float, optional
        How much of the film to take at most.
    check : callable, optional
        Raises an error if the first frame is none of those that are expected.

    Attributes
    ----------
    waited : float
        Seconds spent on waiting for frames.
    error : Exception or None
        Why the source could not be read to its end.
    interrupted : bool
        Whether the user ended it.
    """

    def __init__(
        self,
        source: FrameSource,
        interrupts: Interrupts,
        *,
        max_frames: int | None,
        seconds: float | None,
        check: Callable[[Frame], None] | None = None,
    ) -> None:
        self.waited = 0.0
        self.error: Exception | None = None
        self.interrupted = False
        self._source, self._interrupts = source, interrupts
        self._max_frames, self._seconds, self._check = max_frames, seconds, check

    def __iter__(self) -> Iterator[Frame]:
        for number in count() if self._max_frames is None else range(self._max_frames):
            frame = self._next()
            if frame is None or (self._seconds is not None and frame.time >= self._seconds):
                return
            if number == 0 and self._check is not None:
                self._check(frame)
            yield frame

    def _next(self) -> Frame | None:
        begun = perf_counter()
        try:
            with self._interrupts.allowed():
                return next(self._source, None)
        except KeyboardInterrupt:
            self.interrupted = True
        except (MediaError, OSError) as error:
            self.error = error
        finally:
            self.waited += perf_counter() - begun
        return None


class Films:
    """The films that are written: background, foreground and mask, as far as wanted.

    Parameters
    ----------
    paths : mapping of str to Path
        Where to write which of them.
    rate : float, optional
        Frames in a second.
    """

    def __init__(self, paths: Mapping[str, Path], rate: float | None) -> None:
        self._writers: dict[str, FrameWriter] = {}
        self._failed: set[str] = set()
        self.kept: dict[str, Path] = {}
        try:
            for name, path in paths.items():
                self._writers[name] = open_writer(path, rate=rate)
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
        """Write what was found in a frame."""
        for name, writer in self._writers.items():
            try:
                writer.write(getattr(found, name), found.time)
            except MediaError:
                self._failed.add(name)
                raise

    def close(self) -> list[MediaError]:
        """Finish all films and return why some could not be finished; a film that failed before is not told again."""
        errors = []
        for name, writer in self._writers.items():
            try:
                writer.close()
                if writer.n_written and name not in self._failed:
                    self.kept[name] = writer.path
            except MediaError as error:
                if name not in self._failed:
                    errors.append(error)
        self._writers.clear()
        return errors


@dataclass
class Tally:
    """What is counted while a film is watched."""

    frames: int = 0
    height: int = 0
    width: int = 0
    steps: Steps = field(default_factory=Steps)
    last: float = 0.0
    """Time of the last frame."""
    judged: int = 0
    """Frames that could have foreground: all but those the first background is learnt from."""
    total_share: float = 0.0
    largest_share: float = 0.0
    adapting: int = 0
    jumps: int = 0
    state: str = ""

    def add(self, found: Separation) -> None:
        """Count a frame."""
        self.frames += 1
        self.height, self.width = found.mask.shape
        self.steps.add(found.time)
        self.last = found.time
        self.judged += found.state != "starting"
        self.total_share += found.score
        self.largest_share = max(self.largest_share, found.score)
        self.adapting += found.state == "adapting"
        self.jumps += found.state == "adapting" != self.state
        self.state = found.state

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the end of the last one."""
        return self.last + self.steps.typical if self.frames else 0.0


@dataclass
class Watched:
    """What came of a film."""

    tally: Tally
    finder: EventFinder
    highlights: Highlights | None = None
    seconds: dict[str, float] = field(default_factory=lambda: {"reading": 0.0, "separating": 0.0, "writing": 0.0})
    """Spent on each stage."""
    dropped: int = 0
    error: Exception | None = None
    """What ended the film early."""
    failures: list[Exception] = field(default_factory=list)
    """Why some of the results could not be written."""
    interrupted: bool = False

    @property
    def errors(self) -> list[Exception]:
        """All that went wrong, what ended the film first."""
        return [*([] if self.error is None else [self.error]), *self.failures]

    def card(self, stream: Stream) -> dict[str, Any]:
        """The film and its separation in numbers."""
        tally, spent, model = self.tally, sum(self.seconds.values()), stream.card()
        return {
            "frames": tally.frames,
            "height": tally.height,
            "width": tally.width,
            "duration": round(tally.duration, 3),
            "region": stream.region is not None,
            "rank": model["rank"],
            "noise": model["noise"],
            "mean_share": tally.total_share / max(1, tally.judged),
            "largest_share": tally.largest_share,
            "adapting_frames": tally.adapting,
            "scene_changes": tally.jumps,
            "dropped": self.dropped,
            "seconds": {name: round(value, 3) for name, value in self.seconds.items()},
            "frames_per_second": tally.frames / spent if spent else None,
        }


@dataclass
class Watch:
    """How to watch a film."""

    stream: Stream
    films: Films
    gap: float = 1.0
    """Seconds without foreground after which an event is over."""
    highlights: bool = False
    """Whether to keep what a report shows."""
    screen: Screen | None = None
    max_frames: int | None = None
    seconds: float | None = None
    check: Callable[[Frame], None] | None = None
    """Raises an error if the first frame is none of those that are expected."""

    def run(self, source: FrameSource, interrupts: Interrupts, callback: Callback) -> Watched:
        """Separate all frames; errors of reading and writing are kept in the result, and films are closed."""
        finder, tally = EventFinder(self.gap, source.rate), Tally(steps=Steps(source.rate))
        watched = Watched(tally, finder, Highlights() if self.highlights else None)
        feed = Feed(source, interrupts, max_frames=self.max_frames, seconds=self.seconds, check=self.check)
        try:
            self._loop(feed, source, interrupts, watched, callback)
        except KeyboardInterrupt:
            feed.interrupted = True
        except Exception as error:
            watched.error = error
        watched.finder.close()
        watched.dropped, watched.interrupted = source.dropped, feed.interrupted
        watched.error = watched.error or feed.error
        watched.failures += self.films.close()
        return watched

    def _loop(
        self,
        feed: Feed,
        source: FrameSource,
        interrupts: Interrupts,
        watched: Watched,
        callback: Callback,
    ) -> None:
        pace = Pace(interrupts) if self.screen is not None and not source.live else None
        found_frames, spent = iter(separated(feed, self.stream, live=source.live)), watched.seconds
        while True:
            begun, waited = perf_counter(), feed.waited
            found = next(found_frames, None)
            spent["reading"] += feed.waited - waited
            spent["separating"] += perf_counter() - begun - (feed.waited - waited)
            if found is None:
                return
            if pace is not None:
                pace.keep(found.time)
            begun = perf_counter()
            self._take(found, source.dropped, watched)
            spent["writing"] += perf_counter() - begun
            callback(Progress(watched.tally.frames, None))

    def _take(self, found: Separation, dropped: int, watched: Watched) -> None:
        number = watched.tally.frames
        self.films.write(found)
        watched.tally.add(found)
        watched.finder.push(number, found)
        if watched.highlights is not None:
            watched.highlights.add(number, found)
        if self.screen is not None:
            self.screen.show(found, dropped)


def separated(feed: Iterable[Frame], stream: Stream, *, live: bool) -> Iterable[Separation]:
    """Separate frames as they are; live ones are pushed as they come, for the source has dropped what is too much."""
    if live:
        return (stream.push(frame.pixels, frame.time) for frame in feed)
    return separate(feed, stream=stream, colour=True)


class Pace:
    """Keeps to the time of a film, so that a person can watch it, until there is an interrupt."""

    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts
        self._begun: float | None = None

    def keep(self, time: float) -> None:
        """Wait until a time of the film; when it is long past, the film starts anew from there."""
        now = monotonic()
        if self._begun is None or now - self._begun - time > 1.0:
            self._begun = now - time
        while (left := self._begun + time - monotonic()) > 0 and not self._interrupts.pending:
            sleep(min(left, 0.1))
