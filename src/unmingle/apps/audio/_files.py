"""Separate sound files, block by block: memory does not grow with their length."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from os import PathLike, fspath
from os.path import realpath
from pathlib import Path
from typing import Any

import numpy as np

from ..._types import AnyArray
from ...core.iterate import Callback, Progress
from ...media import IncompleteError, MediaError, SoundSource, StemWriter, open_sound
from ._engine import Engine
from ._excerpt import Excerpt, Strongest, energy
from ._method import Method
from ._methods import as_method, high_pass_of
from ._samples import MOST_CHANNELS
from ._separate import check_passage, engine_for
from ._words import song_facts

_LONGEST_LESSON = 60.0
"""Seconds of a passage without voice that are learnt from."""
STEMS = ("voice", "music")
"""What a song is taken apart into."""


@dataclass(frozen=True)
class SeparatedSong:
    """What came of a sound file."""

    source: Path
    written: dict[str, Path]
    """The file of each stem."""
    method: Method
    high_pass: float | None
    """Hertz below which there is no voice."""
    rate: int
    channels: int
    n_samples: int
    """Of each channel."""
    gain: float
    """What the stems were multiplied with so that they fit into their files, 1 if they did."""
    voice_share: float
    """Energy of the voice over that of voice and music; 0 for silence."""
    incomplete: IncompleteError | None = None
    """Why the file could not be read to its end; the stems hold what could be read."""
    excerpt: Excerpt | None = None
    """Where the voice is strongest, if that was wanted."""

    def __repr__(self) -> str:
        return f"SeparatedSong({self.source.name!r}, {self.seconds:.1f} s, {', '.join(self.written)})"

    @property
    def seconds(self) -> float:
        """Length of the song."""
        return self.n_samples / self.rate

    @property
    def facts(self) -> dict[str, str]:
        """The song in words, each line with its name."""
        return song_facts(self)

    @property
    def card_(self) -> dict[str, Any]:
        """The song in plain values."""
        return {
            "source": str(self.source),
            "complete": self.incomplete is None,
            "seconds": round(self.seconds, 3),
            "rate": self.rate,
            "channels": self.channels,
            "method": self.method.label,
            "high_pass": self.high_pass,
            "gain": self.gain,
            "voice_share": self.voice_share,
            "written": {name: str(path) for name, path in self.written.items()},
        }


def separate_file(
    source: str | PathLike[str],
    stems: Mapping[str, str | PathLike[str]],
    *,
    method: str | Method = "voice",
    high_pass: float | str | None = "auto",
    no_voice: tuple[float, float] | None = None,
    excerpt: bool = False,
    callback: Callback | None = None,
) -> SeparatedSong:
    """Separate a sound file of any length into files of voice and music.

    Blocks are read, separated and written one after the other. Rate, channels and length stay. The files take their
    names when all is done; after an error or an interrupt none is left. A file that is cut off is separated as far as
    it goes, and ``incomplete`` of the result tells.

    Parameters
    ----------
    source : path
        The song, as `unmingle.media.open_sound` takes it.
    stems : mapping of str to path
        Where to write "voice", "music", or both: .wav, .flac, .mp3, .ogg or .opus. A WAV holds the stems as they are;
        others are multiplied by one gain where a sample is beyond 1, never clipped.
    method : str or Method
        How to tell voice from music, as in `separate`.
    high_pass : float, "auto" or None
        Hertz below which there is no voice, as in `separate`.
    no_voice : (float, float), optional
        Start and end, in seconds, of a passage without voice, as in `separate`; a minute of it is enough.
    excerpt : bool
        Whether to keep the 20 seconds with the strongest voice, which `report_page` needs.
    callback : callable, optional
        Called with an `unmingle.core.iterate.Progress` of samples after each block; a true answer ends the song there.

    Returns
    -------
    SeparatedSong
        Where the stems are, and the song in numbers.

    Raises
    ------
    MediaError
        The file cannot be read, holds no numbers somewhere, or a stem cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from unmingle import synth
    >>> from unmingle.media import SoundWriter
    >>> song = synth.song(4.0, random_state=0)
    >>> with TemporaryDirectory() as folder:
    ...     with SoundWriter(f"{folder}/song.wav", song.rate, 1) as writer:
    ...         writer.write(song.mixture)
    ...     found = separate_file(f"{folder}/song.wav", {"voice": f"{folder}/voice.flac"}, method="adapt")
    >>> found.seconds, found.gain
    (4.0, 1.0)
    """
    place, way = Path(fspath(source)), as_method(method)
    paths = {name: Path(fspath(path)) for name, path in stems.items()}
    _check_stems(place, paths)
    way.reset()
    with open_sound(place) as sound:
        _check_channels(sound)
        try:
            engine = engine_for(way, sound.rate, sound.n_channels, np.dtype(np.float32), high_pass)
        except ValueError as error:
            raise MediaError(f"{sound.name} cannot be separated: {error}") from error
        if no_voice is not None:
            way.learn(engine.frames_without_voice(_passage(place, *no_voice)))
        strongest = Strongest(sound.rate, sound.n_channels) if excerpt else None
        with StemWriter(paths, sound.rate, sound.n_channels) as writer:
            work = _Work(engine, writer, tuple(paths), strongest)
            incomplete = work.through(sound, callback)
    total = work.voice + work.music
    return SeparatedSong(
        source=place,
        written=paths,
        method=way,
        high_pass=high_pass_of(way, high_pass),
        rate=sound.rate,
        channels=sound.n_channels,
        n_samples=work.n_written,
        gain=writer.gain,
        voice_share=work.voice / total if total else 0.0,
        incomplete=incomplete,
        excerpt=None if strongest is None else strongest.finish(),
    )


class _Work:
    """A song on its way to its stems."""

    def __init__(self, engine: Engine, writer: StemWriter, stems: tuple[str, ...], strongest: Strongest | None) -> None:
        self._engine, self._writer, self._stems, self._strongest = engine, writer, stems, strongest
        self.voice, self.music, self.n_written = 0.0, 0.0, 0

    def through(self, sound: SoundSource, callback: Callback | None) -> IncompleteError | None:
        """Separate all blocks, and return why they ended early, if they did."""
        incomplete, n_read = None, 0
        try:
            for block in sound:
                self._write(*self._engine.push(block))
                n_read += len(block)
                if callback is not None and callback(Progress(n_read, sound.n_samples)):
                    break
        except IncompleteError as error:
            if not n_read:
                raise
            incomplete = error
        self._write(*self._engine.finish())
        return incomplete

    def _write(self, voice: AnyArray, music: AnyArray) -> None:
        self.voice += energy(voice)
        self.music += energy(music)
        self.n_written += len(voice)
        self._writer.write({name: {"voice": voice, "music": music}[name] for name in self._stems})
        if self._strongest is not None:
            self._strongest.add(voice, music)


def _passage(place: Path, start: float, stop: float) -> AnyArray:
    """The samples of a file from one second to another, a minute at most."""
    with open_sound(place) as sound:
        blocks, done, rate = [], 0, sound.rate
        check_passage(start, stop, inf if sound.n_samples is None else sound.n_samples / rate)
        first, last = round(start * rate), round(min(stop, start + _LONGEST_LESSON) * rate)
        for block in sound:
            blocks.append(block[max(first - done, 0) : max(last - done, 0)].copy())
            done += len(block)
            if done >= last:
                return np.concatenate(blocks)
    check_passage(start, stop, done / rate)
    return np.concatenate(blocks)


def _check_stems(source: Path, paths: Mapping[str, Path]) -> None:
    if not paths or not set(paths) <= set(STEMS):
        raise ValueError(f"stems must name files for 'voice', 'music' or both, got {', '.join(paths) or 'none'}.")
    if realpath(source) in map(realpath, paths.values()):
        raise MediaError(f"{source} cannot be replaced by one of its own stems; give the stem another name.")


def _check_channels(sound: SoundSource) -> None:
    if sound.n_channels > MOST_CHANNELS:
        raise MediaError(
            f"{sound.name} has {sound.n_channels} channels; expected at most {MOST_CHANNELS}: separate some of them."
        )
