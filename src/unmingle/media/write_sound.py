"""Blocks of samples to sound files and to bytes."""

from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from .._atomic_files import Hold, hold
from .._types import Float32Array
from .._validation import check_count, check_positive, require
from ._files import check_parent_folder, move_into_place, temporary_path, unwritable_in_words
from .errors import MediaError, cause

Samples = Float32Array

_MP3_RATES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000)
_OPUS_RATES = (8000, 12000, 16000, 24000, 48000)
_FINE = 0.1
"""How far from the best quality towards the smallest size lossy files are: about 200 kbit/s of stereo."""
_PIECE = 2**16
"""Samples that are encoded in one go."""
_MOST_BYTES = 2**32 - 2**20
"""What a WAV can hold."""


class SoundFormat(NamedTuple):
    """How soundfile calls a format, and what it holds."""

    container: str
    coding: str
    most_channels: int
    holds: Callable[[int], bool]
    """Whether it has such a rate."""
    rates: str
    bounded: bool = True
    """Samples must lie between -1 and 1."""
    lossy: bool = False


def _named(rates: tuple[int, ...]) -> str:
    return ", ".join(map(str, rates[:-1])) + f" or {rates[-1]} Hz"


FORMATS = {
    ".wav": SoundFormat("WAV", "FLOAT", 1024, lambda rate: True, "any rate", bounded=False),
    ".flac": SoundFormat(
        "FLAC",
        "PCM_24",
        8,
        lambda rate: rate < 2**16 or (rate <= 655350 and rate % 10 == 0),
        "65535 Hz at most, or tens of hertz up to 655350",
    ),
    ".mp3": SoundFormat("MP3", "MPEG_LAYER_III", 2, _MP3_RATES.__contains__, _named(_MP3_RATES), lossy=True),
    ".ogg": SoundFormat("OGG", "VORBIS", 2, lambda rate: 1000 <= rate <= 192000, "1000 to 192000 Hz", lossy=True),
    ".opus": SoundFormat("OGG", "OPUS", 2, _OPUS_RATES.__contains__, _named(_OPUS_RATES), lossy=True),
}


def _fits(known: SoundFormat, rate: int, n_channels: int) -> bool:
    return n_channels <= known.most_channels and known.holds(rate)


def format_of(name: str, rate: int, n_channels: int) -> SoundFormat:
    """The format of a file by its suffix, or the sentence why it cannot hold such a sound."""
    check_count(rate, "rate")
    check_count(n_channels, "n_channels")
    suffix = Path(name).suffix.lower()
    if suffix not in FORMATS:
        kinds = ", ".join(FORMATS)
        raise MediaError(f"{name} cannot be written as sound; expected a name that ends in one of {kinds}.")
    known = FORMATS[suffix]
    if not _fits(known, rate, n_channels):
        likely = (".ogg", ".flac", ".wav") if known.lossy else (".flac", ".wav")
        others = [other for other in likely if _fits(FORMATS[other], rate, n_channels)]
        allowed = f"{known.most_channels} channels at most and {known.rates}"
        came = f"{n_channels} {'channel' if n_channels == 1 else 'channels'} at {rate} Hz"
        choose = f"choose {' or '.join(others)}" if others else "use fewer channels"
        raise MediaError(f"{name} cannot be written: {suffix} can have {allowed}, and this has {came}; {choose}.")
    return known


class SoundWriter:
    """Writes blocks of samples one after the other; used in a with statement, or closed at the end.

    WAV holds float32 as it is, FLAC 24 bits; MP3, Ogg Vorbis and Opus are lossy, at a high quality. All but WAV hold
    numbers from -1 to 1 only: larger ones are refused, never clipped. The file has a temporary name until it is
    closed; if the with statement is left by an error, or nothing was written, no file is left.

    Parameters
    ----------
    path : path
        Where to write: .wav, .flac, .mp3, .ogg or .opus.
    rate : int
        Samples in a second.
    n_channels : int
        Channels.
    gain : float, default=1
        What all samples are multiplied with.

    Attributes
    ----------
    path : Path
        The file.
    n_written : int
        How many samples of each channel were written.

    Raises
    ------
    MediaError
        The format does not hold such a sound, or the file cannot be written.
    """

    def __init__(self, path: str | PathLike[str], rate: int, n_channels: int, *, gain: float = 1.0) -> None:
        self.path, self.n_written = Path(fspath(path)), 0
        known = format_of(self.path.name, rate, n_channels)
        check_positive(gain, "gain")
        check_parent_folder(self.path)
        self._temporary, self._claim, self._closed = temporary_path(self.path), Hold(None), False
        try:
            with unwritable_in_words(self.path):
                self._claim = hold(self._temporary)
                self._sink = _Sink(self._temporary)
        except MediaError:
            self._claim.release()
            raise
        try:
            self._coder = _Coder(self._sink, self.path.name, known, rate, n_channels, gain)
        except BaseException:
            self._discard()
            raise

    def write(self, samples: ArrayLike) -> None:
        """Write a block.

        Parameters
        ----------
        samples : array_like of shape (n, n_channels), or (n,) for one channel
            Finite numbers, from -1 to 1 once multiplied with the gain, for WAV any.

        Raises
        ------
        MediaError
            The block is not as expected, or the file cannot be written.
        """
        if self._closed:
            raise MediaError(f"{self.path.name} is closed; samples must be written before that.")
        self.n_written += self._coder.write(samples)
        self._heed(self._sink.error)

    def close(self) -> None:
        """Finish the file and give it its name.

        Raises
        ------
        MediaError
            The file cannot be finished.
        """
        if self._closed:
            return
        if self.n_written == 0:
            self._discard()
            return
        try:
            self._coder.close()
            self._sink.close()
            self._heed(self._sink.error)
            move_into_place(self._temporary, self.path)
        except OSError as error:
            self._heed(error)
        except BaseException:
            self._discard()
            raise
        self._closed = True
        self._claim.release()

    def _heed(self, error: BaseException | None) -> None:
        """Leave nothing behind after an error, and tell it."""
        if error is not None:
            self._discard()
            if isinstance(error, OSError):
                raise MediaError(f"{self.path} cannot be written: {cause(error)}; nothing is left of it.") from error
            raise error

    def _discard(self) -> None:
        self._closed = True
        if hasattr(self, "_coder"):
            self._coder.close()
        with suppress(OSError):
            self._sink.close()
        with suppress(OSError):
            self._temporary.unlink(missing_ok=True)
        self._claim.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        elif not self._closed:
            self._discard()


def encode_sound(samples: ArrayLike, rate: int, suffix: str = ".mp3", *, gain: float = 1.0) -> bytes:
    """A short sound as the content of a file, for players in pages.

    Parameters
    ----------
    samples : array_like of shape (n, n_channels), or (n,) for one channel
        Finite numbers, from -1 to 1 once multiplied with the gain, for WAV any.
    rate : int
        Samples in a second.
    suffix : {".mp3", ".flac", ".ogg", ".opus", ".wav"}
        The format.
    gain : float, default=1
        What all samples are multiplied with.

    Returns
    -------
    bytes

    Raises
    ------
    MediaError
        The format does not hold such a sound.
    """
    given = np.asarray(samples)
    n_channels = given.shape[1] if given.ndim == 2 else 1
    name = f"sound{suffix}"
    content = BytesIO()
    coder = _Coder(content, name, format_of(name, rate, n_channels), rate, n_channels, check_positive(gain, "gain"))
    try:
        coder.write(given)
    finally:
        coder.close()
    return content.getvalue()


class _Coder:
    """Checked blocks to an open file."""

    def __init__(self, file: Any, name: str, known: SoundFormat, rate: int, n_channels: int, gain: float) -> None:
        library = require("soundfile", "media")
        self._name, self._known, self._n_channels, self._gain, self._n_bytes = name, known, n_channels, gain, 0
        quality = {"compression_level": _FINE} if known.lossy else {}
        try:
            self._file = library.SoundFile(file, "w", rate, n_channels, known.coding, format=known.container, **quality)
        except library.LibsndfileError as error:
            raise MediaError(f"{name} cannot be written: {cause(error)}; choose .wav.") from error

    def write(self, samples: ArrayLike) -> int:
        """Write a block and return its length."""
        block = self._checked(samples)
        for start in range(0, len(block), _PIECE):
            self._file.write(block[start : start + _PIECE])
        return len(block)

    def close(self) -> None:
        """Write what is still to be written."""
        self._file.close()

    def _checked(self, samples: ArrayLike) -> Samples:
        block = to_block(samples, self._n_channels, self._name)
        if self._gain != 1.0:
            block = block * np.float32(self._gain)
        self._n_bytes += block.nbytes
        if self._known.container == "WAV" and self._n_bytes > _MOST_BYTES:
            raise MediaError(f"{self._name} cannot be written: a WAV file has at most 4 gigabytes; choose .flac.")
        if self._known.bounded:
            beyond = np.abs(block) > 1
            if beyond.any():
                n, peak = np.count_nonzero(beyond), float(np.abs(block).max())
                raise MediaError(
                    f"{self._name} takes samples from -1 to 1, but {n} of this block go up to {peak:.4g}; "
                    f"give a gain of at most {self._gain / peak:.4g}, or write .wav."
                )
        return block


def to_block(samples: ArrayLike, n_channels: int, name: str) -> Samples:
    """Samples as a float32 array of shape (n, n_channels), or the sentence what is wrong with them."""
    block = np.asarray(samples, dtype=np.float32)
    block = block[:, None] if block.ndim == 1 else block
    if block.ndim != 2 or block.shape[1] != n_channels:
        raise MediaError(
            f"Samples for {name} must have the shape (n, {n_channels}), one column for each channel; "
            f"got {np.shape(samples)}."
        )
    if not np.isfinite(block).all():
        raise MediaError(f"Samples for {name} must be finite numbers; found NaN or infinity.")
    return block


class _Sink:
    """A file that keeps its first error, for the library that calls it from C cannot pass one on."""

    def __init__(self, path: Path) -> None:
        self.error: BaseException | None = None
        self._file = path.open("w+b")

    def write(self, content: bytes) -> int:
        """Write all bytes, unless that has failed before."""
        if self.error is None:
            try:
                self._file.write(content)
            except BaseException as error:
                self.error = error
        return len(content)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move to a place."""
        try:
            return self._file.seek(offset, whence)
        except OSError as error:  # what was held back could not be written
            self.error = self.error or error
            return 0

    def tell(self) -> int:
        """The place."""
        return self._file.tell()

    def read(self, n: int) -> bytes:
        """Read bytes again."""
        return self._file.read(n)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
