"""Sound files to blocks of samples: by soundfile; by PyAV the sound of films, and of files made as films are."""

import re
from collections.abc import Callable, Iterator
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from .._types import Float32Array
from .._validation import is_missing, require
from ._files import list_files
from ._read_video import CLEARLY_SHORT, TEXT_FORMATS, lacks_bytes
from .errors import IncompleteError, MediaError, cause

if TYPE_CHECKING:
    from av.audio.frame import AudioFrame
    from av.audio.stream import AudioStream

Samples = Float32Array

SOUND_SUFFIXES = frozenset(
    {".aac", ".aif", ".aiff", ".flac", ".m4a", ".mkv", ".mp3", ".mp4", ".oga", ".ogg", ".opus", ".wav", ".webm"}
)
"""Names of files that count as sound when a folder is read."""
_BY_PYAV = frozenset({".aac", ".m4a", ".mkv", ".mov", ".mp3", ".mp4", ".webm"})
"""Not tried with soundfile, whose decoder of MP3 prints its own notes on damaged files."""
_BLOCK = 2**17
"""About how many numbers a block has."""
_UNKNOWN_SIZE = 2**31 - 2**16
"""Programs that write to a pipe state at least this number of bytes, as they cannot know."""
_SAME_LENGTH = 0.02
"""Lengths that differ by a smaller share are one and the same."""


class SoundSource(Iterator[Samples]):
    """An iterator of blocks of samples that is closed at the end of a with statement.

    Blocks are float32 arrays of shape (n, n_channels) with memory of their own; what was stored as integers lies
    between -1 and 1. Memory does not depend on the length of the sound.

    Attributes
    ----------
    name : str
        What errors call the source.
    rate : int
        Samples in a second.
    n_channels : int
        Channels.
    n_samples : int or None
        Samples of each channel that the file states to hold; None if it does not say. Formats that were made for films
        state it to a few thousandths of a second only.
    """

    def __init__(
        self,
        blocks: Iterator[Samples],
        close: Callable[[], None],
        *,
        name: str,
        rate: int,
        n_channels: int,
        n_samples: int | None,
    ) -> None:
        self.name, self.rate, self.n_channels, self.n_samples = name, rate, n_channels, n_samples
        self._blocks, self._close = _checked(blocks, name, rate), close

    def __next__(self) -> Samples:
        return next(self._blocks)

    def close(self) -> None:
        """Stop reading; there are no more blocks."""
        self._blocks = iter(())
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Sound(NamedTuple):
    """A sound as a whole."""

    samples: Samples
    """(n, n_channels)."""
    rate: int
    """Samples in a second."""


def open_sound(path: str | PathLike[str]) -> SoundSource:
    """Open a sound file to be read block by block.

    Parameters
    ----------
    path : path
        A file of WAV, FLAC, Ogg (Vorbis, Opus), AIFF, MP3, AAC, or of MP4, WebM or Matroska, of which the first track
        of sound is taken. What it is, its content tells.

    Returns
    -------
    SoundSource
        An iterator of blocks, to be closed or used in a with statement.

    Raises
    ------
    MediaError
        The file is missing or holds no sound. While it is read: a sample is no number or, after the last readable
        block, the file is cut off or damaged (IncompleteError).
    """
    place = Path(fspath(path))
    try:
        return _opened(place)
    except OSError as error:
        raise MediaError(f"{place} cannot be read: {cause(error)}.") from error


def read_sound(path: str | PathLike[str]) -> Sound:
    """Read a sound file as a whole; `open_sound` reads it block by block.

    Parameters
    ----------
    path : path
        The file, as `open_sound` takes it.

    Returns
    -------
    Sound
        `(samples, rate)`, the samples a float32 array of shape (n, n_channels).

    Raises
    ------
    MediaError
        The file is missing, holds no sound, or is cut off or damaged.
    """
    with open_sound(path) as source:
        return Sound(np.concatenate(list(source)), source.rate)


def sound_paths(folder: str | PathLike[str]) -> list[Path]:
    """The sound files of a folder, by their suffixes, in the order of the numbers in their names: song2 before song10.

    Parameters
    ----------
    folder : path
        The folder; folders within and hidden files are passed over.

    Returns
    -------
    list of Path

    Raises
    ------
    MediaError
        There is no such folder, or no sound in it.
    """
    return list_files(folder, SOUND_SUFFIXES, "sound; expected files such as .wav, .flac, .mp3 or .m4a")


def _opened(path: Path) -> SoundSource:
    if path.is_dir():
        raise MediaError(f"{path} is a folder; expected a sound file such as .wav.")
    if not path.exists():
        raise MediaError(f"{path} {is_missing(path)}; check its name.")
    if not path.is_file():
        raise MediaError(f"{path} is not a file; expected a sound file such as .wav.")
    with path.open("rb") as file:
        if not file.read(1):
            raise MediaError(f"{path.name} is empty: it has 0 bytes.")
    suited = path.suffix.lower() not in _BY_PYAV
    return (_by_soundfile(path) if suited else None) or _by_pyav(path)


def _by_soundfile(path: Path) -> SoundSource | None:
    """The sound, or None if soundfile does not know the format."""
    library = require("soundfile", "media")
    try:
        file = library.SoundFile(path)
    except (library.LibsndfileError, TypeError):  # a TypeError for names that end in .raw
        return None
    if file.frames == 0:
        file.close()
        raise MediaError(f"{path.name} contains no samples; expected a sound with at least one sample.")
    stated = _stated(file)
    facts: dict[str, Any] = {"name": path.name, "rate": file.samplerate, "n_channels": file.channels}
    return SoundSource(_read(library, file, path.name, stated), file.close, n_samples=file.frames, **facts)


def _by_pyav(path: Path) -> SoundSource:
    track = Track(path)
    facts: dict[str, Any] = {"rate": track.rate, "n_channels": track.n_channels, "n_samples": track.n_samples}
    return SoundSource(track.blocks(_BLOCK // track.n_channels + 1), track.close, name=path.name, **facts)


def _stated(file: Any) -> int:
    """How many samples the header promises; of a WAV that is cut off, soundfile counts those that are there."""
    found = re.search(r"^data : (\d+) \(should be (\d+)\)", file.extra_info, re.MULTILINE)
    promised, there = map(int, found.groups()) if found else (0, 1)
    cut = there < promised < _UNKNOWN_SIZE
    return round(file.frames * promised / there) if cut else int(file.frames)


def _read(library: Any, file: Any, name: str, stated: int) -> Iterator[Samples]:
    given = 0
    while True:
        try:
            block = file.read(_BLOCK // file.channels + 1, dtype="float32", always_2d=True)
        except library.LibsndfileError:  # what it was about to give is lost
            break
        if not len(block):
            break
        given += len(block)
        yield block
    if given < stated:
        read = f"{given / file.samplerate:.2f} of {stated / file.samplerate:.2f} seconds could be read"
        raise IncompleteError(f"{name} is cut off or damaged: {read}.", given)


def _checked(blocks: Iterator[Samples], name: str, rate: int) -> Iterator[Samples]:
    given = 0
    for block in blocks:
        if not np.isfinite(block).all():
            first = int(np.argmin(np.isfinite(block).all(axis=1)))
            seconds = (given + first) / rate
            raise MediaError(
                f"{name} contains NaN or infinity, first at {seconds:.3f} seconds; expected numbers: make it 0 there."
            )
        given += len(block)
        yield block


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
        """Blocks of at least `least` samples, but for the last one; then an error if the file is cut off or damaged."""
        held: list[Samples] = []
        for piece in self._pieces():
            held.append(piece)
            if sum(map(len, held)) >= least:
                yield np.concatenate(held)
                held = []
        if held:
            yield np.concatenate(held)
        self._check_complete()

    def _first(self) -> "AudioStream":
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
        if kind == "mp3" and pace and abs(bits / pace - seconds) < _SAME_LENGTH * seconds:
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

    def _frames(self) -> Iterator["AudioFrame | None"]:
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
        if lacks_bytes(self._container, self._stream) or (stated is not None and given < CLEARLY_SHORT * stated):
            of = f" of {stated / self.rate:.2f}" if stated else ""
            raise IncompleteError(
                f"{name} is cut off or damaged: {given / self.rate:.2f}{of} seconds could be read.", given
            )
        if self._error is not None:
            raise IncompleteError(f"{name} ends with an error, {cause(self._error)}: {read} could be read.", given)
        if self._damaged:
            places = f"{self._damaged} {'place' if self._damaged == 1 else 'places'}"
            raise IncompleteError(f"{name} is damaged in {places}: {read} could be read.", given)
