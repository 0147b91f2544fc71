"""What follows a stream: sums of encoded samples, the dictionary that is best for them, noise level, and tracker."""

from ._dictionary import Dictionary
from ._noise import NoiseTracker, noise_and_floor
from ._nonnegative import nonnegative_misfit, nonnegative_step, scale_atoms
from ._settings import TrackerSettings
from ._start import robust_start
from ._statistics import Balanced, Statistics, balance, block_coordinate_step, direct_step, recursive_step
from ._stored import NONNEGATIVE_TRACKER, TRACKER
from ._tracker import Tracker

__all__ = [
    "NONNEGATIVE_TRACKER",
    "TRACKER",
    "Balanced",
    "Dictionary",
    "NoiseTracker",
    "Statistics",
    "Tracker",
    "TrackerSettings",
    "balance",
    "block_coordinate_step",
    "direct_step",
    "noise_and_floor",
    "nonnegative_misfit",
    "nonnegative_step",
    "recursive_step",
    "robust_start",
    "scale_atoms",
]
