"""Matrices that people have: films, a spectrogram and faces, each as it is read from the folder of data."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmingle.synth import low_rank_plus_sparse

Array = NDArray[np.float64]


def _pixels(frames: NDArray[Any]) -> Array:
    return frames.reshape(len(frames), -1) / 255.0


def hall(folder: Path) -> Array:
    """Every fourth pixel of 100 frames."""
    return _pixels(np.load(folder / "video" / "i2r_hall.npz")["frames"][:, ::2, ::2])


def escalator(folder: Path) -> Array:
    return _pixels(np.load(folder / "video" / "i2r_escalator.npz")["frames"])


def spectrogram(folder: Path) -> Array:
    """Magnitudes of windows of 1024 samples, 256 apart, of a song."""
    import soundfile
    from scipy.signal import stft

    sound = soundfile.read(folder / "audio" / "mir1k" / "test" / "Ani_1_05.flac")[0].sum(axis=1)
    return np.abs(stft(sound, nperseg=1024, noverlap=768, boundary=None, padded=False)[2]).T.copy()


def yale(folder: Path) -> Array:
    """One person under many lights."""
    stored = np.load(folder / "faces" / "yaleB_half_8subjects.npz")
    return _pixels(stored["images"][stored["subject"] == 15])


def frey(folder: Path) -> Array:
    stored = np.load(folder / "faces" / "frey_0000_1499.npz")
    return _pixels(stored[stored.files[0]])


def planted(folder: Path) -> Array:
    """Made: rank 20, 10 % outliers, noise of 0.05."""
    return low_rank_plus_sparse(1000, 1000, 20, noise=0.05, random_state=0).X


MATRICES: dict[str, Callable[[Path], Array]] = {
    "Hall": hall,
    "Escalator": escalator,
    "spectrogram": spectrogram,
    "Yale": yale,
    "Frey": frey,
    "planted, noisy": planted,
}
QUICK = ("Hall", "Yale")
