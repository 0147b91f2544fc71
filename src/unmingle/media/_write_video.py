"""Frames to videos that browsers play: H.264 by PyAV."""

from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from .._validation import require
from ._errors import MediaError
from ._pixels import Pixels, to_bytes
from ._video import open_video
from ._writer import FrameWriter, aside, check_folder, put_in_place

FORMATS = {".m4v": "mp4", ".mkv": "matroska", ".mov": "mov", ".mp4": "mp4"}
"""How FFmpeg calls the formats of each suffix."""
_SAFE = {"movflags": "hybrid_fragmented+delay_moov"}
"""What was written before a crash can be played, though not yet everywhere; once closed the file is an ordinary one."""
_SECONDS_BETWEEN_KEY_FRAMES = 2
_LIMITED, _BT709, _BT601, _SWS_BT601 = 1, 1, 6, 5
"""How FFmpeg numbers the range 16 to 235 and the matrices of colours, and how its converter numbers one."""
_CODED = np.rint(16 + np.arange(256) * (219 / 255)).astype(np.uint8)
"""The luma from 16 to 235 of each grey value."""


class VideoWriter(FrameWriter):
    """A video of H.264."""

    def _open(self) -> None:
        check_folder(self.path)
        self._av = require("av", "media")
        self._reformatter = require("av.video.reformatter", "media").VideoReformatter()
        self._aside = aside(self.path)
        self._file = _File(self._aside)
        self._container: Any = None

    def _begin(self, first: Pixels) -> None:
        kind = FORMATS[self.path.suffix.lower()]
        self._base = Fraction(1, 1000 if kind == "matroska" else 90000)
        self._last_tick, self._step = -1, max(1, round(1 / self._rate / self._base))
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
        stream.options = {"crf": "23", "preset": "veryfast"}
        coder = stream.codec_context
        coder.gop_size = max(1, round(_SECONDS_BETWEEN_KEY_FRAMES * self._rate))
        coder.time_base = self._base
        coder.color_range, coder.colorspace = _LIMITED, _BT601
        coder.color_primaries = coder.color_trc = _BT709
        self._stream = stream

    def _add(self, pixels: Pixels, time: float) -> None:
        frame = self._coded(_even(to_bytes(pixels)))
        tick = max(round(time / self._base), self._last_tick + 1)
        if self._last_tick >= 0:
            self._step = tick - self._last_tick
        frame.pts, frame.time_base, frame.duration = tick, self._base, self._step
        self._last_tick = tick
        self._encode(frame)

    def _coded(self, pixels: Pixels) -> Any:
        """Luma and chroma of a picture; their matrix is the one of 0.299 R + 0.587 G + 0.114 B."""
        if pixels.ndim == 3:
            frame = self._av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame = self._reformatter.reformat(
                frame, format="yuv420p", dst_colorspace=_SWS_BT601, dst_color_range=_LIMITED
            )
        else:
            height, width = pixels.shape
            planes = np.full((height * 3 // 2, width), 128, dtype=np.uint8)
            np.take(_CODED, pixels, out=planes[:height], mode="clip")
            frame = self._av.VideoFrame.from_ndarray(planes, format="yuv420p")
        frame.colorspace, frame.color_range = _BT601, _LIMITED
        return frame

    def _encode(self, frame: Any) -> None:
        try:
            for packet in self._stream.encode(frame):
                self._container.mux(packet)
        except self._av.error.FFmpegError as error:
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> OSError:
        return self._file.error or OSError(getattr(error, "errno", 0), getattr(error, "strerror", None) or str(error))

    def _finish(self) -> None:
        self._encode(None)
        try:
            self._container.close()
        except self._av.error.FFmpegError as error:
            raise self._failure(error) from error
        if self._file.error is not None:
            raise self._file.error
        self._file.close()
        put_in_place(self._aside, self.path)

    def _discard(self) -> None:
        self._file.close()
        self._aside.unlink(missing_ok=True)

    def _salvage(self) -> Path | None:
        self._file.fail()
        with suppress(Exception):
            self._container.close()
        self._container = None
        self._file.close()
        kept = self.path
        if kept.exists():
            kept = kept.with_name(f"{kept.stem}.partial{kept.suffix}")
        with suppress(OSError):
            if _is_playable(self._aside):
                self._aside.replace(kept)
                return kept
            self._aside.unlink()
        return None


def _even(pixels: Pixels) -> Pixels:
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


class _File:
    """A file that is never written to again once that has failed, so that what it holds stays as it is."""

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
