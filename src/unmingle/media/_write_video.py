"""Frames to videos that browsers play: H.264 by PyAV."""

import os
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median_low
from typing import TYPE_CHECKING, Any

import numpy as np

from .._atomic_files import hold
from .._validation import require
from ._files import check_parent_folder, move_into_place, temporary_path
from ._frame_writer import FrameWriter, Kept
from ._read_video import FFMPEG, open_video
from .errors import MediaError
from .pixels import Pixels, to_bytes
from .planes import Planes

if TYPE_CHECKING:
    from av.video.frame import VideoFrame

H264 = {"crf": "27", "preset": "ultrafast"}
"""Quality, less for better, and preset of the encoder, faster for larger files."""
FORMATS = {".m4v": "mp4", ".mkv": "matroska", ".mov": "mov", ".mp4": "mp4"}
"""How FFmpeg calls the formats of each suffix."""
_SAFE = {"movflags": "hybrid_fragmented+delay_moov"}
"""What was written before a crash can be played, though not yet everywhere; once closed the file is an ordinary one."""


@dataclass(frozen=True)
class _Timing:
    """When frames are shown, and where a player can begin."""

    seconds_between_key_frames: float = 2.0
    """A player can begin at key frames only; more of them make larger files."""
    steps_remembered: int = 99
    """The last frame is shown for as long as the median of this number of frames before it."""
    shortest_last_frame: float = 0.002
    """The seconds of the last frame, at least: MP4 states where a film ends in whole thousandths, and what begins
    after that is not shown."""


_TIMING = _Timing()
_LUMA_TO_LIMITED, _CHROMA_TO_LIMITED = (219, 16 * 255), (224, 128 * (255 - 224))
"""Factor and offset, in 255ths, from the full range to 16 to 235, and to 16 to 240 around 128."""


class VideoWriter(FrameWriter):
    """A video of H.264."""

    _takes_planes = True

    def _open(self) -> None:
        check_parent_folder(self.path)
        self._av = require("av", "media")
        self._reformatter = require("av.video.reformatter", "media").VideoReformatter()
        self._temporary = temporary_path(self.path)
        self._claim = hold(self._temporary)
        self._file = _CarefulFile(self._temporary)
        self._container: Any = None

    def _begin(self, first: Pixels) -> None:
        kind = FORMATS[self.path.suffix.lower()]
        self._base = Fraction(1, 1000 if kind == "matroska" else 90000)
        self._held: VideoFrame | None = None
        self._first_dts: int | None = None
        self._last_tick, self._steps = -1, deque[int](maxlen=_TIMING.steps_remembered)
        self._container = self._av.open(self._file, "w", format=kind, options=_SAFE if kind != "matroska" else {})
        rate = Fraction(self._rate).limit_denominator(1001)
        try:
            stream = self._container.add_stream("libx264", rate=rate)
        except ValueError as error:
            raise MediaError(
                f"{self.path.name} cannot be written: this PyAV was built without H.264 (libx264); "
                "install the one with it by: pip install --force-reinstall av"
            ) from error
        stream.height, stream.width = (size + size % 2 for size in first.shape[:2])
        stream.pix_fmt = "yuv420p"
        stream.options = dict(H264)
        coder = stream.codec_context
        coder.gop_size = max(1, round(_TIMING.seconds_between_key_frames * self._rate))
        coder.time_base = self._base
        coder.flags |= self._av.codec.context.Flags.frame_duration
        coder.color_range, coder.colorspace = FFMPEG.limited_range, FFMPEG.matrix_bt601
        coder.color_primaries = coder.color_trc = FFMPEG.matrix_bt709
        self._stream = stream

    def _add(self, pixels: Pixels | Planes, time: float) -> None:
        if isinstance(pixels, Planes) and (pixels.dtype != np.uint8 or pixels.height % 2 or pixels.width % 2):
            pixels = pixels.to_rgb()
        frame = self._to_video_frame(pixels if isinstance(pixels, Planes) else _pad_to_even(to_bytes(pixels)))
        tick = max(round(time / self._base), self._last_tick + 1)
        if self._held is not None:
            self._steps.append(tick - self._last_tick)
            self._encode_held(self._steps[-1])
        frame.pts, frame.time_base = tick, self._base
        self._held, self._last_tick = frame, tick

    def _encode_held(self, duration: int) -> None:
        """A frame is held back until the next one tells how long it is shown."""
        frame, self._held = self._held, None
        if frame is not None:
            frame.duration = duration
            self._encode(frame)

    def _encode_last(self) -> None:
        """The last frame is shown for the typical step; as a key frame it is also the last one in the file."""
        if self._held is not None:  # as it is if writing was interrupted
            self._held.pict_type = self._av.video.frame.PictureType.I
            step = median_low(self._steps) if self._steps else round(1 / self._rate / self._base)
            self._encode_held(max(step, round(_TIMING.shortest_last_frame / self._base)))
        self._encode(None)

    def _to_video_frame(self, pixels: Pixels | Planes) -> "VideoFrame":
        """Luma and chroma of a picture; their matrix is the one of 0.299 R + 0.587 G + 0.114 B."""
        if isinstance(pixels, Planes):
            luma = pixels.height * pixels.width
            parts = (
                _to_limited_range(pixels.values[:luma], _LUMA_TO_LIMITED),
                _to_limited_range(pixels.values[luma:], _CHROMA_TO_LIMITED),
            )
            frame = self._av.VideoFrame.from_ndarray(np.concatenate(parts).reshape(-1, pixels.width), format="yuv420p")
        elif pixels.ndim == 3:
            frame = self._av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame = self._reformatter.reformat(
                frame, format="yuv420p", dst_colorspace=FFMPEG.converter_bt601, dst_color_range=FFMPEG.limited_range
            )
        else:
            height, width = pixels.shape
            planes = np.full((height * 3 // 2, width), 128, dtype=np.uint8)
            planes[:height] = _to_limited_range(pixels, _LUMA_TO_LIMITED)
            frame = self._av.VideoFrame.from_ndarray(planes, format="yuv420p")
        frame.colorspace, frame.color_range = FFMPEG.matrix_bt601, FFMPEG.limited_range
        return frame

    def _encode(self, frame: "VideoFrame | None") -> None:
        try:
            for packet in self._stream.encode(frame):
                self._container.mux(self._timed(packet))
        except self._av.error.FFmpegError as error:
            raise self._failure(error) from error

    def _timed(self, packet: Any) -> Any:
        """The packet, if it is the last one decoded as late before its time as the first one.

        The encoder has it decoded some frames before; MP4 adds up the times of decoding, so that a long step among
        the last frames would be missing from the duration.
        """
        if self._first_dts is None:
            self._first_dts = packet.dts - packet.pts
        if self._closed and packet.pts == self._last_tick:
            packet.dts = max(packet.dts, packet.pts + self._first_dts)
        return packet

    def _failure(self, error: Exception) -> OSError:
        return self._file.error or OSError(getattr(error, "errno", 0), getattr(error, "strerror", None) or str(error))

    def _finish(self) -> None:
        self._encode_last()
        try:
            self._container.close()
        except self._av.error.FFmpegError as error:
            raise self._failure(error) from error
        if self._file.error is not None:
            raise self._file.error
        self._file.close()
        move_into_place(self._temporary, self.path)

    def _discard(self) -> None:
        self._file.close()
        self._temporary.unlink(missing_ok=True)

    def _salvage(self) -> Kept | None:
        self._file.fail()
        with suppress(Exception):
            self._container.close()
        self._container = None
        self._file.close()
        kept = self.path
        if kept.exists():
            kept = kept.with_name(f"{kept.stem}.partial{kept.suffix}")
        with suppress(OSError):
            is_whole = self.path.suffix.lower() == ".mkv" or _drop_half_fragment(self._temporary)
            if _is_playable(self._temporary):
                self._temporary.replace(kept)
                return Kept(kept, _count_packets(kept) if is_whole else None)
            self._temporary.unlink()
        return None


def _to_limited_range(values: Pixels, factor_and_offset: tuple[int, int]) -> Pixels:
    """Bytes of the full range in the limited one, rounded."""
    factor, offset = factor_and_offset
    wide = np.multiply(values, factor, dtype=np.uint16)
    wide += np.uint16(offset + 127)
    wide //= np.uint16(255)
    return wide.astype(np.uint8)


def _pad_to_even(pixels: Pixels) -> Pixels:
    """The picture with its last row and column repeated where its size is odd."""
    height, width = pixels.shape[:2]
    if height % 2 or width % 2:
        edges = ((0, height % 2), (0, width % 2), (0, 0))
        return np.pad(pixels, edges[: pixels.ndim], mode="edge")
    return pixels


def _is_playable(path: Path) -> bool:
    av = require("av", "media")
    try:
        video = open_video(f"file:{path}", path.name)
        with video.container:
            return next(video.container.decode(video.stream), None) is not None
    except (MediaError, av.error.FFmpegError):
        return False


def _count_packets(path: Path) -> int | None:
    """How many whole frames a file contains, without decoding them; None if that cannot be told."""
    av = require("av", "media")
    n = 0
    try:
        with av.open(f"file:{path}") as container:
            for packet in container.demux(video=0):
                n += packet.size > 0 and not packet.is_corrupt
    except (av.error.FFmpegError, OSError):
        pass  # a file that ends within a packet
    return n or None


def _drop_half_fragment(path: Path) -> bool:
    """Cut an MP4 after its last whole fragment, a box moof followed by one mdat, and tell whether there is one."""
    end, before = 0, b""
    for kind, stop in _outer_boxes(path):
        if (before, kind) == (b"moof", b"mdat"):
            end = stop
        before = kind
    if end:
        os.truncate(path, end)
    return end > 0


def _outer_boxes(path: Path) -> Iterator[tuple[bytes, int]]:
    """Kinds and ends of the outer boxes of an MP4 that lie within the file."""
    size, start = path.stat().st_size, 0
    with path.open("rb") as file:
        while start + 8 <= size:
            file.seek(start)
            head = file.read(16)
            length = int.from_bytes(head[:4], "big")
            if length == 1:  # the true length follows
                length = int.from_bytes(head[8:], "big")
            if length < 8 or start + length > size:
                return
            start += length
            yield head[4:8], start


class _CarefulFile:
    """A file that is never written to again once that has failed, so that what it contains stays as it is."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self.error: OSError | None = None
        self._file = path.open("wb", buffering=0)

    def write(self, content: bytes) -> int:
        """Write all bytes."""
        if self.error is not None:
            raise self.error
        left = memoryview(content)
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            self.error = error
            raise
        return len(content)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move to a place."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """The place."""
        return self._file.tell()

    def fail(self) -> None:
        """Refuse further writing."""
        self.error = self.error or OSError("writing failed")

    def close(self) -> None:
        """Close the file; the one who writes a video leaves that to the one who opened it."""
        self._file.close()
