"""Several sounds that belong together, scaled by one gain."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import numpy as np
from numpy.typing import ArrayLike

from .._atomic_files import Hold, hold
from ._files import check_parent_folder, temporary_path, unwritable_in_words
from .errors import MediaError, cause
from .write_sound import Samples, SoundWriter, format_of, to_block

_PIECE = 2**16
_FULL = 1.0 - 2.0**-20
"""The largest sample of scaled stems; the little that is left is for rounding."""


class StemWriter:
    """Writes the parts of one sound block by block; used in a with statement, or closed at the end.

    Stems keep their balance, so that they add up to the whole: where a format holds numbers from -1 to 1 only and the
    loudest sample of all stems is larger, all are multiplied by the same gain, 1 / peak. As that is known at the end
    only, samples are kept in temporary files as float32 until then; memory does not depend on the length. WAV files are
    never scaled. All files take their names at the end; if the with statement is left by an error, none is left.

    Parameters
    ----------
    paths : mapping of str to path
        The file of each stem: .wav, .flac, .mp3, .ogg or .opus.
    rate : int
        Samples in a second.
    n_channels : int
        Channels of each stem.

    Attributes
    ----------
    gain : float
        What the stems were multiplied with, known once the writer is closed; 1 before.
    peak : float
        The largest absolute value of all stems so far.
    n_written : int
        How many samples of each channel were written.

    Raises
    ------
    MediaError
        A format does not hold such a sound, or a file cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     stems = StemWriter({name: f"{folder}/{name}.flac" for name in ("voice", "music")}, 16000, 1)
    ...     stems.write({"voice": [0.5, -2.0], "music": [0.1, 0.2]})
    ...     stems.close()
    >>> round(stems.gain, 3)
    0.5
    """

    def __init__(self, paths: Mapping[str, str | PathLike[str]], rate: int, n_channels: int) -> None:
        self.gain, self.peak, self.n_written = 1.0, 0.0, 0
        self._paths = {name: Path(fspath(path)) for name, path in paths.items()}
        if not self._paths or len(set(self._paths.values())) < len(self._paths):
            raise MediaError(f"Stems need a file each; got {', '.join(map(str, self._paths.values())) or 'none'}.")
        self._rate, self._n_channels, self._closed = rate, n_channels, False
        formats = [format_of(path.name, rate, n_channels) for path in self._paths.values()]
        self._bounded = any(known.bounded for known in formats)
        self._opened = ExitStack()
        with ExitStack() as opened:
            if self._bounded:
                self._kept = {name: opened.enter_context(_Scratch(path)) for name, path in self._paths.items()}
            else:
                self._writers = {name: opened.enter_context(self._writer(path)) for name, path in self._paths.items()}
            self._opened = opened.pop_all()

    def write(self, stems: Mapping[str, ArrayLike]) -> None:
        """Write a block of each stem.

        Parameters
        ----------
        stems : mapping of str to array_like of shape (n, n_channels), or (n,) for one channel
            Finite numbers, equally many of each stem.

        Raises
        ------
        MediaError
            The blocks are not as expected, or cannot be written.
        """
        if self._closed:
            raise MediaError("The stems are closed; samples must be written before that.")
        if set(stems) != set(self._paths):
            raise MediaError(f"A block must have the stems {', '.join(self._paths)}; got {', '.join(stems) or 'none'}.")
        blocks = {name: to_block(stems[name], self._n_channels, path.name) for name, path in self._paths.items()}
        lengths = {len(block) for block in blocks.values()}
        if len(lengths) > 1:
            found = " and ".join(map(str, sorted(lengths)))
            raise MediaError(f"Stems must be equally long; got blocks of {found} samples.")
        for name, block in blocks.items():
            self.peak = max(self.peak, float(np.abs(block).max(initial=0.0)))
            if self._bounded:
                self._kept[name].write(block)
            else:
                self._writers[name].write(block)
        self.n_written += lengths.pop()

    def close(self) -> None:
        """Encode the stems and give the files their names.

        Raises
        ------
        MediaError
            A file cannot be finished; none is left then.
        """
        if self._closed:
            return
        self._closed = True
        with self._opened:
            if self._bounded:
                self._encode()

    def _encode(self) -> None:
        self.gain = min(1.0, _FULL / self.peak) if self.peak > 1 else 1.0
        with ExitStack() as opened:
            for name, path in self._paths.items():
                writer = opened.enter_context(self._writer(path))
                for block in self._kept[name].blocks(self._n_channels):
                    writer.write(block)

    def _writer(self, path: Path) -> SoundWriter:
        return SoundWriter(path, self._rate, self._n_channels, gain=self.gain)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        elif not self._closed:
            self._closed = True
            self._opened.__exit__(kind, error, trace)


class _Scratch:
    """Samples of a stem in a temporary file, which is deleted when the with statement ends."""

    def __init__(self, path: Path) -> None:
        check_parent_folder(path)
        self._path, self._temporary = path, temporary_path(path, "samples")
        self._claim = Hold(None)
        try:
            with unwritable_in_words(path):
                self._claim = hold(self._temporary)
                self._file: IO[bytes] = self._temporary.open("w+b")
        except MediaError:
            self._claim.release()
            raise
        except KeyboardInterrupt:  # the file may just have been made
            self._claim.release()
            self._temporary.unlink(missing_ok=True)
            raise

    def write(self, block: Samples) -> None:
        """Keep a block."""
        try:
            self._file.write(np.ascontiguousarray(block).data)
        except OSError as error:
            raise MediaError(f"{self._path} cannot be written: {cause(error)}; nothing is left of it.") from error

    def blocks(self, n_channels: int) -> Iterator[Samples]:
        """All that was kept, block by block."""
        try:
            self._file.seek(0)
            while content := self._file.read(_PIECE * 4 * n_channels):
                yield np.frombuffer(content, dtype=np.float32).reshape(-1, n_channels)
        except OSError as error:
            raise MediaError(f"{self._path} cannot be written: {cause(error)}; nothing is left of it.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._temporary.unlink(missing_ok=True)
        self._claim.release()
