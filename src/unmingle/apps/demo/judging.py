"""Masks from departures, and pictures of what is right and wrong about them."""

from statistics import NormalDist

import numpy as np

from ..._types import Array, BoolArray
from ...core.penalties import robust_scale

FALSE_ALARM_RATE = 1e-4
"""Share of background pixels that Gaussian noise may push into a mask."""

COLOURS_IN_WORDS = "White is right, orange a false alarm, blue a miss."
"""What the page says below pictures of masks."""


def find_foreground(departure: Array) -> BoolArray:
    """Tell which departures from the background are more than noise.

    The threshold follows from the noise itself: at the level found from the departures by a robust measure, Gaussian
    noise would exceed it at a rate of `FALSE_ALARM_RATE`.
    """
    deviations = NormalDist().inv_cdf(1.0 - FALSE_ALARM_RATE / 2.0)
    return np.abs(departure) > deviations * robust_scale(departure)


def choose_best_mask(departure: Array, truth: BoolArray) -> BoolArray:
    """Tell which departures are above the threshold with the best F-measure, which only the truth can tell."""
    size = np.abs(departure)
    order = np.argsort(-size, axis=None)
    hits = np.cumsum(truth.ravel()[order])
    f = 2.0 * hits / (np.arange(1, size.size + 1) + hits[-1])
    return size >= size.ravel()[order[np.argmax(f)]]
