"""The names of files that come of songs: nothing takes the place of anything else."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from os.path import normcase, realpath
from pathlib import Path

from ...media import MediaError
from ...media.sounds import sound_paths
from .settings import Outputs


@dataclass(frozen=True)
class SongFiles:
    """A song, and the files that are to come of it."""

    source: Path
    stems: dict[str, Path]
    report: Path | None = None


def output_names(sources: Iterable[str | PathLike[str]], outputs: Outputs) -> list[SongFiles]:
    """Name the files of many songs: ``folder/song.voice.flac``, ``folder/song.music.flac`` and ``folder/song.html``.

    Songs whose names differ in their suffixes only keep these: ``song.wav.voice.flac`` and ``song.mp3.voice.flac``. A
    song that is given twice counts once. Without a folder no files come of songs.

    Examples
    --------
    >>> for song in output_names(["a.wav", "b.mp3"], Outputs("out", stems=["voice"])):
    ...     print(song.stems["voice"].name)
    a.voice.flac
    b.voice.flac
    """
    songs = list({realpath(song): song for song in _expanded(sources)}.values())
    if outputs.folder is None:
        return [SongFiles(song, {}) for song in songs]
    short = [song.stem.casefold() for song in songs]
    names = [song.name if short.count(stem) > 1 else song.stem for song, stem in zip(songs, short, strict=True)]
    place = Path(fspath(outputs.folder))
    planned = [
        SongFiles(
            song,
            {stem: place / f"{name}.{stem}.{outputs.format}" for stem in outputs.stems},
            place / f"{name}.html",
        )
        for song, name in zip(songs, names, strict=True)
    ]
    _check_places(planned)
    return planned


def _expanded(sources: Iterable[str | PathLike[str]]) -> list[Path]:
    songs: list[Path] = []
    for source in sources:
        path = Path(fspath(source))
        songs.extend(sound_paths(path) if path.is_dir() else [path])
    return songs


def _check_places(planned: Sequence[SongFiles]) -> None:
    sources = {_identity(plan.source): plan.source for plan in planned}
    taken: dict[str, Path] = {}
    for plan in planned:
        for path in (*plan.stems.values(), *([plan.report] if plan.report is not None else [])):
            if (song := sources.get(_identity(path))) is not None:
                raise MediaError(f"{path}, a result of {plan.source}, would replace the song {song}; write elsewhere.")
            other = taken.setdefault(_identity(path), plan.source)
            if other is not plan.source:
                raise MediaError(
                    f"{other} and {plan.source} would both be written to {path}; "
                    "separate them one after the other into different folders."
                )


def _identity(path: Path) -> str:
    """What two names of one file have in common, also where large and small letters are the same."""
    return normcase(realpath(path)).casefold()
