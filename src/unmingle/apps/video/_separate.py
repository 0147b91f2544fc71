"""A film from its first frame to its last: separated, and what was found is kept, whatever ends it."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from time import monotonic, perf_counter, sleep
from typing import Any, Protocol

from ...core.iterate import Callback, Progress
from ...media import Frame, FrameSource, MediaError, open_frames
from ._begin import Beginning
from ._films import Films
from ._highlights import Highlights
from ._outputs import BoxTable, write_results
from ._result import Result
from ._separation import Separation
from ._smaller import Reduction
from ._stream import Stream
from .events import EventFinder
from .settings import Outputs, Settings


class Screen(Protocol):
    """Shows frames while they are separated, and may change the settings of the stream."""

    def show(self, found: Separation, dropped: int) -> None:
        """Show a frame; never wait for whoever looks."""


class InterruptGate(Protocol):
    """Holds interrupts back while frames are worked on."""

    @property
    def pending(self) -> bool:
        """Whether there was one."""

    def allowed(self) -> AbstractContextManager[None]:
        """Raise KeyboardInterrupt here, for the one held back and for those that come."""


class AtAnyTime:
    """InterruptGate as Python raises them."""

    pending = False

    def allowed(self) -> AbstractContextManager[None]:
        """Nothing was held back."""
        return nullcontext()


OpenScreen = Callable[[Stream, str], AbstractContextManager[Screen | None]]


def separate(
    source: Any,
    outputs: Outputs = Outputs(),  # noqa: B008 (frozen)
    settings: Settings = Settings(),  # noqa: B008 (frozen)
    *,
    stream: Stream | None = None,
    progress: Callback | None = None,
    on_open: Callable[[FrameSource], object] | None = None,
    open_screen: OpenScreen | None = None,
    interrupts: InterruptGate | None = None,
) -> Result:
    """Separate a whole film, find its events, and write what is wanted of it.

    Whatever ends the film, an error (also of ``progress``) or an interrupt, what was found up to there is kept and
    written, and nothing is raised: ``errors`` and ``interrupted`` of the result tell. Folders must be there.

    Parameters
    ----------
    source : FrameSource, or whatever `unmingle.media.open_frames` opens
        The film: a video file, a folder of images, an address, the number of a camera, or arrays.
    outputs : Outputs
        Which results to write, and where to. If there is a file of the model, the film goes on from there.
    settings : Settings
        How to separate it.
    stream : Stream, optional
        A stream to go on with, or one whose settings the film has no words for.
    progress : callable, optional
        Called with an `unmingle.core.iterate.Progress` after each frame; a true answer ends the film there.
    on_open : callable, optional
        Called with the film once it is open, before anything else is read, and anything written.
    open_screen : callable, optional
        Called with the stream and the name of the film; gives a context for as long as the film lasts, with a `Screen`
        or None. With a screen a film is played at its own speed.
    interrupts : InterruptGate, optional
        Allowed only while waiting for a frame, so that all that came is finished; at any time by default.

    Returns
    -------
    Result
        Events, numbers, and what went wrong.

    Examples
    --------
    >>> from unmingle.synth import surveillance_scene
    >>> result = separate(surveillance_scene(60, 48, 64, random_state=0).frames)
    >>> result.summary()["frames"], result.errors
    (60, [])
    """
    beginning = Beginning.of(settings, stream, outputs.model)
    interrupts = interrupts or AtAnyTime()
    with ExitStack() as opened:
        if not isinstance(source, FrameSource):
            with interrupts.allowed():
                source = opened.enter_context(
                    open_frames(
                        source, colour=False if beginning.in_grey else "planes", live=settings.live, rate=settings.fps
                    )
                )
        if on_open is not None:
            on_open(source)
        beginning = beginning.read()
        stream = beginning.ready_stream(source.rate)
        stream = stream.freeze() if settings.freeze else stream
        screen = None if open_screen is None else opened.enter_context(open_screen(stream, source.name))
        result = Result(
            source.name,
            stream,
            EventFinder(settings.event_gap, source.rate, beginning.named_regions),
            highlights=Highlights() if outputs.report is not None else None,
            started=settings.start_time or source.start_time,
        )
        learns = not stream.frozen_
        feed = Feed(source, interrupts, max_frames=settings.max_frames, seconds=settings.seconds)
        reduction = Reduction(
            stream, max_width=settings.max_width, empty_scene=beginning.empty_scene,
            check=beginning.check_for(source.name, stream),
        )  # fmt: skip
        playback = Playback(interrupts) if screen is not None and not source.live else None
        with Films(outputs.films(), source.rate) as films:
            table = None if outputs.boxes is None else BoxTable(outputs.boxes)
            try:
                _take_all(feed, reduction, result, _Sinks(films, table, screen, playback, progress))
            except KeyboardInterrupt:
                feed.interrupted = True
            except Exception as error:
                result.error = error
            result.finder.close()
            result.dropped, result.interrupted = source.dropped, feed.interrupted
            result.error = result.error or feed.error
            result.failures += films.close()
        result.written |= films.kept
    _close(table, result)
    if result.tally.frames:
        write_results(outputs, result, learns)
    return result


def separated_frames(
    source: Any, stream: Stream | None = None, *, colour: bool = True, live: bool = False, **settings: Any
) -> Iterator[Separation]:
    """Separate a film into background and foreground, frame by frame, in constant memory.

    The first frames, which the background is learnt from, are held back and separated by it, so that every frame has
    its mask. From a live source they come without one, in time.

    Parameters
    ----------
    source : path, URL, int, array or iterable
        A video file, a folder of images, "-" for standard input, an address such as "rtsp://...", the number of a
        camera, arrays, or a source that is open already: see `unmingle.media.open_frames`.
    stream : Stream, optional
        A stream to go on with, such as one that was loaded; by default a new one with the settings.
    colour : bool, default=True
        Whether to work with colours; otherwise with the brightness alone, which is faster.
    live : bool, default=False
        Whether the source is live: frames that come too fast are dropped instead of queued.
    **settings
        Settings of a new `Stream`.

    Yields
    ------
    Separation

    Raises
    ------
    unmingle.media.MediaError
        The source cannot be read, or ends early; all frames up to there have been yielded.

    Examples
    --------
    >>> from unmingle.synth import surveillance_scene
    >>> scene = surveillance_scene(60, 48, 64, random_state=0)
    >>> [found.state for found in separated_frames(scene.frames)][::30]
    ['watching', 'watching']
    """
    if stream is not None and settings:
        raise ValueError(f"Give either a stream or settings of a new one, not both; got {', '.join(settings)}.")
    stream = Stream(**settings) if stream is None else stream
    if isinstance(source, FrameSource):
        yield from _separated(source, stream, live=source.live)
        return
    with open_frames(source, colour="planes" if colour else False, live=live) as frames:
        yield from _separated(frames, stream, live=frames.live)


def _separated(frames: Iterable[Frame], stream: Stream, *, live: bool) -> Iterator[Separation]:
    """Separate frames that are read already; the first ones are held back unless they come when they happen."""
    held: list[Frame] = []
    failure: MediaError | None = None
    reading = iter(frames)
    while True:
        try:
            frame = next(reading)
        except StopIteration:
            break
        except MediaError as error:
            failure = error
            break
        if live or stream.state.model is not None:
            yield stream.push(frame.pixels, frame.time)
            continue
        held.append(frame)
        if len(held) == stream.settings.start_size:
            yield from _separated_by_all(stream, held)
    yield from _separated_by_all(stream, held)
    if failure is not None:
        raise failure


def _separated_by_all(stream: Stream, held: list[Frame]) -> Iterator[Separation]:
    """Learn the first background from the frames held back, then separate them."""
    if held:
        stream.fit(frame.pixels for frame in held)
    while held:
        frame = held.pop(0)
        yield stream.push(frame.pixels, frame.time)


@dataclass
class Feed:
    """The frames of a source up to a limit; what ends them early is kept, so that all that came is finished first."""

    source: FrameSource
    interrupts: InterruptGate
    """Allowed while waiting for a frame."""
    max_frames: int | None = field(kw_only=True)
    """How many frames to take at most."""
    seconds: float | None = field(kw_only=True)
    """How much of the film to take at most."""
    waited: float = 0.0
    """Seconds spent on waiting for frames."""
    error: Exception | None = None
    """Why the source could not be read to its end."""
    interrupted: bool = False
    """Whether the user ended it."""

    @property
    def total(self) -> int | None:
        """Frames that will come, as far as that is known."""
        counts = [one for one in (self.source.n_frames, self.max_frames) if one is not None]
        return min(counts, default=None)

    def __iter__(self) -> Iterator[Frame]:
        for _ in count() if self.max_frames is None else range(self.max_frames):
            frame = self._next()
            if frame is None or (self.seconds is not None and frame.time >= self.seconds):
                return
            yield frame

    def _next(self) -> Frame | None:
        begun = perf_counter()
        try:
            with self.interrupts.allowed():
                return next(self.source, None)
        except KeyboardInterrupt:
            self.interrupted = True
        except (MediaError, OSError) as error:
            self.error = error
        finally:
            self.waited += perf_counter() - begun
        return None


class Playback:
    """Keeps to the time of a film, so that a person can watch it, until there is an interrupt."""

    def __init__(self, interrupts: InterruptGate) -> None:
        self._interrupts = interrupts
        self._begun: float | None = None

    def keep(self, time: float) -> None:
        """Wait until a time of the film; when it is long past, the film goes on from there."""
        now = monotonic()
        if self._begun is None or now - self._begun - time > 1.0:
            self._begun = now - time
        while (left := self._begun + time - monotonic()) > 0 and not self._interrupts.pending:
            sleep(min(left, 0.1))


@dataclass
class _Sinks:
    """Who takes what is found in a frame."""

    films: Films
    table: BoxTable | None
    screen: Screen | None
    playback: Playback | None
    progress: Callback | None

    def take(self, found: Separation, result: Result, source: FrameSource) -> None:
        """Give them a frame."""
        result.add(found)
        self.films.write(found, result.finder)
        if self.table is not None:
            self.table.add(result.tally.frames - 1, result.finder.sightings)
        if self.screen is not None:
            self.screen.show(found, source.dropped)


def _reduced(feed: Feed, reduction: Reduction) -> Iterator[Frame]:
    for frame in feed:
        if reduction.side == 0:
            reduction.begin(frame)
        yield reduction.reduce(frame) if reduction.side > 1 else frame


def _take_all(feed: Feed, reduction: Reduction, result: Result, sinks: _Sinks) -> None:
    separated, spent = _separated(_reduced(feed, reduction), result.stream, live=feed.source.live), result.seconds
    while True:
        begun, waited = perf_counter(), feed.waited
        found = next(separated, None)
        spent["reading"] += feed.waited - waited
        spent["separating"] += perf_counter() - begun - (feed.waited - waited)
        if found is None:
            return
        if result.started is None and feed.source.live:
            result.started = datetime.now(UTC)
        if sinks.playback is not None:
            sinks.playback.keep(found.time)
        begun = perf_counter()
        sinks.take(reduction.restore(found) if reduction.side > 1 else found, result, feed.source)
        spent["writing"] += perf_counter() - begun
        if sinks.progress is not None and sinks.progress(Progress(result.tally.frames, feed.total)):
            return


def _close(table: BoxTable | None, result: Result) -> None:
    if table is None:
        return
    table.close()
    if table.error is None:
        result.written["boxes"] = table.path
    else:
        result.failures.append(table.error)
