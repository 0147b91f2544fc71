"""How far the frames of a film are apart."""

from collections import deque
from statistics import median

STEPS = 25
"""How many of the last steps tell what is typical."""


class Steps:
    """The typical step from one frame to the next: the median of the last ones, so that a single gap does not count.

    Parameters
    ----------
    rate : float, optional
        Frames in a second, for as long as there is one frame only.
    """

    def __init__(self, rate: float | None = None) -> None:
        self._steps: deque[float] = deque(maxlen=STEPS)
        self._last: float | None = None
        self._first = 1.0 / rate if rate else 0.0

    def add(self, time: float) -> None:
        """Take in the time of the next frame."""
        if self._last is not None:
            self._steps.append(max(0.0, time - self._last))
        self._last = time

    @property
    def typical(self) -> float:
        """Seconds from one frame to the next."""
        return median(self._steps) if self._steps else self._first
