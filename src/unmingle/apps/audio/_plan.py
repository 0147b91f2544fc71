"""Which song becomes which files: nothing takes the place of anything else."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from os.path import normcase, realpath
from pathlib import Path

from ...media import MediaError
from ...media.sounds import sound_paths
from ._files import STEMS


@dataclass(frozen=True)
class PlannedSong:
    """A song, and the files that are to come of it."""

    source: Path
    stems: dict[str, Path]
    report: Path


def plan_songs(
    sources: Iterable[str | PathLike[str]],
    folder: str | PathLike[str],
    *,
    suffix: str = ".flac",
    stems: Sequence[str] = STEMS,
) -> list[PlannedSong]:
    """Name the files of many songs: ``folder/song.voice.flac``, ``folder/song.music.flac`` and ``folder/song.html``.

    Songs whose names differ in their suffixes only keep these: ``song.wav.voice.flac`` and ``song.mp3.voice.flac``. A
    song that is given twice counts once.

    Parameters
    ----------
    sources : paths
        Sound files, or folders of them.
    folder : path
        Where the stems go.
    suffix : str
        Of the stems: ".flac", ".wav", ".mp3", ".ogg" or ".opus".
    stems : sequence of str
        "voice", "music" or both.

    Returns
    -------
    list of PlannedSong

    Raises
    ------
    MediaError
        Two songs would have the same files, a file would take the place of a song, or a folder holds no sound.

    Examples
    --------
    >>> for song in plan_songs(["a.wav", "b.mp3"], "out", stems=["voice"]):
    ...     print(song.stems["voice"].name)
    a.voice.flac
    b.voice.flac
    """
    songs = list({realpath(song): song for song in _expanded(sources)}.values())
    stated = [song.stem.casefold() for song in songs]
    names = [song.name if stated.count(stem) > 1 else song.stem for song, stem in zip(songs, stated, strict=True)]
    place = Path(fspath(folder))
    plans = [
        PlannedSong(
            song,
            {stem: place / f"{name}.{stem}{suffix}" for stem in stems},
            place / f"{name}.html",
        )
        for song, name in zip(songs, names, strict=True)
    ]
    _check_places(plans)
    return plans


def _expanded(sources: Iterable[str | PathLike[str]]) -> list[Path]:
    songs: list[Path] = []
    for source in sources:
        path = Path(fspath(source))
        songs.extend(sound_paths(path) if path.is_dir() else [path])
    return songs


def _check_places(plans: Sequence[PlannedSong]) -> None:
    sources = {_identity(plan.source): plan.source for plan in plans}
    taken: dict[str, Path] = {}
    for plan in plans:
        for path in (*plan.stems.values(), plan.report):
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
