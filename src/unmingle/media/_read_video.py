"""Videos to frames, by PyAV: opening, decoding, and the pixels of decoded frames as arrays of their own."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from threading import Event
from time import monotonic
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._validation import require
from .errors import IncompleteError, MediaError, cause
from .frames import Colour, Frame
from .pixels import MOST_NUMBERS, Pixels, check_extent, to_grey
from .planes import Planes

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.packet import Packet
    from av.stream import Stream
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

TEXT_FORMATS = ("adf", "bin", "idf", "tty", "xbin")
"""Formats of FFmpeg that show text as a film."""
CLEARLY_SHORT = 0.9
"""A file that gives less than this share of what it states is cut off."""
_FIRST_PLANE_IS_LUMA = re.compile(r"(yuv[aj]?4\d\dp|gray|nv(12|21|16|24|42))(9|1[0246])?(le|be)?")


@dataclass(frozen=True)
class FFmpegNumbers:
    """How FFmpeg numbers ranges and matrices of colours; the numbers are those of its header files."""

    limited_range: int = 1
    """Luma lies from 16 to 235, and what is added for colour from 16 to 240."""
    full_range: int = 2
    """All numbers lie from 0 to 255."""
    matrix_bt709: int = 1
    """The primaries and the transfer of films in high definition."""
    matrix_bt601: int = 6
    """Luma is 0.299 R + 0.587 G + 0.114 B, in a file."""
    converter_bt601: int = 5
    """The same matrix, for the converter."""


FFMPEG = FFmpegNumbers()


@dataclass
class Video:
    """A video that is open, what it states, and what came of it so far."""

    container: "InputContainer"
    stream: "VideoStream"
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
        stated, indexed = int(self.stream.frames), len(_packet_index(self.stream))
        trimmed = "mp4" in self.container.format.name and 0 < indexed < stated
        return (indexed if trimmed else stated) or None


def _packet_index(stream: "Stream") -> Sequence[Any]:
    """Where each packet lies in the file, as far as known."""
    return getattr(stream, "index_entries", None) or ()


def lacks_bytes(container: "InputContainer", stream: "Stream") -> bool:
    """Whether a file ends before the last packet that its index names."""
    end = max((entry.pos + entry.size for entry in _packet_index(stream)), default=0)
    return 0 < (container.size or 0) < end


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
        raise MediaError(_sentence_unreadable(av, name, error)) from error
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


def _sentence_unreadable(av: ModuleType, name: str, error: BaseException) -> str:
    if isinstance(error, av.error.InvalidDataError | av.error.EOFError):
        return f"{name} is not a video, or it is damaged or incomplete; expected a file such as .mp4."
    return f"{name} cannot be opened: {cause(error)}."


def read_frames(video: Video, colour: Colour, stop: Event) -> Iterator[Frame]:
    """Frames of a file with their true times, then an error if it is cut off or damaged."""
    try:
        yield from decode_frames(video, colour, stop)
        if not stop.is_set():
            _check_complete(video)
    finally:
        video.container.close()


def decode_frames(video: Video, colour: Colour, stop: Event) -> Iterator[Frame]:
    """Frames with their times since the first one; parts that cannot be decoded are skipped and counted."""
    start: float | None = None
    converter = PixelConverter(colour)
    for picture in _decode_pictures(video, stop):
        since = picture.time
        if since is None:  # no time stamp: one step after the frame before
            since = 0.0 if start is None else start + video.last + 1.0 / (video.rate or 25.0)
        start = since if start is None else start
        video.longest_step = max(video.longest_step, since - start - video.last)
        video.last = since - start
        video.given += 1
        yield Frame(video.last, converter.to_pixels(picture))
        if stop.is_set():
            return


def _decode_pictures(video: Video, stop: Event) -> Iterator["VideoFrame"]:
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
            pictures = _decode_packet(video, packet)
        except av.error.FFmpegError:
            video.damaged += 1
            continue
        for picture in pictures:
            video.damaged += bool(picture.is_corrupt)
            yield picture


def _decode_packet(video: Video, packet: "Packet[VideoStream] | None") -> list["VideoFrame"]:
    if packet is not None:
        return list(packet.decode())
    return list(video.stream.decode(None)) if video.error is not None else []  # what is still in the decoder


def _check_complete(video: Video) -> None:
    name, given, damaged = video.name, video.given, video.damaged
    if given == 0:
        raise MediaError(_without_decode_pictures(video))
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


def _without_decode_pictures(video: Video) -> str:
    if video.in_order and "mp4" in video.container.format.name:
        return (
            f"{video.name} gives no picture: to be read from a pipe or from an address that cannot skip, an MP4 must "
            "have its index in front (faststart); give the file's name, or use .mkv."
        )
    return f"{video.name} contains no picture that can be decoded; it is empty or damaged."


def _is_cut(video: Video) -> bool:
    if lacks_bytes(video.container, video.stream):
        return True
    step = video.last / (video.given - 1) if video.given > 1 else 0.0
    stated = video.stated_frames()
    if stated is not None:
        return video.given < CLEARLY_SHORT * stated and not _reaches_end(video, stated, step)
    if video.duration is None or video.given < 3:
        return False
    even = video.longest_step < 1.5 * step
    return even and video.last + step < CLEARLY_SHORT * video.duration


def _reaches_end(video: Video, stated: int, step: float) -> bool:
    """Whether the pictures go on to the stated end: an AVI of variable rate counts pictures that it leaves out.

    Of an AVI that is cut off FFmpeg shortens the duration, but not the stated number of frames.
    """
    end = max(video.duration or 0.0, stated / video.rate if video.rate else 0.0)
    return end > 0 and video.last + step >= CLEARLY_SHORT * end


class PixelConverter:
    """Takes the pixels out of decoded frames, turned upright: grey as they were coded, colours, or planes.

    The luma is taken as it was coded, without a detour over colours, and brought to the full range from black to
    white. Sources of more than 8 bits become uint16.
    """

    def __init__(self, colour: Colour) -> None:
        self._colour = colour
        self._reformatter = require("av.video.reformatter", "media").VideoReformatter()
        self._scratch: NDArray[np.uint16] = np.empty((0, 0), dtype=np.uint16)

    def to_pixels(self, frame: "VideoFrame") -> Pixels | Planes:
        """The pixels of a frame, in memory of their own."""
        is_grey = frame.format.name.startswith("gray")
        if self._colour == "planes" and not is_grey:
            return self._planes(frame)
        pixels = self._luma(frame) if is_grey or not self._colour else self._colours(frame)
        turns = round(getattr(frame, "rotation", 0) / 90)
        return np.ascontiguousarray(np.rot90(pixels, turns)) if turns else pixels

    def _planes(self, frame: "VideoFrame") -> Planes:
        """Brightness and two half-sized planes of colour in 8 bits and the full range, whatever the format is."""
        other = self._reformatter.reformat(
            frame, format="yuvj420p", dst_colorspace=FFMPEG.converter_bt601, dst_color_range="JPEG"
        )
        turns, parts = round(getattr(frame, "rotation", 0) / 90) % 4, []
        sides = (frame.height, frame.width), *[((frame.height + 1) // 2, (frame.width + 1) // 2)] * 2
        for plane, (height, width) in zip(other.planes, sides, strict=True):
            rows = np.frombuffer(plane, dtype=np.uint8).reshape(-1, plane.line_size)[:height, :width]
            parts.append(np.rot90(rows, turns).reshape(-1))
        height, width = sides[0][::-1] if turns % 2 else sides[0]
        return Planes(np.concatenate(parts), height, width)

    def _colours(self, frame: "VideoFrame") -> Pixels:
        return self._reformatted(frame, "rgb48le" if _bits(frame) > 8 else "rgb24")

    def _luma(self, frame: "VideoFrame") -> Pixels:
        kind, bits = frame.format, _bits(frame)
        if kind.is_rgb or kind.has_palette or kind.name.startswith(("pal", "bgr", "rgb", "gbr")):
            return to_grey(self._colours(frame))
        if not _FIRST_PLANE_IS_LUMA.fullmatch(kind.name):
            return self._reformatted(frame, "gray16le" if bits > 8 else "gray")
        plane = _view_first_plane(frame, bits)
        if _is_full_range(frame) and bits in (8, 16):
            return plane.astype(plane.dtype.newbyteorder("="))
        if bits > 8:
            return np.take(_wide_table(bits, _is_full_range(frame)), plane, mode="clip")
        return self._widened(plane)

    def _reformatted(self, frame: "VideoFrame", kind: str) -> Pixels:
        other = self._reformatter.reformat(frame, format=kind, dst_color_range="JPEG")
        pixels = other.to_ndarray()
        return pixels.copy() if other is frame else np.ascontiguousarray(pixels)

    def _widened(self, plane: Pixels) -> Pixels:
        """Bring 16 to 235 to 0 to 255: times 298 / 256 for 255 / 219, so that six of 220 levels are one off."""
        if self._scratch.shape != plane.shape:
            self._scratch = np.empty(plane.shape, dtype=np.uint16)
        widened, scaled = np.clip(plane, 16, 235), self._scratch
        widened -= np.uint8(16)
        np.copyto(scaled, widened)
        scaled *= np.uint16(298)
        scaled += np.uint16(132)
        scaled >>= np.uint16(8)
        np.copyto(widened, scaled, casting="unsafe")
        return widened


def _bits(frame: "VideoFrame") -> int:
    return max(component.bits for component in frame.format.components)


def _view_first_plane(frame: "VideoFrame", bits: int) -> Pixels:
    """A view of the first plane."""
    plane: Any = frame.planes[0]
    order = ">" if frame.format.name.endswith("be") else "<"
    values = np.frombuffer(plane, dtype=np.uint8 if bits <= 8 else f"{order}u2")
    row = plane.line_size // values.itemsize
    return values[: row * frame.height].reshape(frame.height, row)[:, : frame.width]


def _is_full_range(frame: "VideoFrame") -> bool:
    name = frame.format.name
    return (
        frame.color_range == FFMPEG.full_range
        or name.startswith("yuvj")
        or (name.startswith("gray") and frame.color_range == 0)
    )


@cache
def _wide_table(bits: int, full: bool) -> NDArray[np.uint16]:
    """For each value of this number of bits the one of 16 bits."""
    values = np.arange(1 << bits, dtype=np.float64)
    black, white = (0, (1 << bits) - 1) if full else (16 << (bits - 8), 235 << (bits - 8))
    return np.clip(np.rint((values - black) * (65535 / (white - black))), 0, 65535).astype(np.uint16)
