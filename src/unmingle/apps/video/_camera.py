"""A camera that moves, or a cut: the texture of the whole picture is another one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import kernels
from ._format import FrameFormat

CELL, MOST_CELLS = 16, 300
"""Side of the cells that textures are compared in, and how many of them, at most, spread over the picture."""
TEXTURE = (4.0 / 255.0) ** 2
"""Variance from which on a cell has texture."""
LOST = 0.25
"""Square of the correlation below which a texture is another one."""
MOST = 0.6
"""Of the cells with texture so many are others if the camera moved; a thing hardly covers so much."""
EVERY, OFTEN = 1, 5
"""Frames from one comparison to the next, and how many of them in a row have to agree."""
FEWEST = 8
"""Cells with texture without which nothing is said."""


def lost_between(one: NDArray[Any], other: NDArray[Any], form: FrameFormat) -> float:
    """Of the cells with texture in the brightness of two rows, the share that looks different.

    With variances v, w and covariance c of the two over a cell, it is lost if c <= 0 or c^2 < LOST v w. 0 where hardly
    any cell has texture. Cost: that of 300 cells.
    """
    count = (form.height // CELL) * (form.width // CELL)
    step = max(1, int(np.ceil(np.sqrt(count / MOST_CELLS))))
    textured, lost = kernels.compare_textures(
        other, one, form.height, form.width, 1.0 / (form.white or 1.0), (CELL, step), (TEXTURE, LOST)
    )
    return lost / textured if textured >= FEWEST else 0.0


@dataclass
class CameraWatch:
    """Tells when the camera has moved, or the film was cut."""

    moves: int = 0
    """How often."""
    moving: bool = False
    """Whether it still moves, or has not been seen to stand yet."""
    strikes: int = 0
    """Comparisons in a row that spoke for it."""

    def note(self, lost: float) -> bool:
        """Take in the share of the texture that is another one than that of the background; whether it has moved."""
        self.strikes = self.strikes + 1 if lost > MOST else 0
        if self.strikes < OFTEN:
            return False
        self.moves, self.moving, self.strikes = self.moves + 1, True, 0
        return True
