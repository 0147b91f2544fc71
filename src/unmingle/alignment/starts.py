"""Where searches start: at matrices, boxes or landmarks that are given, or in the middle of each image."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from .._rules import ArrayOf, Number
from .families import SCALING, AlignedFrame, Matrix
from .images import Picture
from .search import LARGEST

MARGIN = 0.1
"""The frame leaves this share of the usual image at each side, unless its shape is given."""
SMALLEST = 8
"""A frame that images are searched for has at least this number of pixels along each axis."""


def choose_frame(pictures: Sequence[Picture], family: str, given: Any, starts: "Starts") -> AlignedFrame:
    """The frame of the given height and width, or one that leaves a margin in the usual image, or box.

    Usual is the median, and for families that cannot change sizes one that nine of ten images reach.
    """
    if given is not None:
        sides = np.asarray(given)
        if sides.shape != (2,) or sides.dtype.kind not in "iu" or sides.min() < SMALLEST:
            raise ValueError(f"shape must be a pair of whole numbers of at least {SMALLEST}; got {given!r}.")
        return AlignedFrame(int(sides[0]), int(sides[1]))
    boxes = starts.boxes(pictures)
    sizes = np.quantile(boxes[:, [3, 2]] - boxes[:, [1, 0]], 0.5 if family in SCALING else 0.1, axis=0)
    height, width = np.rint((1 - 2 * MARGIN) * sizes).astype(int)
    if min(height, width) < SMALLEST:
        raise ValueError(
            f"The images are too small: a frame of {width} x {height} pixels is left of them, and {SMALLEST} are "
            "needed along each axis; give a shape, or larger images."
        )
    return AlignedFrame(int(height), int(width))


@dataclass(frozen=True, eq=False)
class Pose:
    """How the frame lies in the usual image: what new images are started from as the ones learnt from were."""

    side: Annotated[float, Number(1 / LARGEST, LARGEST)]
    """Root of the area of the usual image or box."""
    landmarks: Annotated[Matrix, ArrayOf(("float64",), "k", 2, low=-LARGEST, high=LARGEST)] | None = None
    """(k, 2): where landmarks lie in the frame, if there were any."""


@dataclass(frozen=True)
class Starts:
    """Starting points for the images of one call.

    Parameters are as users give them: matrices (n, 3, 3), boxes (n, 4) of left, top, right and bottom, landmarks
    (n, k, 2) of x and y, or None.
    """

    given: Matrix | None
    kind: str

    @classmethod
    def of(cls, given: ArrayLike | None, n: int) -> "Starts":
        """Tell by its shape what is given."""
        if given is None:
            return cls(None, "images")
        array = np.asarray(given, dtype=np.float64)
        kinds = {(n, 3, 3): "matrices", (n, 4): "boxes"}
        kind = kinds.get(array.shape, "landmarks" if array.ndim == 3 and array.shape[::2] == (n, 2) else "")
        if not kind:
            raise ValueError(
                f"starts must be matrices of shape ({n}, 3, 3), boxes of shape ({n}, 4) or landmarks of shape "
                f"({n}, k, 2), one for each image; got shape {array.shape}."
            )
        if not np.isfinite(array).all():
            raise ValueError("starts must be finite, got NaN or infinity.")
        if kind == "boxes" and (array[:, 2:] <= array[:, :2]).any():
            raise ValueError("starts must be boxes of left, top, right and bottom, with right > left and bottom > top.")
        return cls(array, kind)

    def select(self, kept: list[int]) -> "Starts":
        """Those of some of the images."""
        return Starts(None if self.given is None else self.given[kept], self.kind)

    def boxes(self, pictures: Sequence[Picture]) -> Matrix:
        """The boxes that are given, or all of each image, (n, 4)."""
        if self.kind == "boxes" and self.given is not None:
            return self.given
        return np.array([[0.0, 0.0, picture.grey.shape[1], picture.grey.shape[0]] for picture in pictures])

    def pose(self, frame: AlignedFrame, family: str, pictures: Sequence[Picture]) -> Pose:
        """The usual size, and where landmarks lie in the frame on average."""
        boxes = self.boxes(pictures)
        side = float(np.median(_mean_sides(boxes)))
        if self.kind != "landmarks" or self.given is None:
            return Pose(side, None)
        middles = self.given.mean(axis=1, keepdims=True)
        around = self.given - middles
        if family in SCALING:
            sizes = np.sqrt(np.sum(around**2, axis=(1, 2), keepdims=True))
            around = around * (np.median(sizes) / np.maximum(sizes, 1e-9))
        shift = np.median(middles[:, 0] - (boxes[:, 2:] - 1) / 2, axis=0)
        return Pose(side, np.mean(around, axis=0) + shift + frame.to_pixels[:2, 2])

    def matrices(self, frame: AlignedFrame, family: str, pictures: Sequence[Picture], pose: Pose) -> Matrix:
        """The matrices to start from, (n, 3, 3)."""
        if self.kind == "matrices" and self.given is not None:
            return self.given / self.given[:, 2:, 2:]
        if self.kind == "landmarks" and self.given is not None:
            if pose.landmarks is None or pose.landmarks.shape != self.given.shape[1:]:
                known = 0 if pose.landmarks is None else len(pose.landmarks)
                raise ValueError(
                    f"starts holds {self.given.shape[1]} landmarks, but the model has learnt with {known}."
                )
            return np.stack([fit_landmarks(pose.landmarks, points, family) for points in self.given])
        boxes = self.boxes(pictures)
        scale = _mean_sides(boxes) / pose.side if family in SCALING else np.ones(len(boxes))
        matrices = scale[:, None, None] * np.diag([1.0, 1.0, 0.0]) + np.diag([0.0, 0.0, 1.0])
        matrices[:, :2, 2] = (boxes[:, :2] + boxes[:, 2:] - 1) / 2 - scale[:, None] * frame.to_pixels[:2, 2]
        return matrices


def fit_landmarks(sources: Matrix, targets: Matrix, family: str) -> Matrix:
    """The translation, rotation and, if the family has it, scale that bring points nearest to others.

    min over a, b, t of sum ||(a, -b; b, a) x_i + t - y_i||^2, in closed form.
    """
    middle, aim = sources.mean(axis=0), targets.mean(axis=0)
    x, y = sources - middle, targets - aim
    size = float(np.sum(x**2))
    a, b = 1.0, 0.0
    if family != "translation" and size > 0:
        a, b = float(np.sum(x * y)) / size, float(np.sum(x[:, 0] * y[:, 1] - x[:, 1] * y[:, 0])) / size
        length = np.hypot(a, b)
        a, b = (1.0, 0.0) if length < 1e-9 else (a, b) if family in SCALING else (a / length, b / length)
    turn = np.array([[a, -b], [b, a]])
    matrix = np.eye(3)
    matrix[:2, :2], matrix[:2, 2] = turn, aim - turn @ middle
    return matrix


def _mean_sides(boxes: Matrix) -> Matrix:
    return np.sqrt(np.prod(boxes[:, 2:] - boxes[:, :2], axis=1))
