"""The sound of films, and of files made as films are, by PyAV."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .._types import Float32Array
from .._validation import require
from ._errors import IncompleteError, MediaError, cause
from ._video import TEXT_FORMATS

Samples = Float32Array

_CLEARLY_SHORT = 0.9
"""A file that gives less than this share of what it states is cut off."""
_SAME = 0.02
"""Lengths that differ by a smaller share are one and the same."""


class Track:
    """The first track of sound in a file.

    Attributes
    ----------
    rate, n_channels : int
        Samples in a second, and channels.
    n_samples : int or None
        Samples of each channel as the file states it, to a few thousandths of a second.
    """

    def __init__(self, path: Path) -> None:
        self._av, self._name = require("av", "media"), path.name
        try:
            self._container = self._av.open(f"file:{path}")
        except (self._av.error.InvalidDataError, self._av.error.EOFError) as error:
            raise MediaError(
                f"{path.name} is not a sound file, or it is damaged or incomplete; "
                "expected a file such as .wav, .flac, .mp3 or .m4a."
            ) from error
        except (self._av.error.FFmpegError, OSError, ValueError) as error:
            raise MediaError(f"{path.name} cannot be opened: {cause(error)}.") from error
        try:
            self._stream = self._first()
            self.rate, self.n_channels = int(self._stream.rate or 0), int(self._stream.channels or 0)
            if not self.rate or not self.n_channels:
                raise MediaError(
                    f"{path.name} contains sound that cannot be decoded; it is damaged or in an unknown format."
                )
        except MediaError:
            self.close()
            raise
        self.n_samples = self._stated()
        self._given = self._damaged = 0
        self._error: BaseException | None = None

    def close(self) -> None:
        """Close the file."""
        self._container.close()

    def blocks(self, least: int) -> Iterator[Samples]:
        """Blocks of at least so many samples, but for the last one; then an error if the file is cut off or damaged."""
        held: list[Samples] = []
        for piece in self._pieces():
            held.append(piece)
            if sum(map(len, held)) >= least:
                yield np.concatenate(held)
                held = []
        if held:
            yield np.concatenate(held)
        self._check_complete()

    def _first(self) -> Any:
        streams = [stream for stream in self._container.streams.audio if stream.codec_context]
        if streams:
            return streams[0]
        is_text = self._container.format.name in TEXT_FORMATS
        found = "text" if is_text else "pictures but no sound" if self._container.streams.video else "no sound"
        raise MediaError(f"{self._name} contains {found}; expected a sound file such as .wav or .mp3.")

    def _stated(self) -> int | None:
        """Samples by the stated duration; one that was guessed from the size of the file states nothing."""
        stream, kind = self._stream, self._container.format.name
        if not stream.duration or not stream.time_base or kind == "aac":
            return None
        seconds = float(stream.duration * stream.time_base)
        bits, pace = 8 * (self._container.size or 0), stream.codec_context.bit_rate or 0
        if kind == "mp3" and pace and abs(bits / pace - seconds) < _SAME * seconds:
            return None
        return max(1, round(seconds * self.rate))

    def _pieces(self) -> Iterator[Samples]:
        """Decoded sound as floats of the stated rate and layout; what cannot be decoded is skipped and counted."""
        layout = self._stream.codec_context.layout
        converter = self._av.AudioResampler(format="fltp", layout=layout, rate=self.rate)
        for frame in self._frames():
            try:
                pieces = converter.resample(frame)
            except ValueError as error:
                raise MediaError(
                    f"{self._name} changes its rate or channels after {self._given / self.rate:.2f} seconds; "
                    "expected one kind of sound: convert it to .wav first."
                ) from error
            for piece in pieces:
                samples = np.ascontiguousarray(piece.to_ndarray().T, dtype=np.float32)
                self._given += len(samples)
                yield samples

    def _frames(self) -> Iterator[Any]:
        """Decoded frames, at last None to empty the converter."""
        packets = self._container.demux(self._stream)
        while True:
            try:
                packet = next(packets, None)
            except (self._av.error.FFmpegError, OSError) as error:
                self._error = error
                break
            if packet is None:
                break
            try:
                yield from packet.decode()
            except self._av.error.FFmpegError:
                self._damaged += 1
        if self._given:
            yield None

    def _check_complete(self) -> None:
        name, given, stated = self._name, self._given, self.n_samples
        if given == 0:
            raise MediaError(f"{name} contains no sound that can be decoded; it is empty or damaged.")
        read = f"{given / self.rate:.2f} seconds"
        index = getattr(self._stream, "index_entries", None) or ()
        lacks_bytes = 0 < (self._container.size or 0) < max((entry.pos + entry.size for entry in index), default=0)
        if lacks_bytes or (stated is not None and given < _CLEARLY_SHORT * stated):
            of = f" of {stated / self.rate:.2f}" if stated else ""
            raise IncompleteError(
                f"{name} is cut off or damaged: {given / self.rate:.2f}{of} seconds could be read.", given
            )
        if self._error is not None:
            raise IncompleteError(f"{name} ends with an error, {cause(self._error)}: {read} could be read.", given)
        if self._damaged:
            places = f"{self._damaged} {'place' if self._damaged == 1 else 'places'}"
            raise IncompleteError(f"{name} is damaged in {places}: {read} could be read.", given)
