"""A camera that moves, or a cut: the texture of the whole picture is another one, or lies elsewhere."""

from dataclasses import dataclass

import numpy as np

from ..._types import AnyArray, Float64Array
from ...alignment.follower import Follower, Sighting
from ...kernels.video_light import compare_textures
from ._format import FrameFormat

CELL, MOST_CELLS = 16, 300
"""Side of the cells that textures are compared in, and how many of them, at most, spread over the picture."""
TEXTURE = (4.0 / 255.0) ** 2
"""Variance from which on a cell has texture."""
LOST = 0.25
"""Square of the correlation below which a texture is another one."""
MOST = 0.6
"""Of the cells with texture so many are others if the camera moved; a thing hardly covers so much."""
LEAST_PIXELS = 64 * CELL**2
"""Smaller pictures are not looked for elsewhere."""
OFTEN = 5
"""Frames in a row that have to agree."""
FEWEST = 8
"""Cells with texture without which nothing is said."""
AWAY = 0.02
"""A picture whose corners lie so far from where they were, as a share of its mean side, has been moved; at least three
pixels."""
EXPLAINED = 0.5
"""Of the pixels by which it is looked for, so many have to agree."""


def lost_between(one: AnyArray, other: AnyArray, form: FrameFormat) -> float:
    """Of the cells with texture in the brightness of two rows, the share that looks different.

    With variances v, w and covariance c of the two over a cell, it is lost if c <= 0 or c^2 < LOST v w. 0 where hardly
    any cell has texture. Cost: that of 300 cells.
    """
    count = (form.height // CELL) * (form.width // CELL)
    step = max(1, int(np.ceil(np.sqrt(count / MOST_CELLS))))
    textured, lost = compare_textures(
        other, one, form.height, form.width, 1.0 / (form.white or 1.0), (CELL, step), (TEXTURE, LOST)
    )
    return lost / textured if textured >= FEWEST else 0.0


@dataclass
class CameraWatch:
    """Tells when the camera has moved, or the film was cut.

    A frame that deviates widely speaks for it if the texture of most of the picture is another one, or if the picture
    lies elsewhere in it, about where it lay in the frame before: a camera that shakes comes back. Where it lay is not
    stored: a stream that was saved while a camera moved may notice it some frames later.
    """

    moves: int = 0
    """How often."""
    moving: bool = False
    """Whether it still moves, or has not been seen to stand yet."""
    strikes: int = 0
    """Frames in a row that spoke for it."""

    def __post_init__(self) -> None:
        self._follower: Follower | None = None
        self._last: Float64Array | None = None

    def calm(self) -> None:
        """Take in a frame that does not deviate widely."""
        self.strikes, self._follower, self._last = 0, None, None

    def note(self, background: AnyArray, row: AnyArray, form: FrameFormat, *, in_sight: bool = True) -> bool:
        """Take in a frame that deviates widely, with the background; whether the camera has moved."""
        lost = lost_between(background, row, form) if in_sight else 1.0
        large = form.pixels >= LEAST_PIXELS
        spoke = lost > MOST or (large and self._lies_elsewhere(background, row, form))
        self.strikes = self.strikes + 1 if spoke else 0
        if self.strikes < OFTEN:
            return False
        self.calm()
        self.moves, self.moving = self.moves + 1, True
        return True

    def _lies_elsewhere(self, background: AnyArray, row: AnyArray, form: FrameFormat) -> bool:
        """Whether the background as it was when frames began to deviate is found away from its place, and stays so."""
        if self._follower is None:
            self._follower = Follower(form.brightness_of(background).copy(), "similarity")
        follower, before = self._follower, self._last
        follower.place = Sighting(np.eye(3), np.array([1.0, 0.0]))
        found = follower.follow(form.brightness_of(row))
        self._last, away = found.matrix, float(follower.frame.moves(found.matrix))
        if found.explained < EXPLAINED or away < max(3.0, AWAY * 0.5 * (form.height + form.width)):
            return False
        return before is None or float(follower.frame.moves(found.matrix, before)) < 0.5 * away
