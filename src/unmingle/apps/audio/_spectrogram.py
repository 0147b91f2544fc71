"""Pictures of sounds: how loud each frequency is at each time."""

from collections.abc import Mapping

import numpy as np

from ..._types import AnyArray
from ._stft import Analysis, Frames

DEPTH = 70.0
"""Decibels from the brightest to the darkest."""
_MOST_COLUMNS = 900
_COLOURS = np.array(
    [[13, 8, 35], [62, 18, 105], [128, 37, 125], [196, 60, 99], [242, 120, 75], [252, 189, 110], [252, 246, 200]]
)
"""From the darkest to the brightest."""


def spectrograms(sounds: Mapping[str, AnyArray], rate: float) -> dict[str, AnyArray]:
    """Pictures (bins, columns, 3) of sounds (n, channels) up to 8 kHz, high frequencies up, at a common scale.

    Brighter is louder; black is 70 dB below the loudest moment of all.

    Parameters
    ----------
    sounds : mapping of str to array of shape (n, channels)
        Sounds by name.
    rate : float
        Samples a second.

    Returns
    -------
    dict of str to uint8 array
    """
    frames = Frames.of(rate)
    levels = {name: _decibels(samples, frames) for name, samples in sounds.items()}
    top = max(float(level.max()) for level in levels.values())
    return {name: _coloured(level, top) for name, level in levels.items()}


def _decibels(samples: AnyArray, frames: Frames) -> AnyArray:
    """Power of the frames in decibels, (bins, columns), the lowest bin first; at least one column."""
    end = np.zeros((frames.window - len(samples) % frames.hop, 1), np.float32)
    spectra = Analysis(frames, 1, np.float32).push(np.concatenate([samples.mean(axis=1, keepdims=True), end]))
    power = np.abs(spectra[:, 0, : frames.looked_at]).T ** 2
    together = -(-power.shape[1] // _MOST_COLUMNS)
    power = power[:, : power.shape[1] // together * together]
    power = power.reshape(len(power), -1, together).mean(axis=2)
    return 10.0 * np.log10(np.maximum(power, 1e-30))


def _coloured(level: AnyArray, top: float) -> AnyArray:
    """A picture of levels, high frequencies up."""
    shares = np.clip((level[::-1] - top) / DEPTH + 1.0, 0.0, 1.0)
    steps = np.linspace(0.0, 1.0, len(_COLOURS))
    return np.stack([np.interp(shares, steps, channel) for channel in _COLOURS.T], axis=-1).round().astype(np.uint8)
