"""Sound at another speed: a windowed sinc, by a table of its values."""

from functools import cache

import numpy as np

from .._types import Array
from .compile import announced, compiled

_TAPS = 16
"""Samples that each sample of the answer is made of."""
_PHASES = 256
"""Places between two samples that have a filter of their own."""
_BAND = 0.95
"""Share of the band that passes; what is read faster by some semitones folds back a little."""


def read_at_speed(samples: Array, start: float, ratio: float, out: Array) -> None:
    """Read samples from a place on, by ``ratio`` samples a step, so that pitch and speed change by it; in a circle.

    Parameters
    ----------
    samples : float32 array of shape (n,)
        The sound.
    start : float
        Where to begin, as a share of the sound.
    ratio : float
        How fast.
    out : float32 array
        What is read.
    """
    _read_at_speed(samples, start * samples.size, ratio, _table(), out)


@cache
def _table() -> Array:
    """Filters for places between two samples: sinc times a raised cosine, each with a sum of one."""
    places = np.arange(_TAPS) - _TAPS // 2 + 1 - np.arange(_PHASES)[:, None] / _PHASES
    filters = np.sinc(_BAND * places) * np.cos(np.pi * places / (_TAPS + 1)) ** 2
    return (filters / filters.sum(axis=1, keepdims=True)).astype(np.float32)


@announced
@compiled
def _read_at_speed(samples, start, ratio, table, out):
    """Each sample of the answer from the samples around its place, by the filter of the nearest phase below."""
    n, (phases, taps) = samples.size, table.shape
    for i in range(out.size):
        place = start + i * ratio
        first = int(place)
        phase = int((place - first) * phases)
        first = (first - taps // 2 + 1) % n
        total = samples.dtype.type(0)
        if first + taps <= n:
            for j in range(taps):
                total += table[phase, j] * samples[first + j]
        else:
            for j in range(taps):
                total += table[phase, j] * samples[(first + j) % n]
        out[i] = total
