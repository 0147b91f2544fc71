"""A camera that moves, or a cut: the texture of the whole picture is another one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def share_lost(one: NDArray[Any], other: NDArray[Any], white: float) -> float:
    """Of the cells with texture in two grey pictures, the share that looks different.

    With variances v, w and covariance c of the two over a cell, it is lost if c <= 0 or c^2 < LOST v w. 0 where hardly
    any cell has texture. Cost: that of 300 cells.
    """
    rows, columns = (size // CELL for size in one.shape)
    if rows * columns < FEWEST:
        return 0.0
    step = max(1, int(np.ceil(np.sqrt(rows * columns / MOST_CELLS))))
    x, y = (_cells(picture, rows, columns, step) / np.float32(white) for picture in (one, other))
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    v, w, c = (x * x).mean(axis=1), (y * y).mean(axis=1), (x * y).mean(axis=1)
    textured = np.minimum(v, w) > TEXTURE
    if np.count_nonzero(textured) < FEWEST:
        return 0.0
    lost = (c <= 0) | (c * c < LOST * v * w)
    return float(lost[textured].mean())


def lost_between(one: NDArray[Any], other: NDArray[Any], form: FrameFormat) -> float:
    """The same of the brightness of two rows."""
    pictures = [row[: form.pixels].reshape(form.height, form.width) for row in (one, other)]
    return share_lost(pictures[0], pictures[1], form.white or 1.0)


def _cells(picture: NDArray[Any], rows: int, columns: int, step: int) -> NDArray[np.float32]:
    """(cells, pixels of a cell)."""
    whole = picture[: rows * CELL, : columns * CELL].reshape(rows, CELL, columns, CELL)[::step, :, ::step]
    return whole.transpose(0, 2, 1, 3).reshape(-1, CELL * CELL).astype(np.float32)


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
