"""How loud it is: a running level that knows the past only."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from ..._types import AnyArray

_SLOWEST = 0.01
"""Weight of a frame in the level, at least: it follows within a hundred frames, 1.6 s."""


@dataclass
class Level:
    """Root of the mean power of the frames so far, older ones fading; silent frames do not count.

    power <- power + max(1 / age, 0.01) (mean of squares of the frame - power)
    """

    power: float = 0.0
    age: int = 0

    def push(self, magnitudes: AnyArray) -> AnyArray:
        """The level at each frame, that frame included, as a column; 1 before there was any sound."""
        squares = np.einsum("ij,ij->i", magnitudes, magnitudes, dtype=np.float64) / magnitudes.shape[1]
        levels = np.empty((len(squares), 1))
        for i, square in enumerate(squares.tolist()):
            if square > 0:
                self.age += 1
                self.power += max(1 / self.age, _SLOWEST) * (square - self.power)
            levels[i] = sqrt(self.power) or 1.0
        return levels
