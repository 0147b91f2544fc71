"""A camera that shakes: every frame is laid over the background before it is separated, and what is found laid back."""

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from ..._rules import ArrayOf, Count, Number
from ..._types import AnyArray, BoolArray, Float64Array
from ...alignment.families import AlignedFrame, Matrix, compose, inverse
from ...alignment.follower import IN_SIGHT, Follower, Sighting
from ...kernels.video_steady import lay_mask_back, lay_over
from ._detect import Detection
from ._format import PIXEL_TYPES, FrameFormat
from ._start import typical_row

SAME = 1.0 / 8.0
"""A frame is shifted by whole pixels if it is off such a shift by no more than this, in pixels at a corner."""
RENEW_EVERY = 32
"""After this number of frames learnt the picture that frames are looked for with is made from the background."""
_MOST = 1e6


@dataclass(eq=False, slots=True)
class View:
    """A frame as it lies over the background."""

    format: FrameFormat
    given: AnyArray
    """The row of the frame as the camera saw it."""
    row: AnyArray
    """The same laid over the background; what the camera did not see is as it was in the background."""
    matrix: Matrix | None = None
    """From pixels of the background to those of the frame; None if nothing was moved."""
    in_sight: bool = True
    """Whether the frame still shows enough of the background."""

    def mask_laid_over(self, mask: BoolArray) -> BoolArray:
        """A mask of the frame as it lies over the background, both as rows."""
        return (
            mask
            if self.matrix is None
            else _laid_mask(mask, self.format, self.matrix, 1, (0, self.format.height))[0].reshape(-1)
        )

    def laid_back(self, found: Detection, least_area: int) -> tuple[Any, BoolArray, list[list[int]]]:
        """Background, mask and regions of the frame as the camera saw it.

        The background is made when it is asked for; beyond its edges it is the frame.
        """
        form, matrix = self.format, self.matrix
        if matrix is None:
            return form.picture_of(found.background), found.mask, found.regions
        back = inverse(matrix)
        rows = _rows_of(found.regions, form, matrix)
        mask, regions = _laid_mask(found.mask.reshape(-1), form, back, least_area, rows)

        def background() -> Any:
            picture = form.picture_of(_laid(found.background, form, back, self.given))
            return picture() if callable(picture) else picture

        return background, mask, regions


@dataclass(frozen=True, eq=False)
class Stabiliser:
    """Where the background lies in the last frame, and the picture that it is looked for with.

    Frames are followed by `Follower` of `unmingle.alignment` from some pixels of a picture of the background, which is
    renewed now and then. A frame that is a shift by nearly whole pixels is only copied.
    """

    reference: Annotated[AnyArray, ArrayOf(PIXEL_TYPES, "m", low=0.0, high=1.0, alike="pixels")]
    """(m,): the row of the picture that frames are looked for with."""
    matrix: Annotated[Matrix, ArrayOf(("float64",), 3, 3, low=-_MOST, high=_MOST)]
    """From pixels of the picture to those of the last frame."""
    light: Annotated[Float64Array, ArrayOf(("float64",), 2, low=-_MOST, high=_MOST)]
    """Gain and offset of the last frame."""
    explained: Annotated[float, Number(0.0, 1.0)]
    """Share of the pixels looked at that is as the picture has them, of frames of late; 0 before the first."""
    age: Annotated[int, Count()] = 0
    """Frames learnt since the picture was made."""
    follower: Follower | None = None
    """What was computed of the picture. It works on a place of its own, which `look` sets before each frame."""

    @classmethod
    def at(cls, picture: AnyArray, place: Sighting, follower: Follower, age: int = 0) -> "Stabiliser":
        """That of a picture, from which a follower was made, and of a place."""
        return cls(picture, place.matrix, place.light, place.usual, age, follower)

    @property
    def place(self) -> Sighting:
        """Where the last frame was."""
        return Sighting(self.matrix, self.light, usual=self.explained)

    def look(self, row: AnyArray, form: FrameFormat) -> tuple["Stabiliser", View]:
        """The next frame as it lies over the background."""
        follower = self.follower
        assert follower is not None
        follower.place = self.place
        sight = follower.follow(form.brightness_of(row))
        matrix = nearly_still(follower.frame, follower.place.matrix)
        laid = row if matrix is None else _laid(row, form, matrix, self.reference)
        after = Stabiliser.at(self.reference, follower.place, follower, self.age)
        return after, View(form, row, laid, matrix, sight.in_sight >= IN_SIGHT)

    def note_learnt(self, background: AnyArray, form: FrameFormat, family: str) -> "Stabiliser":
        """Take the background for the picture that frames are looked for with, if that has become old."""
        if self.age + 1 < RENEW_EVERY:
            return replace(self, age=self.age + 1)
        return Stabiliser.at(background, self.place, Follower(form.brightness_of(background), family))

    def ready(self, form: FrameFormat, family: str) -> "Stabiliser":
        """The same as read from a file, with what is computed of its picture."""
        return replace(self, follower=Follower(form.brightness_of(self.reference), family))


def lay_over_another(one: AnyArray, row: AnyArray, form: FrameFormat, family: str) -> AnyArray:
    """A frame laid over another one."""
    matrix = Follower(form.brightness_of(one), family).follow(form.brightness_of(row)).matrix
    return _laid(row, form, matrix, one)


def lay_first_over(
    rows: AnyArray, form: FrameFormat, family: str, before: Stabiliser | None
) -> tuple[AnyArray, Stabiliser]:
    """The first frames laid over each other, (n, entries), and where the last of them lies.

    They are aligned with the first of them, then with the median of all, and moved so that the mean of their
    transformations is none.
    """
    matrices, picture, laid = np.tile(np.eye(3), (len(rows), 1, 1)), rows[0], rows
    place = None if before is None else before.place
    for _ in range(2):
        follower = Follower(form.brightness_of(picture), family)
        follower.place = place or follower.place
        for number, row in enumerate(rows):
            follower.follow(form.brightness_of(row))
            matrices[number] = follower.place.matrix
        place = follower.place
        moved = compose(matrices, inverse(follower.frame.mean(family, matrices)))
        whole = [nearly_still(follower.frame, matrix) for matrix in moved]
        laid = np.stack(
            [row if how is None else _laid(row, form, how, picture) for row, how in zip(rows, whole, strict=True)]
        )
        picture = typical_row(laid)
    return laid, Stabiliser.at(
        picture, follower.place._replace(matrix=moved[-1]), Follower(form.brightness_of(picture), family)
    )


def nearly_still(frame: AlignedFrame, matrix: Matrix) -> Matrix | None:
    """The matrix, or the shift by whole pixels that it nearly is; None if that is no shift at all."""
    x, y = float(matrix[0, 2]), float(matrix[1, 2])
    if is_shift(matrix):
        whole = _shift(round(x), round(y))
        far = max(abs(x - round(x)), abs(y - round(y)))
    else:
        middle = frame.to_pixels[:2, 2]
        whole = _shift(*np.rint(matrix[:2, :2] @ middle + matrix[:2, 2] - middle))
        far = float(frame.moves(matrix, whole))
    if far > SAME:
        return matrix
    return whole if whole[0, 2] or whole[1, 2] else None


def _shift(x: float, y: float) -> Matrix:
    return np.array([[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]])


def is_shift(matrix: Matrix) -> bool:
    """Whether all pixels move alike."""
    return matrix[:, :2].tolist() == [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]


def _laid(row: AnyArray, form: FrameFormat, matrix: Matrix, fill: AnyArray) -> AnyArray:
    """A row with the numbers at M p in place of those at p, and those of another row where there are none."""
    out, exact = np.empty_like(row), form.white is None
    lay_over(row, form.height, form.width, matrix, is_shift(matrix), exact, fill, out)
    return out


def _laid_mask(
    mask: BoolArray, form: FrameFormat, matrix: Matrix, least: int, rows: tuple[int, int]
) -> tuple[BoolArray, list[list[int]]]:
    """The same of a mask, with its regions that are not smaller; rows of the answer beyond these are empty."""
    out = np.empty((form.height, form.width), dtype=np.bool_)
    flat = out.reshape(-1)
    words = np.empty(0, np.uint64) if form.width % 8 else flat.view(np.uint64)
    regions = lay_mask_back(mask, form.height, form.width, matrix, is_shift(matrix), rows, flat, words, max(1, least))
    return out, regions.tolist()


def _rows_of(regions: list[list[int]], form: FrameFormat, matrix: Matrix) -> tuple[int, int]:
    """The rows of a frame that regions of the background may reach."""
    if not regions:
        return 0, 0
    boxes = np.array(regions)
    (top, left), (bottom, right) = boxes[:, :2].min(axis=0), boxes[:, 2:4].max(axis=0)
    corners = matrix @ np.array([[left, right, left, right], [top, top, bottom, bottom], [1, 1, 1, 1]])
    reached = corners[1] / corners[2]
    return max(0, int(reached.min()) - 1), min(form.height, int(reached.max()) + 2)
