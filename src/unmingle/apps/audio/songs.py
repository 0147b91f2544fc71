"""`separate`: songs to stems, block by block, so that memory does not grow with their length."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from math import inf
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from ..._types import Array
from ...core.iterate import Progress
from ...media import IncompleteError, MediaError, SoundSource, StemWriter, open_sound
from ._engine import Engine, Stems
from ._excerpt import Excerpt, LoudestExcerpt, energy
from ._output_names import SongFiles, output_names
from ._split import BLOCK, between, check_passage
from .method import Method
from .methods import as_method, high_pass_of
from .report import summary_text, write_report
from .settings import Outputs, Settings
from .stft import CHANNELS, as_samples

_LONGEST_LESSON = 60.0
"""Seconds of a passage without voice that are learnt from."""
_UNNAMED = Path("song")
"""What samples are called that come without a file."""


@dataclass(frozen=True)
class SongProgress(Progress):
    """How far a song has come, in samples, and which song it is."""

    source: Path = field(default=_UNNAMED, kw_only=True)
    number: int = field(default=1, kw_only=True)
    """Which of the songs it is, from 1 on."""
    n_songs: int = field(default=1, kw_only=True)


@dataclass(frozen=True, eq=False)
class SeparatedSong:
    """What came of a song."""

    source: Path
    written: dict[str, Path]
    """The file of each stem, and of the report."""
    stems: Stems | None
    """The stems themselves, where they were not written to files."""
    method: Method
    high_pass: float | None
    """Hertz below which there is no voice."""
    rate: float
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
    """Where the voice is strongest, if a report was wanted."""

    def __repr__(self) -> str:
        return f"SeparatedSong({self.source.name!r}, {self.seconds:.1f} s, {', '.join(self.written)})"

    @property
    def seconds(self) -> float:
        """Length of the song."""
        return self.n_samples / self.rate

    def summary_text(self) -> dict[str, str]:
        """The song in words, each line with its name."""
        return summary_text(self)

    def summary(self) -> dict[str, Any]:
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
            "written": {name: str(path) for name, path in self.written.items() if name != "report"},
            "report": self.written.get("report"),
        }


@dataclass(frozen=True, eq=False)
class Result:
    """What came of songs."""

    songs: tuple[SeparatedSong, ...]
    failures: tuple[Exception, ...]
    """Why songs could not be separated, or not to their end."""

    def summary(self) -> dict[str, Any]:
        """All songs in plain values."""
        return {"songs": [song.summary() for song in self.songs], "failures": self.warnings}

    def summary_text(self) -> dict[str, str]:
        """The songs in words, each line with its name."""
        if len(self.songs) == 1:
            return self.songs[0].summary_text()
        return {"songs": f"{len(self.songs)}, {len(self.failures)} could not be separated to their end"}

    @property
    def warnings(self) -> list[str]:
        """The failures, a sentence each."""
        return [str(failure) for failure in self.failures]

    @property
    def written(self) -> dict[str, Path]:
        """The files, each by what it is; where there are several songs, by song and what it is."""
        many = len(self.songs) > 1
        return {
            f"{song.source.name}: {name}" if many else name: path
            for song in self.songs
            for name, path in song.written.items()
        }

    @property
    def stems(self) -> Stems | None:
        """The stems of a single song, where they were not written to files."""
        return self.songs[0].stems if len(self.songs) == 1 else None


def separate(
    source: Any,
    outputs: Outputs = Outputs(),  # noqa: B008 - a frozen value
    settings: Settings = Settings(),  # noqa: B008 - a frozen value
    *,
    progress: Callable[[SongProgress], object] | None = None,
    finished: Callable[[SeparatedSong], object] | None = None,
) -> Result:
    """Separate songs of any length into voice and music.

    Blocks are read, separated and written one after the other. Rate, channels and length stay. Files take their names
    when a song is done; after an error or an interrupt none of it is left. A file that is cut off is separated as far
    as it goes. One of several songs that cannot be separated does not keep the others from it: `Result.failures` has
    the reason; one that was given alone raises it.

    Parameters
    ----------
    source : path, list of paths, or (samples, rate)
        A sound file as `unmingle.media.open_sound` takes it, a folder of them, several of both, or the samples of a
        song, such as `unmingle.media.read_sound` gives.
    outputs : Outputs
        Where stems and reports go: ``folder/song.voice.flac``, ``folder/song.music.flac`` and ``folder/song.html``. A
        WAV holds the stems as they are; others are multiplied by one gain where a sample is beyond 1, never clipped.
        Without a folder the stems stay in memory, ``result.stems``.
    settings : Settings
        How to tell voice from music.
    progress : callable, optional
        Called with a `SongProgress`, when a song begins and after each block; a true answer ends the song there.
    finished : callable, optional
        Called with each `SeparatedSong` when it is done.

    Returns
    -------
    Result
        What came of each song.

    Raises
    ------
    MediaError
        Two songs would have the same files, a file would take the place of a song, a folder holds no sound, or the only
        song cannot be read or written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from unmingle import synth
    >>> from unmingle.apps import audio
    >>> song = synth.song(4.0, random_state=0)
    >>> with TemporaryDirectory() as folder:
    ...     found = audio.separate((song.mixture, song.rate), audio.Outputs(folder), audio.Settings("adapt"))
    >>> found.songs[0].seconds, found.songs[0].gain, [path.name for path in found.written.values()]
    (4.0, 1.0, ['song.voice.flac', 'song.music.flac'])
    """
    method = as_method(settings.method, no_voice=settings.no_voice is not None)
    alone, planned = _planned(source, outputs)
    if outputs.folder is not None:
        Path(outputs.folder).mkdir(parents=True, exist_ok=True)
    songs: list[SeparatedSong] = []
    failures: list[Exception] = []
    for number, (song_source, files) in enumerate(planned, start=1):
        begun = SongProgress(0, None, source=files.source, number=number, n_songs=len(planned))
        job = _Job(files, outputs, method, settings, begun)
        try:
            song = _separated(song_source, job, progress)
        except (ValueError, OSError) as error:
            if alone:
                raise
            failures.append(error)
            continue
        songs.append(song)
        failures += [song.incomplete] if song.incomplete is not None else []
        if finished is not None:
            finished(song)
    return Result(tuple(songs), tuple(failures))


class _GivenSamples:
    """Samples that are read like a file."""

    name, source = "the song", _UNNAMED

    def __init__(self, samples: Any, rate: float) -> None:
        self.samples, self.flat = as_samples(samples)
        self.rate, self.n_channels, self.n_samples = rate, self.samples.shape[1], len(self.samples)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """There is nothing to close."""

    def __iter__(self) -> Iterator[Array]:
        return (self.samples[begin : begin + BLOCK] for begin in range(0, len(self.samples), BLOCK))


Opened = SoundSource | _GivenSamples
Watcher = Callable[[SongProgress], object] | None


class _Job(NamedTuple):
    """What is to be done with a song."""

    files: SongFiles
    outputs: Outputs
    method: Method
    settings: Settings
    begun: SongProgress


def _planned(source: Any, outputs: Outputs) -> tuple[bool, list[tuple[Path | _GivenSamples, SongFiles]]]:
    """Each song with its files, and whether it was given as the only one."""
    if isinstance(source, tuple):
        return True, [(_GivenSamples(*source), output_names([_UNNAMED], outputs)[0])]
    paths = [source] if isinstance(source, str | PathLike) else list(source)
    alone = isinstance(source, str | PathLike) and not Path(fspath(source)).is_dir()
    return alone, [(files.source, files) for files in output_names(paths, outputs)]


def _opened(source: Path | _GivenSamples) -> Opened:
    return open_sound(source) if isinstance(source, Path) else source


def _separated(source: Path | _GivenSamples, job: _Job, progress: Watcher) -> SeparatedSong:
    """One song to its stems."""
    outputs, settings = job.outputs, job.settings
    if progress is not None:
        progress(job.begun)
    with _opened(source) as sound:
        engine = _engine_for(sound, job.method, settings)
        if settings.no_voice is not None:
            engine = engine.knowing(engine.start(), _passage(source, *settings.no_voice))
        sinks = StemSinks(sound, job)
        with sinks.writer or nullcontext():
            incomplete = _run(sound, engine, sinks, job.begun, progress)
    song = SeparatedSong(
        source=job.files.source,
        written=dict(job.files.stems),
        stems=sinks.stems(flat=isinstance(sound, _GivenSamples) and sound.flat),
        method=engine.masker.method,
        high_pass=high_pass_of(job.method, settings.high_pass),
        rate=sound.rate,
        channels=sound.n_channels,
        n_samples=sinks.n_samples,
        gain=1.0 if sinks.writer is None else sinks.writer.gain,
        voice_share=sinks.voice_share,
        incomplete=incomplete,
        excerpt=None if sinks.loudest is None else sinks.loudest.finish(),
    )
    if job.files.report is not None and outputs.report:
        song.written["report"] = write_report(song, job.files.report)
    return song


def _engine_for(sound: Opened, method: Method, settings: Settings) -> Engine:
    if sound.n_channels > CHANNELS.high:
        raise MediaError(
            f"{sound.name} has {sound.n_channels} channels; expected at most {CHANNELS.high}: separate some of them."
        )
    dtype = sound.samples.dtype if isinstance(sound, _GivenSamples) else np.dtype(np.float32)
    try:
        return Engine.of(method, sound.rate, sound.n_channels, dtype, settings.high_pass)
    except ValueError as error:
        raise MediaError(f"{sound.name} cannot be separated: {error}") from error


class StemSinks:
    """Where the stems of a song go, to files or into memory, and what they amount to."""

    def __init__(self, sound: Opened, job: _Job) -> None:
        self._wanted, self._kept, rate = tuple(job.files.stems), list[Stems](), round(sound.rate)
        self.writer = StemWriter(job.files.stems, rate, sound.n_channels) if job.files.stems else None
        self.loudest = LoudestExcerpt(rate, sound.n_channels) if job.outputs.report else None
        self.n_samples, self._voice, self._music = 0, 0.0, 0.0

    def write(self, stems: Stems) -> None:
        """Take in the next samples of both stems."""
        self._voice += energy(stems.voice)
        self._music += energy(stems.music)
        self.n_samples += len(stems.voice)
        if self.writer is None:
            self._kept.append(stems)
        else:
            self.writer.write({name: getattr(stems, name) for name in self._wanted})
        if self.loudest is not None:
            self.loudest.add(*stems)

    @property
    def voice_share(self) -> float:
        """Energy of the voice over that of both; 0 for silence."""
        total = self._voice + self._music
        return self._voice / total if total else 0.0

    def stems(self, *, flat: bool) -> Stems | None:
        """The whole stems, where they are kept."""
        if self.writer is not None:
            return None
        voice, music = (np.concatenate(parts) for parts in zip(*self._kept, strict=True))
        return Stems(voice[:, 0], music[:, 0]) if flat else Stems(voice, music)


def _run(
    sound: Opened, engine: Engine, sinks: StemSinks, begun: SongProgress, progress: Watcher
) -> IncompleteError | None:
    """Separate all blocks, and return why they ended early, if they did."""
    incomplete, n_read, state = None, 0, engine.start()
    try:
        for block in sound:
            state, stems = engine.step(state, block)
            sinks.write(stems)
            n_read += len(block)
            if progress is not None and progress(replace(begun, done=n_read, total=sound.n_samples)):
                break
    except IncompleteError as error:
        if not n_read:
            raise
        incomplete = error
    sinks.write(engine.finish(state))
    return incomplete


def _passage(source: Path | _GivenSamples, start: float, stop: float) -> Array:
    """The samples of a song from one second to another, of a file a minute at most."""
    if isinstance(source, _GivenSamples):
        return between(source.samples, source.rate, start, stop)
    with open_sound(source) as sound:
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
