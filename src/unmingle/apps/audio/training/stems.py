"""Songs whose voice and music are known, from a folder."""

from collections.abc import Sequence
from math import gcd
from os import PathLike, fspath
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...._types import Float32Array
from ....media import MediaError, read_sound
from ....media.sounds import sound_paths

RATE = 16000
"""Samples a second that networks are trained with."""
_VOICE, _MUSIC = ".voice", ".music"


class StemFiles(NamedTuple):
    """Where voice and music of a song are: in two files, or in the two channels of one, music to the left."""

    name: str
    voice: Path
    music: Path

    @property
    def singer(self) -> str:
        """Who sings: the name up to its first underscore."""
        return self.name.split("_")[0]

    @property
    def song(self) -> str:
        """Of which song it is a clip: the name up to its last underscore."""
        return self.name.rpartition("_")[0] or self.name

    def described(self) -> str:
        """Which files they are."""
        return ", ".join(f"{path.name} {path.stat().st_size}" for path in sorted({self.voice, self.music}))

    def read(self) -> "StemPair":
        """Both, at 16 kHz, each with a mean power of one."""
        if self.voice == self.music:
            samples, rate = _sound(self.voice)
            if samples.shape[1] != 2:
                raise MediaError(
                    f"{self.voice} should have two channels, music to the left and voice to the right, "
                    f"not {samples.shape[1]}; or give {self.name}.voice and {self.name}.music as two files."
                )
            music, voice = (_leveled(channel, rate, self.voice) for channel in samples.T)
        else:
            voice, music = (_leveled(*_mono(path), path) for path in (self.voice, self.music))
        length = min(len(voice), len(music))
        return StemPair(self, voice[:length], music[:length])


class StemPair(NamedTuple):
    """Voice and music of a song, each (n,) of mean power one."""

    source: StemFiles
    voice: Float32Array
    music: Float32Array


def find_stems(folder: str | PathLike[str]) -> list[StemFiles]:
    """Songs of a folder: pairs NAME.voice.* and NAME.music.*, and files of two channels, music left and voice right.

    Parameters
    ----------
    folder : path
        With sound files named SINGER_SONG_CLIP, so that songs and singers can be left out; other names do, too.
    """
    place = Path(fspath(folder))
    if not place.is_dir():
        raise MediaError(f"{place} is not a folder; expected one with songs whose voice and music are known.")
    paths = sound_paths(place)
    parts = {path.name.removesuffix(path.suffix): path for path in paths}
    found = []
    for stem, path in parts.items():
        if stem.endswith(_VOICE):
            name = stem.removesuffix(_VOICE)
            if name + _MUSIC not in parts:
                raise MediaError(f"{path} has no music beside it; expected {name}{_MUSIC}{path.suffix}.")
            found.append(StemFiles(name, path, parts[name + _MUSIC]))
        elif stem.endswith(_MUSIC):
            if stem.removesuffix(_MUSIC) + _VOICE not in parts:
                raise MediaError(f"{path} has no voice beside it; music alone goes into a folder for --music.")
        else:
            found.append(StemFiles(stem, path, path))
    return sorted(found)


def read_music(folders: Sequence[str | PathLike[str]]) -> list[Float32Array]:
    """Accompaniments without voice, from folders of sound files: each (n,) of mean power one; silence is left out.

    Parameters
    ----------
    folders : sequence of paths
        Of sound files.
    """
    found = []
    for folder in folders:
        for path in sound_paths(Path(fspath(folder))):
            samples, rate = _mono(path)
            if samples.any():
                found.append(_leveled(samples, rate, path))
    return found


def _sound(path: Path) -> tuple[Float32Array, int]:
    sound = read_sound(path)
    return sound.samples, sound.rate


def _mono(path: Path) -> tuple[Float32Array, int]:
    samples, rate = _sound(path)
    return samples.mean(axis=1), rate


def _leveled(samples: Float32Array, rate: int, path: Path) -> Float32Array:
    """The samples at 16 kHz, of mean power one."""
    if rate != RATE:
        from scipy.signal import resample_poly

        shared = gcd(rate, RATE)
        samples = resample_poly(samples, RATE // shared, rate // shared)
    power = float(np.mean(np.square(samples, dtype=np.float64))) if len(samples) else 0.0
    if not power > 0.0:
        raise MediaError(f"{path} is silent in one of its parts; leave it out of the folder.")
    return np.ascontiguousarray(samples / np.sqrt(power), np.float32)
