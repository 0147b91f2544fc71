"""A camera that shakes: every frame is laid over the background before it is separated, and what is found laid back."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._rules import ArrayOf, Count, Number, Record
from ..._types import AnyArray, BoolArray
from ...alignment.families import AlignedFrame, Matrix, compose, inverse
from ...alignment.follower import IN_SIGHT, Follower, Sighting
from ...kernels.video_steady import lay_mask_back, lay_over
from ._detect import Detection
from ._format import FrameFormat
from ._start import typical_row

STABILISERS = ("translation", "similarity", "projective")
"""Families of transformations that a shaking camera is followed with."""
SAME = 1.0 / 8.0
"""Pixels at a corner by which a frame may be off a shift by whole pixels, and is shifted so all the same."""
RENEW_EVERY = 32
"""Frames that are learnt before the picture that frames are looked for with becomes the background as it is then."""


def stabiliser_rules(dtypes: tuple[str, ...]) -> Record:
    """What `Stabiliser.to_store` gives, for frames of one of some types."""
    return Record(
        {
            "reference": ArrayOf(dtypes, "entries", low=0.0, high=1.0),
            "age": Count(),
            "matrix": ArrayOf(("float64",), 3, 3, low=-1e6, high=1e6),
            "light": ArrayOf(("float64",), 2, low=-1e6, high=1e6),
            "usual": Number(0.0, 1.0),
        }
    )


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


class Stabiliser:
    """Finds where the background lies in each frame.

    Frames are followed by `Follower` of `unmingle.alignment` from some pixels of a picture of the background, which is
    renewed now and then. The first frames are aligned with the first of them, then with the median of all, and moved so
    that the mean of their transformations is none. A frame that is a shift by nearly whole pixels is only copied.

    Parameters
    ----------
    transform : str or None
        One of `STABILISERS`; None leaves frames as they are.
    """

    def __init__(self, transform: str | None) -> None:
        self.transform = transform
        self.reference: AnyArray | None = None
        """The row of the picture that frames are looked for with."""
        self.age = 0
        """Frames learnt since it was made."""
        self._follower: Follower | None = None

    @property
    def place(self) -> Sighting | None:
        """Where the last frame was."""
        return None if self._follower is None else self._follower.place

    @place.setter
    def place(self, place: Sighting | None) -> None:
        if self._follower is not None and place is not None:
            self._follower.place = place

    def look(self, row: AnyArray, form: FrameFormat) -> View:
        """A frame as it lies over the background."""
        if self._follower is None or self.reference is None:
            return View(form, row, row)
        sight = self._follower.follow(form.brightness_of(row))
        matrix = nearly_still(self._follower.frame, self._follower.place.matrix)
        laid = row if matrix is None else _laid(row, form, matrix, self.reference)
        return View(form, row, laid, matrix, sight.in_sight >= IN_SIGHT)

    def laid_over(self, one: AnyArray, row: AnyArray, form: FrameFormat) -> AnyArray:
        """A frame laid over another one."""
        if self.transform is None:
            return row
        matrix = Follower(form.brightness_of(one), self.transform).follow(form.brightness_of(row)).matrix
        return _laid(row, form, matrix, one)

    def start(self, rows: AnyArray, form: FrameFormat) -> AnyArray:
        """The first frames laid over each other, (n, entries)."""
        if self.transform is None:
            return rows
        matrices, picture, laid = np.tile(np.eye(3), (len(rows), 1, 1)), rows[0], rows
        for _ in range(2):
            follower = self.use(picture, form, self.place)
            for number, row in enumerate(rows):
                follower.follow(form.brightness_of(row))
                matrices[number] = follower.place.matrix
            moved = compose(matrices, inverse(follower.frame.mean(self.transform, matrices)))
            whole = [nearly_still(follower.frame, matrix) for matrix in moved]
            laid = np.stack(
                [row if how is None else _laid(row, form, how, picture) for row, how in zip(rows, whole, strict=True)]
            )
            picture = typical_row(laid)
        self.use(picture, form, follower.place._replace(matrix=moved[-1]))
        return laid

    def use(self, picture: AnyArray, form: FrameFormat, place: Sighting | None, age: int = 0) -> Follower:
        """Look for frames with another picture, the first from a place."""
        self._follower = follower = Follower(form.brightness_of(picture), self.transform or "translation")
        self.reference, self.age, self.place = picture, age, place
        return follower

    def to_store(self) -> dict[str, Any] | None:
        """What a file holds of it; None if frames are not followed."""
        if self.place is None:
            return None
        place = {"matrix": self.place.matrix, "light": self.place.light, "usual": self.place.usual}
        return {"reference": self.reference, "age": self.age, **place}

    def restore(self, content: dict[str, Any], form: FrameFormat) -> None:
        """Go on from what a file holds."""
        if content["reference"].size != form.entries:
            raise ValueError(f"reference should have {form.entries} entries, not {content['reference'].size}")
        place = Sighting(content["matrix"].copy(), content["light"].copy(), usual=content["usual"])
        self.use(content["reference"].copy(), form, place, content["age"])

    def renew(self, background: AnyArray, form: FrameFormat) -> None:
        """Take the background for the picture that frames are looked for with, if that has become old."""
        self.age += 1
        if self._follower is not None and self.age >= RENEW_EVERY:
            self.use(background, form, self._follower.place)


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
    """The same of a mask, with its regions of so many pixels at least; rows of the answer beyond these are empty."""
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
