"""Whole videos, frame by frame."""

from collections.abc import Iterable, Iterator
from typing import Any

from ...media import Frame, MediaError, open_frames
from ._result import Separation
from ._stream import Stream


def separate(
    source: Any, *, stream: Stream | None = None, colour: bool = True, live: bool = False, **settings: Any
) -> Iterator[Separation]:
    """Separate a video into background and foreground, frame by frame, in constant memory.

    The first frames, which the background is learnt from, are held back and separated by it, so that every frame has
    its mask. From a live source they come without one, in time.

    Parameters
    ----------
    source : path, URL, int, array or iterable
        A video file, a folder of images, "-" for standard input, an address such as "rtsp://...", the number of a
        camera, or arrays: see `unmingle.media.open_frames`.
    stream : Stream, optional
        A stream to go on with, such as one that was loaded; by default a new one with the settings.
    colour : bool, default=True
        Whether to work with colours; otherwise with the brightness alone, which is faster.
    live : bool, default=False
        Whether the source is live: frames that come too fast are dropped instead of queued.
    **settings
        Parameters of a new `Stream`.

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
    >>> [found.state for found in separate(scene.frames)][::30]
    ['watching', 'watching']
    """
    if stream is not None and settings:
        raise ValueError(f"Give either a stream or settings of a new one, not both; got {', '.join(settings)}.")
    stream = Stream(**settings) if stream is None else stream
    with open_frames(source, colour="planes" if colour else False, live=live) as frames:
        yield from separated(frames, stream, live=frames.live)


def separated(frames: Iterable[Frame], stream: Stream, *, live: bool = False) -> Iterator[Separation]:
    """Separate frames that are read already, such as those of `unmingle.media.open_frames`.

    Parameters
    ----------
    frames : iterable of Frame
        Pictures of one size and type, with their times. They are not copied, and bytes are not checked again.
    stream : Stream
        What separates them.
    live : bool, default=False
        Whether frames come when they happen. Otherwise the first ones are held back until the background is learnt.

    Yields
    ------
    Separation

    Raises
    ------
    unmingle.media.MediaError
        The frames end early; all up to there have been yielded.
    """
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
        if stream.started or live:
            yield stream.push(frame.pixels, frame.time)
            continue
        held.append(frame)
        if len(held) == stream.start_size:
            yield from _begin(stream, held)
    yield from _begin(stream, held)
    if failure is not None:
        raise failure


def _begin(stream: Stream, held: list[Frame]) -> Iterator[Separation]:
    """Learn the first background from the frames held back, then separate them."""
    if held:
        stream.fit(frame.pixels for frame in held)
    while held:
        frame = held.pop(0)
        yield stream.push(frame.pixels, frame.time)
