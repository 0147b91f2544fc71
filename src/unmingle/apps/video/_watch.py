"""A film from its first frame to its last: it is taken apart, and what was found is kept, whatever ends it."""

from collections.abc import Callable
from time import perf_counter
from typing import Any, Protocol

from ..._validation import check_optional_count, check_positive
from ...iterate import Callback, Progress
from ...media import Frame, FrameSource, open_frames
from ._events import EventFinder, FrameStep
from ._feed import AtAnyTime, Feed, InterruptGate, Playback
from ._films import Films
from ._highlights import Highlights
from ._outputs import Outputs, write_results
from ._result import Separation
from ._separate import separated
from ._stream import Stream
from ._watched import Tally, Watched


class Screen(Protocol):
    """Shows frames while they are separated, and may change the settings of the stream."""

    def show(self, found: Separation, dropped: int) -> None:
        """Show a frame; never wait for whoever looks."""


def watch(
    source: Any,
    stream: Stream | None = None,
    outputs: Outputs | None = None,
    *,
    event_gap: float = 1.0,
    max_frames: int | None = None,
    seconds: float | None = None,
    colour: bool = True,
    live: bool = False,
    screen: Screen | None = None,
    check: Callable[[Frame], None] | None = None,
    callback: Callback | None = None,
    interrupts: InterruptGate | None = None,
) -> Watched:
    """Separate a whole film, find its events, and write what is wanted of it.

    Whatever ends the film, an error (also of a callback) or an interrupt, what was found up to there is kept and
    written, and nothing is raised: ``errors`` and ``interrupted`` of the result tell. Folders must be there.

    Parameters
    ----------
    source : FrameSource, or whatever `unmingle.media.open_frames` opens
        The film.
    stream : Stream, optional
        What separates it; a new one by default.
    outputs : Outputs, optional
        Which results to write, and where to.
    event_gap : float
        Seconds without foreground after which an event is over.
    max_frames : int, optional
        Frames to take at most.
    seconds : float, optional
        How much of the film to take at most.
    colour, live : bool
        As in `separate`, for a film that is not open yet.
    screen : Screen, optional
        Shows frames meanwhile; a film that is not live is then played at its own speed.
    check : callable, optional
        Raises an error if the first frame is none of those that are expected.
    callback : callable, optional
        Called with an `unmingle.iterate.Progress` after each frame; a true answer ends the film there.
    interrupts : InterruptGate, optional
        Allowed only while waiting for a frame, so that all that came is finished; at any time by default.

    Returns
    -------
    Watched
        Events, numbers, and what went wrong.

    Examples
    --------
    >>> from unmingle.synth import surveillance_scene
    >>> watched = watch(surveillance_scene(60, 48, 64, random_state=0).frames)
    >>> watched.card_["frames"], watched.errors
    (60, [])
    """
    if not event_gap >= 0:
        raise ValueError(f"event_gap must be a number of seconds of at least 0, got {event_gap!r}.")
    max_frames = check_optional_count(max_frames, "max_frames")
    seconds = None if seconds is None else check_positive(seconds, "seconds")
    if not isinstance(source, FrameSource):
        with open_frames(source, colour="planes" if colour else False, live=live) as frames:
            return watch(
                frames, stream, outputs, event_gap=event_gap, max_frames=max_frames, seconds=seconds, screen=screen,
                check=check, callback=callback, interrupts=interrupts,
            )  # fmt: skip
    stream, outputs, interrupts = stream or Stream(), outputs or Outputs(), interrupts or AtAnyTime()
    watched = Watched(
        source.name,
        stream,
        Tally(step=FrameStep(source.rate)),
        EventFinder(event_gap, source.rate),
        Highlights() if outputs.report is not None else None,
    )
    learns = not stream.frozen_
    feed = Feed(source, interrupts, max_frames=max_frames, seconds=seconds, check=check)
    playback = Playback(interrupts) if screen is not None and not source.live else None
    with Films(outputs.films(), source.rate) as films:
        try:
            _take_apart(feed, watched, films, screen, playback, callback)
        except KeyboardInterrupt:
            feed.interrupted = True
        except Exception as error:
            watched.error = error
        watched.finder.close()
        watched.dropped, watched.interrupted = source.dropped, feed.interrupted
        watched.error = watched.error or feed.error
        watched.failures += films.close()
    watched.written |= films.kept
    if watched.tally.frames:
        write_results(outputs, watched, learns)
    return watched


def _take_apart(
    feed: Feed,
    watched: Watched,
    films: Films,
    screen: Screen | None,
    playback: Playback | None,
    callback: Callback | None,
) -> None:
    found_frames, spent = separated(feed, watched.stream, live=feed.source.live), watched.seconds
    while True:
        begun, waited = perf_counter(), feed.waited
        found = next(found_frames, None)
        spent["reading"] += feed.waited - waited
        spent["separating"] += perf_counter() - begun - (feed.waited - waited)
        if found is None:
            return
        if playback is not None:
            playback.keep(found.time)
        begun = perf_counter()
        films.write(found)
        watched.add(found)
        if screen is not None:
            screen.show(found, feed.source.dropped)
        spent["writing"] += perf_counter() - begun
        if callback is not None and callback(Progress(watched.tally.frames, None)):
            return
