"""Nonnegative data, and how they are split."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmingle.core.online.start import robust_start

from ...data import DataMissing
from ..faces import read_faces

Array = NDArray[np.float32]

_WINDOW, _HOP, _EVERY = 1024, 256, 8
"""Samples of a frame of sound, from one to the next, and frames of which one is taken."""
_SONGS_LEFT_OUT = 0.25
_SPLITS = (1, 2, 3)
"""Seeds of the splits; 0 is left out, for with it training was made."""
_SOME = 4
"""Of so many training frames one tells the penalties."""


class NonnegativeCase(NamedTuple):
    """Samples to learn from and to be tested on, and the problem."""

    name: str
    how: str
    """How they were split."""
    train: Array
    test: Array
    n_components: int
    rank_penalty: float
    outlier_penalty: float


def read_cases(folder: Path) -> list[NonnegativeCase]:
    """The cases that a folder has data for.

    Parameters
    ----------
    folder : path
        With ``audio/mir1k/train``, sound files named SINGER_SONG_CLIP.flac of two channels, or with Yale faces as
        `python -m lab table1` reads them.
    """
    cases = []
    sounds = sorted((folder / "audio" / "mir1k" / "train").glob("*.flac"))
    if sounds:
        cases += _spectrograms(sounds)
    try:
        faces = [one for one in read_faces(folder) if one.name == "Yale"]
    except DataMissing:
        faces = []
    for one in faces:
        for seed in _SPLITS:
            train, test = one.splits(seed)["random"]
            name = f"Yale faces, split {seed}"
            cases.append(NonnegativeCase(name, "random split", one.X[train], one.X[test], 20, 0.1, 0.01))
    if not cases:
        raise DataMissing(
            f"{folder} contains neither audio/mir1k/train/*.flac nor yaleB_half_8subjects.npz; "
            "name such a folder with --data or UNMINGLE_DATA."
        )
    return cases


def _spectrograms(sounds: list[Path]) -> list[NonnegativeCase]:
    """Magnitudes of mixtures, whole songs left out; penalties from the training frames."""
    import soundfile

    song_of = np.array(["_".join(path.stem.split("_")[:2]) for path in sounds])
    frames = [_frames(soundfile.read(path, dtype="float32", always_2d=True)[0].sum(axis=1)) for path in sounds]
    cases = []
    for seed in _SPLITS:
        songs = np.random.default_rng(seed).permutation(np.unique(song_of))
        left_out = songs[: round(_SONGS_LEFT_OUT * len(songs))]
        is_out = np.isin(song_of, left_out)
        train, test = (np.concatenate([frames[k] for k in np.flatnonzero(is_out == out)]) for out in (False, True))
        part = robust_start(train[::_SOME], 25, None, None, tol=1e-3, random_state=0)
        penalties = float(part.rank_penalty), float(np.mean(part.outlier_penalty))
        how = f"{len(left_out)} of {len(songs)} songs left out"
        cases.append(NonnegativeCase(f"spectrogram frames, split {seed}", how, train, test, 25, *penalties))
    return cases


def _frames(sound: NDArray[Any]) -> Array:
    """Magnitudes of the short-time spectrum."""
    starts = np.arange(0, len(sound) - _WINDOW + 1, _HOP)[::_EVERY]
    window = np.hanning(_WINDOW + 1)[:-1]
    return np.abs(np.fft.rfft(window * sound[starts[:, None] + np.arange(_WINDOW)], axis=1)).astype(np.float32)
