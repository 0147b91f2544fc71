"""A film from its first frame to its last: it is taken apart, and what was found is kept, whatever ends it."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from ..._validation import check_optional_count, check_positive
from ...core.iterate import Callback, Progress
from ...media import Frame, FrameSource, open_frames
from ...media.pixels import check_pixels
from ._boxes import BoxTable
from ._events import EventFinder, FrameStep
from ._feed import AtAnyTime, Feed, InterruptGate, Playback
from ._films import Films
from ._format import checked_region
from ._highlights import Highlights
from ._outputs import Outputs, write_results
from ._result import Separation
from ._separate import separated
from ._smaller import Reduction
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
    max_width: int | None = None,
    regions: Mapping[str, Any] | None = None,
    empty_scene: Any = None,
    start_time: datetime | None = None,
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
        Seconds without being seen after which a thing is gone, and its event over.
    max_frames : int, optional
        Frames to take at most.
    seconds : float, optional
        How much of the film to take at most.
    max_width : int, optional
        Work on pictures that are not wider than this, by a whole factor; masks, boxes and films keep the size of the
        frames. By default 1920 where frames have a width of 3840 or more.
    regions : mapping of str to array of bool, shape (height, width), optional
        Regions of interest by their names: each event tells which of them it touches. A stream that is not given
        looks only there.
    empty_scene : array, optional
        A picture of the empty scene, as large as the frames: the first background.
    start_time : datetime, optional
        When the first frame was taken; by default what the file says, or the time by the clock if the source is live.
    colour, live : bool
        As in `separate`, for a film that is not open yet.
    screen : Screen, optional
        Shows frames meanwhile; a film that is not live is then played at its own speed.
    check : callable, optional
        Raises an error if the first frame is none of those that are expected.
    callback : callable, optional
        Called with an `unmingle.core.iterate.Progress` after each frame; a true answer ends the film there.
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
    max_frames, max_width = check_optional_count(max_frames, "max_frames"), check_optional_count(max_width, "max_width")
    seconds = None if seconds is None else check_positive(seconds, "seconds")
    named = {name: checked_region(flags) for name, flags in (regions or {}).items()}
    empty_scene = None if empty_scene is None else check_pixels(empty_scene, "empty_scene")
    if stream is None:
        stream = Stream(region=np.logical_or.reduce(list(named.values())) if named else None)
    outputs, interrupts = outputs or Outputs(), interrupts or AtAnyTime()
    with ExitStack() as opened:
        if not isinstance(source, FrameSource):
            source = opened.enter_context(open_frames(source, colour="planes" if colour else False, live=live))
        watched = Watched(
            source.name,
            stream,
            Tally(step=FrameStep(source.rate)),
            EventFinder(event_gap, source.rate, named),
            Highlights() if outputs.report is not None else None,
            started=start_time or source.start_time,
        )
        learns = not stream.frozen_
        feed = Feed(source, interrupts, max_frames=max_frames, seconds=seconds)
        frames = Reduction(feed, stream, max_width=max_width, empty_scene=empty_scene, check=check)
        playback = Playback(interrupts) if screen is not None and not source.live else None
        with Films(outputs.films(), source.rate) as films:
            table = None if outputs.boxes is None else BoxTable(Path(outputs.boxes))
            try:
                _take_apart(feed, frames, watched, _Takers(films, table, screen, playback, callback))
            except KeyboardInterrupt:
                feed.interrupted = True
            except Exception as error:
                watched.error = error
            watched.finder.close()
            watched.dropped, watched.interrupted = source.dropped, feed.interrupted
            watched.error = watched.error or feed.error
            watched.failures += films.close()
        watched.written |= films.kept
    _close(table, watched)
    if watched.tally.frames:
        write_results(outputs, watched, learns)
    return watched


def _close(table: BoxTable | None, watched: Watched) -> None:
    if table is None:
        return
    table.close()
    if table.error is None:
        watched.written["boxes"] = table.path
    else:
        watched.failures.append(table.error)


@dataclass
class _Takers:
    """Who takes what is found in a frame."""

    films: Films
    table: BoxTable | None
    screen: Screen | None
    playback: Playback | None
    callback: Callback | None

    def take(self, found: Separation, watched: Watched, dropped: int) -> None:
        """Give them a frame."""
        watched.add(found)
        self.films.write(found, watched.finder)
        if self.table is not None:
            self.table.add(watched.tally.frames - 1, watched.finder.sightings)
        if self.screen is not None:
            self.screen.show(found, dropped)


def _take_apart(feed: Feed, frames: Reduction, watched: Watched, takers: _Takers) -> None:
    found_frames, spent = separated(frames, watched.stream, live=feed.source.live), watched.seconds
    while True:
        begun, waited = perf_counter(), feed.waited
        found = next(found_frames, None)
        spent["reading"] += feed.waited - waited
        spent["separating"] += perf_counter() - begun - (feed.waited - waited)
        if found is None:
            return
        if watched.started is None and feed.source.live:
            watched.started = datetime.now(UTC)
        if takers.playback is not None:
            takers.playback.keep(found.time)
        begun = perf_counter()
        takers.take(frames.restored(found), watched, feed.source.dropped)
        spent["writing"] += perf_counter() - begun
        if takers.callback is not None and takers.callback(Progress(watched.tally.frames, None)):
            return
