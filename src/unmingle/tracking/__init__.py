"""A dictionary that follows a stream of samples."""

from ._samples import noise_and_floor, robust_start
from ._settings import Settings
from ._stored import TRACKER, TRACKER_ARRAYS
from ._tracker import Tracker

__all__ = ["TRACKER", "TRACKER_ARRAYS", "Settings", "Tracker", "noise_and_floor", "robust_start"]
