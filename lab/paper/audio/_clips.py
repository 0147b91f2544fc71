"""Clips of songs with the voice beside the music, and how they are split."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmingle.apps.audio.training.stems import StemFiles, StemPair
from unmingle.media import read_sound

from ...data import DataMissing

Array = NDArray[Any]

TRAINING_SINGERS = ("abjones", "amy")
"""All others are tested on."""
RATE = 16000
"""Samples in a second."""
LONGEST = 29.0
"""Seconds of a clip: it is solved as one passage."""


class KnownSong(NamedTuple):
    """Voice and music, each of energy one; together they are the mixture, at 0 dB."""

    voice: Array
    music: Array
    rate: int

    @property
    def mixture(self) -> Array:
        """Their sum."""
        return np.asarray(self.voice + self.music)

    @property
    def seconds(self) -> float:
        """How long it is."""
        return len(self.voice) / self.rate


class Clip(NamedTuple):
    """A file named SINGER_SONG_CLIP: music to the left, voice to the right."""

    path: Path

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.stem

    @property
    def singer(self) -> str:
        """Who sings."""
        return self.name.split("_")[0]

    def described(self) -> str:
        """Which file it is."""
        return f"{self.path.name}, {self.path.stat().st_size} bytes"

    def read(self) -> KnownSong:
        """The song, each channel over its norm; refuse what is silent, too long, or no clip of MIR-1K."""
        samples, rate = read_sound(self.path)
        if rate != RATE:
            raise DataMissing(f"{self.path} should have {RATE} samples a second, not {rate}.")
        if samples.shape[1] != 2 or not samples.any(axis=0).all():
            raise DataMissing(
                f"{self.path} should have two channels with sound, music to the left, voice to the right."
            )
        if len(samples) > LONGEST * rate:
            raise DataMissing(f"{self.path} lasts {len(samples) / rate:.0f} seconds; clips have at most {LONGEST:g}.")
        sources = samples.T.astype(np.float64)
        music, voice = sources / np.linalg.norm(sources, axis=1, keepdims=True)
        return KnownSong(voice, music, rate)

    def pair(self) -> StemPair:
        """Voice and music, each of mean power one, as training takes them."""
        return StemFiles(self.name, self.path, self.path).read()


class ClipSplit(NamedTuple):
    """Those to learn from and those to be tested on."""

    train: list[Clip]
    test: list[Clip]


def find_clips(folder: str | Path) -> ClipSplit:
    """The clips of a folder.

    Parameters
    ----------
    folder : path
        With ``audio/mir1k/train`` and ``audio/mir1k/test``, or with the folder ``Wavfile`` of MIR-1K, in which clips
        of the singers abjones and amy are those to learn from; sound files named SINGER_SONG_CLIP, WAV or FLAC.
    """
    folder = Path(folder)
    for home in (folder / "audio" / "mir1k", folder):
        train, test = _sounds(home / "train"), _sounds(home / "test")
        if train and test:
            return ClipSplit(train, test)
    for home in (folder, folder / "Wavfile", folder / "MIR-1K" / "Wavfile"):
        clips = _sounds(home)
        train = [clip for clip in clips if clip.singer in TRAINING_SINGERS]
        test = [clip for clip in clips if clip.singer not in TRAINING_SINGERS]
        if train and test:
            return ClipSplit(train, test)
    raise DataMissing(
        f"{folder} contains no songs: expected audio/mir1k/train and audio/mir1k/test, or Wavfile as MIR-1K has it, "
        "with files SINGER_SONG_CLIP.flac or .wav; name such a folder with --data or UNMINGLE_DATA."
    )


def _sounds(folder: Path) -> list[Clip]:
    paths = (path for path in folder.glob("*_*.*") if path.suffix.lower() in (".flac", ".wav"))
    return [Clip(path) for path in sorted(paths)]
