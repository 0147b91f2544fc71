"""Videos to frames, by PyAV."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Event
from time import monotonic
from typing import Any

from .._validation import require
from ._decode import Colour, Converter
from ._errors import IncompleteError, MediaError, cause
from ._pixels import MOST_NUMBERS, check_extent
from ._relay import Frame

TEXT_FORMATS = ("adf", "bin", "idf", "tty", "xbin")
"""Formats of FFmpeg that show text as a film."""
_CLEARLY_SHORT = 0.9
"""A file that gives less than this share of what it states is cut off."""


@dataclass
class Video:
    """A video that is open, what it states, and what came of it so far."""

    container: Any
    stream: Any
    name: str
    in_order: bool = False
    """The bytes may have to be read one after the other, without going back."""
    rate: float | None = None
    duration: float | None = None
    """Seconds, as stated for the pictures themselves."""
    n_frames: int | None = None
    """By the file, or by its duration and rate."""
    given: int = 0
    damaged: int = 0
    last: float = 0.0
    longest_step: float = 0.0
    error: BaseException | None = None
    """What ended the reading, if not the end."""

    def __post_init__(self) -> None:
        rate = self.stream.average_rate or self.stream.guessed_rate
        self.rate = float(rate) if rate else None
        if self.stream.duration and self.stream.time_base:
            self.duration = float(self.stream.duration) * float(self.stream.time_base)
        elif self.container.duration and len(self.container.streams) == 1:
            self.duration = self.container.duration / 1e6
        self.n_frames = self.stated_frames()
        if self.n_frames is None and self.duration and self.rate:
            self.n_frames = max(1, round(self.duration * self.rate))

    @property
    def start_time(self) -> datetime | None:
        """When the film was taken, as the file says; times without a zone are taken to be UTC."""
        try:
            stated = datetime.fromisoformat(self.container.metadata.get("creation_time", ""))
        except ValueError:
            return None
        return stated if stated.tzinfo else stated.replace(tzinfo=UTC)

    def stated_frames(self) -> int | None:
        """How many frames the file says it contains; of a trimmed one, those that are shown."""
        stated, indexed = int(self.stream.frames), len(_index(self.stream))
        trimmed = "mp4" in self.container.format.name and 0 < indexed < stated
        return (indexed if trimmed else stated) or None


def _index(stream: Any) -> Any:
    """Where each packet lies in the file, as far as known."""
    return getattr(stream, "index_entries", None) or ()


def open_video(
    place: Any,
    name: str,
    *,
    kind: str | None = None,
    options: dict[str, str] | None = None,
    timeout: float | None = None,
    threads: str = "AUTO",
    in_order: bool = False,
) -> Video:
    """Open a file, an address or an object with a method read, or say why it is no video.

    Decoding several frames at a time ("AUTO") is faster, but a frame comes later than with "SLICE". Pipes and
    addresses are read in order, as far as one cannot go back in them.
    """
    av = require("av", "media")
    begun = monotonic()
    try:
        container = av.open(place, format=kind, options=options or {}, timeout=timeout)
    except (av.error.FFmpegError, OSError, ValueError) as error:
        if timeout is not None and monotonic() - begun >= timeout:
            raise MediaError(
                f"{name} does not answer within {timeout:g} seconds; check the address, or give a longer timeout."
            ) from error
        raise MediaError(_unreadable(av, name, error)) from error
    covers = av.stream.Disposition.attached_pic  # the picture of a song
    streams = [stream for stream in container.streams.video if stream.codec_context and not stream.disposition & covers]
    is_text = container.format.name in TEXT_FORMATS
    if not streams or is_text:
        found = "text" if is_text else "sound but no pictures" if container.streams.audio else "no pictures"
        container.close()
        raise MediaError(f"{name} contains {found}; expected a video such as .mp4 whose pictures can be decoded.")
    streams[0].thread_type = threads
    streams[0].codec_context.options = {"max_pixels": str(MOST_NUMBERS)}
    try:
        check_extent(name, streams[0].height, streams[0].width)
    except MediaError:
        container.close()
        raise
    return Video(container, streams[0], name, in_order)


def _unreadable(av: Any, name: str, error: BaseException) -> str:
    if isinstance(error, av.error.InvalidDataError | av.error.EOFError):
        return f"{name} is not a video, or it is damaged or incomplete; expected a file such as .mp4."
    return f"{name} cannot be opened: {cause(error)}."


def read_video(video: Video, colour: Colour, stop: Event) -> Iterator[Frame]:
    """Frames of a file with their true times, then an error if it is cut off or damaged."""
    try:
        yield from decoded(video, colour, stop)
        if not stop.is_set():
            _check_complete(video)
    finally:
        video.container.close()


def decoded(video: Video, colour: Colour, stop: Event) -> Iterator[Frame]:
    """Frames with their times since the first one; parts that cannot be decoded are skipped and counted."""
    start: float | None = None
    converter = Converter(colour)
    for picture in _pictures(video, stop):
        since = picture.time
        if since is None:  # no time stamp: one step after the frame before
            since = 0.0 if start is None else start + video.last + 1.0 / (video.rate or 25.0)
        start = since if start is None else start
        video.longest_step = max(video.longest_step, since - start - video.last)
        video.last = since - start
        video.given += 1
        yield Frame(video.last, converter.pixels(picture))
        if stop.is_set():
            return


def _pictures(video: Video, stop: Event) -> Iterator[Any]:
    av = require("av", "media")
    packets = video.container.demux(video.stream)
    more = True
    while more:
        try:
            packet = next(packets, None)
        except av.error.BlockingIOError:  # a camera that has no picture yet
            packets = video.container.demux(video.stream)
            more = not stop.wait(0.005)
            continue
        except (av.error.FFmpegError, OSError) as error:
            video.error, packet = error, None
        more = packet is not None
        try:
            pictures = _decode(video, packet)
        except av.error.FFmpegError:
            video.damaged += 1
            continue
        for picture in pictures:
            video.damaged += bool(picture.is_corrupt)
            yield picture


def _decode(video: Video, packet: Any) -> list[Any]:
    if packet is not None:
        return list(packet.decode())
    return list(video.stream.decode(None)) if video.error is not None else []  # what is still in the decoder


def _check_complete(video: Video) -> None:
    name, given, damaged = video.name, video.given, video.damaged
    if given == 0:
        raise MediaError(_without_pictures(video))
    read = f"{given} {'frame' if given == 1 else 'frames'}"
    if _is_cut(video):
        expected = f" of about {video.n_frames}" if video.n_frames and video.n_frames > given else ""
        raise IncompleteError(f"{name} is cut off: {read}{expected} could be read.", given)
    if video.error is not None:
        raise IncompleteError(f"{name} ends with an error, {cause(video.error)}: {read} could be read.", given)
    if damaged:
        places = f"{damaged} {'place' if damaged == 1 else 'places'}"
        came = f"{read} could be read"
        if video.n_frames is not None and given >= video.n_frames:
            came = "its only frame may look wrong" if given == 1 else f"all {read} came, but some may look wrong"
        raise IncompleteError(f"{name} is damaged in {places}: {came}.", given)


def _without_pictures(video: Video) -> str:
    if video.in_order and "mp4" in video.container.format.name:
        return (
            f"{video.name} gives no picture: to be read from a pipe or from an address that cannot skip, an MP4 must "
            "have its index in front (faststart); give the file's name, or use .mkv."
        )
    return f"{video.name} contains no picture that can be decoded; it is empty or damaged."


def _is_cut(video: Video) -> bool:
    size = video.container.size or 0
    if 0 < size < max((entry.pos + entry.size for entry in _index(video.stream)), default=0):
        return True
    step = video.last / (video.given - 1) if video.given > 1 else 0.0
    stated = video.stated_frames()
    if stated is not None:
        return video.given < _CLEARLY_SHORT * stated and not _reaches_end(video, stated, step)
    if video.duration is None or video.given < 3:
        return False
    even = video.longest_step < 1.5 * step
    return even and video.last + step < _CLEARLY_SHORT * video.duration


def _reaches_end(video: Video, stated: int, step: float) -> bool:
    """Whether the pictures go on to the stated end: an AVI of variable rate counts pictures that it leaves out.

    Of an AVI that is cut off FFmpeg shortens the duration, but not the stated number of frames.
    """
    end = max(video.duration or 0.0, stated / video.rate if video.rate else 0.0)
    return end > 0 and video.last + step >= _CLEARLY_SHORT * end
