"""What follows a stream: sums of encoded samples, the dictionary that is best for them, noise level, and tracker."""

from ._noise import Pace
from ._settings import Settings
from ._start import noise_and_floor, robust_start
from ._statistics import Balanced, Statistics, balance, block_coordinate_step, direct_step, recursive_step
from ._stored import TRACKER
from ._tracker import Tracker

__all__ = [
    "TRACKER",
    "Balanced",
    "Pace",
    "Settings",
    "Statistics",
    "Tracker",
    "balance",
    "block_coordinate_step",
    "direct_step",
    "noise_and_floor",
    "recursive_step",
    "robust_start",
]
