"""A camera that moves, or a cut: the texture of the whole picture is another one, or lies elsewhere."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from ..._rules import Count, Flag
from ..._types import AnyArray, Float64Array
from ...alignment.follower import Follower, Sighting
from ...kernels.video_light import compare_textures
from ._format import FrameFormat


@dataclass(frozen=True)
class CameraRules:
    """What tells a camera that has moved from light, from things, and from a camera that shakes.

    Held to labelled films and to films that are cut, pan, zoom or are kicked: `python -m lab camera-moves`.
    """

    cell: int = 16
    """Textures are compared in square cells with sides of this number of pixels."""
    most_cells: int = 300
    """At most about this number of cells, spread over the picture, is compared."""
    texture: float = (4.0 / 255.0) ** 2
    """A cell has texture if the variance of its brightness is at least this."""
    lost: float = 0.25
    """The texture of a cell is another one if the square of the correlation is below this."""
    most_lost: float = 0.6
    """The camera moved if more than this share of the cells with texture is lost; a thing hardly covers as much."""
    fewest_cells: int = 8
    """With fewer cells with texture nothing is said."""
    least_pixels: int = 64 * 16**2
    """In smaller pictures the background is not looked for elsewhere."""
    strikes: int = 5
    """This number of frames in a row has to speak for a move."""
    away: float = 0.02
    """The picture lies elsewhere if its corners are off by this share of its mean side, and by three pixels."""
    explained: float = 0.5
    """The picture is found elsewhere only if at least this share of the pixels looked at agrees."""


CAMERA = CameraRules()


def share_lost(one: AnyArray, other: AnyArray, form: FrameFormat) -> float:
    """Of the cells with texture in the brightness of two rows, the share that looks different.

    With variances v, w and covariance c of the two over a cell, it is lost if c <= 0 or c^2 < `CAMERA.lost` v w. 0
    where hardly any cell has texture. Cost: that of 300 cells.
    """
    count = (form.height // CAMERA.cell) * (form.width // CAMERA.cell)
    step = max(1, int(np.ceil(np.sqrt(count / CAMERA.most_cells))))
    textured, lost = compare_textures(
        other, one, form.height, form.width, 1.0 / (form.white or 1.0), (CAMERA.cell, step),
        (CAMERA.texture, CAMERA.lost),
    )  # fmt: skip
    return float(lost / textured) if textured >= CAMERA.fewest_cells else 0.0


class Search(NamedTuple):
    """Where the background is in frames that deviate widely."""

    follower: Follower
    """Looks for the background as it was when frames began to deviate."""
    matrix: Float64Array | None = None
    """Where it was found in the last frame; None before the first."""


@dataclass(frozen=True)
class CameraWatch:
    """Whether the camera has moved, or the film was cut.

    A frame that deviates widely speaks for it if the texture of most of the picture is another one, or if the picture
    lies elsewhere in it, about where it lay in the frame before: a camera that shakes comes back. Where it lay is not
    stored: a stream that was saved while a camera moved may notice it some frames later.
    """

    moves: Annotated[int, Count()] = 0
    """How often it has moved."""
    moving: Annotated[bool, Flag()] = False
    """Whether it still moves, or has not been seen to stand yet."""
    strikes: Annotated[int, Count()] = 0
    """Frames in a row that spoke for a move."""
    search: Search | None = None

    def note_calm(self) -> "CameraWatch":
        """Take in a frame that does not deviate widely."""
        return CameraWatch(self.moves, self.moving) if self.strikes or self.search is not None else self

    def note_doubt(
        self, background: AnyArray, row: AnyArray, form: FrameFormat, *, in_sight: bool
    ) -> tuple["CameraWatch", bool]:
        """Take in a frame that deviates widely, with the background; and whether the camera has moved."""
        search = self.search
        spoke = (share_lost(background, row, form) if in_sight else 1.0) > CAMERA.most_lost
        if not spoke and form.pixels >= CAMERA.least_pixels:
            search, spoke = look_elsewhere(search, background, row, form)
        strikes = self.strikes + 1 if spoke else 0
        if strikes < CAMERA.strikes:
            return CameraWatch(self.moves, self.moving, strikes, search), False
        return CameraWatch(self.moves + 1, moving=True), True


def look_elsewhere(
    search: Search | None, background: AnyArray, row: AnyArray, form: FrameFormat
) -> tuple[Search, bool]:
    """Whether the background as it was when frames began to deviate is found away from its place, and stays there."""
    if search is None:
        search = Search(Follower(form.brightness_of(background).copy(), "similarity"))
    follower, before = search
    follower.place = Sighting(np.eye(3), np.array([1.0, 0.0]))
    found = follower.follow(form.brightness_of(row))
    search, away = Search(follower, found.matrix), float(follower.frame.moves(found.matrix))
    least = max(3.0, CAMERA.away * 0.5 * (form.height + form.width))
    if found.explained < CAMERA.explained or away < least:
        return search, False
    return search, before is None or float(follower.frame.moves(found.matrix, before)) < 0.5 * away
