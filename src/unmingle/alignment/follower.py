"""A camera that shakes: frames of a film against a picture of the scene, from some pixels, one after the other."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._types import AnyArray, Float64Array
from .._validation import check_choice, check_positive
from ..kernels.following import follow_frame, nearest_shift, steepest_pixels
from .families import FAMILIES, AlignedFrame, Matrix
from .pyramid import Grid

Picture2D = AnyArray

IN_SIGHT = 0.7
"""A frame shows enough of the picture if it has this share of the pixels that are looked at."""


@dataclass(frozen=True)
class FollowerSettings:
    """Which pixels a camera is followed by, how it is searched for, and when an answer counts.

    Films of CDnet, as they are and through windows that move, show what each is good for (`python -m lab alignment`).
    """

    cells: int = 1600
    """One pixel is looked at in each square cell of the picture, of which there are about this number."""
    least_slope: float = 2.0 / 255.0
    """A cell has a pixel if the picture changes by this share of white from one pixel to the next: where it changes by
    less it does not tell where it is."""
    fewest_pixels: int = 30
    """With fewer pixels nothing can be found."""
    outlier_share: float = 0.01
    """The outlier penalty is this share of white, unless one is given."""
    longest_step: float = 2.0
    """A step moves no corner of the frame by more pixels than this."""
    shortest_step: float = 0.02
    """The search ends after a step that is shorter than this, in pixels."""
    steps: int = 20
    """The search takes at most this number of steps."""
    least_explained: float = 0.35
    """This share of the pixels in sight has to look as in the picture; by chance a quarter of them does."""
    drop: float = 0.75
    """A frame of which less than this multiple of the usual share is explained is looked for in all places nearby."""
    fading: float = 0.98
    """The usual share rises at once, and keeps this much of what it was where less is explained."""
    searched_pixels: int = 300
    """All places nearby are compared by this number of pixels."""
    reach: float = 1.0 / 32.0
    """They reach this far to each side, as a share of the mean side of the picture, and at least `least_reach`."""
    least_reach: int = 8
    """The fewest pixels that they reach to each side."""


FOLLOWING = FollowerSettings()


class Sighting(NamedTuple):
    """Where a picture lies in a frame."""

    matrix: Matrix
    """From pixels of the picture to pixels of the frame."""
    light: Float64Array
    """Gain and offset: the frame is gain times the picture plus offset."""
    in_sight: float = 1.0
    """Share of the pixels looked at that lie in the frame."""
    explained: float = 1.0
    """Share of these that are as the picture has them."""
    usual: float = 0.0
    """That of frames of late; 0 before the first."""

    @property
    def ok(self) -> bool:
        """Whether enough of the picture is in sight, and looks as it should."""
        return self.in_sight >= IN_SIGHT and self.explained >= FOLLOWING.least_explained


class Follower:
    """Finds where each frame of a shaking camera lies against a picture of the scene, of the same size.

    With the picture b, a frame x, a gain g and an offset o, ::

        min over M, g, o of  sum_i huber(x(M p_i) - g b(p_i) - o)

    over one pixel p_i, that with the strongest slope, of each of 1600 cells. A frame is looked for from where the last
    one was, by Gauss-Newton steps with the slopes of the picture; if the answer explains too little, by trying all
    shifts by whole pixels nearby first.

    Parameters
    ----------
    background : array of shape (height, width)
        Grey: bytes, 16-bit numbers, or numbers from 0 to 1.
    transform : str
        One of `FAMILIES`.
    outlier_penalty : float, optional
        As a share of white; a hundredth by default.

    Examples
    --------
    >>> from scipy.ndimage import gaussian_filter
    >>> scene = gaussian_filter(np.random.default_rng(0).random((90, 120)), 2.0)
    >>> scene = (scene - scene.min()) / np.ptp(scene)
    >>> follower = Follower(scene[5:-5, 5:-5])
    >>> follower.align(scene[7:-3, 2:-8]).matrix.round(2) + 0
    array([[ 1.,  0.,  3.],
           [ 0.,  1., -2.],
           [ 0.,  0.,  1.]])
    """

    def __init__(
        self, background: ArrayLike, transform: str = "translation", outlier_penalty: float | None = None
    ) -> None:
        picture = _grey(background, "background")
        self.transform = check_choice(transform, "transform", FAMILIES)
        self.outlier_penalty = (
            FOLLOWING.outlier_share if outlier_penalty is None else check_positive(outlier_penalty, "outlier_penalty")
        )
        self.frame = AlignedFrame(*picture.shape)
        self.scale = _scale_of(picture)
        self.place = Sighting(np.eye(3), np.array([1.0, 0.0]))
        """Where the last frame was."""
        side = max(4, round(np.sqrt(picture.size / FOLLOWING.cells)))
        cells = -(-picture.shape[0] // side) * -(-picture.shape[1] // side)
        chosen, slopes = np.empty((2, cells), np.int64), np.empty((2, cells), np.float32)
        count = steepest_pixels(picture, self.scale, side, FOLLOWING.least_slope, chosen, slopes)
        rows, columns = chosen[:, :count]
        level = Grid.of(self.frame, transform, 0, rows * picture.shape[1] + columns)
        self._values = np.asarray(picture[rows, columns] * np.float32(self.scale), np.float32)
        gradients = slopes[:, :count] * np.float32(self.frame.unit)
        tangents = np.einsum("am,pam->pm", gradients, level.fields)
        self._jacobian = np.concatenate([tangents, self._values[None], np.ones((1, count), np.float32)])
        self._shape = level.grid, level.generators, level.corners

    def align(self, image: ArrayLike) -> Sighting:
        """Where the picture lies in a frame of the film; the next one is looked for from there if the answer is ok.

        Parameters
        ----------
        image : array of shape (height, width)
            The frame, grey, of the size and type of the picture.
        """
        return self.follow(_grey(image, "image"))

    def follow(self, frame: Picture2D) -> Sighting:
        """The same for a frame that is known to be one."""
        if self._values.size < FOLLOWING.fewest_pixels:
            return self.place
        start = self.place
        found = self._descended(frame, start.matrix)
        if found.explained < FOLLOWING.drop * (start.usual or 1.0):
            reach = max(FOLLOWING.least_reach, round(0.5 * sum(frame.shape) * FOLLOWING.reach))
            begin = start.matrix @ self.frame.to_pixels
            x, y = nearest_shift(
                frame, self.scale, begin, start.light, 3 * self.outlier_penalty, reach,
                max(1, self._values.size // FOLLOWING.searched_pixels), self._values, self._shape[0],
            )  # fmt: skip
            shift = np.array([[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]])
            other = self._descended(frame, shift @ start.matrix)
            found = other if other.explained > found.explained else found
        if found.ok:
            usual = max(found.explained, FOLLOWING.fading * start.usual + (1.0 - FOLLOWING.fading) * found.explained)
            self.place = found._replace(usual=usual)
        return found

    def _descended(self, frame: Picture2D, start: Matrix) -> Sighting:
        matrix, light = start @ self.frame.to_pixels, self.place.light.copy()
        limits = self.outlier_penalty, FOLLOWING.longest_step, FOLLOWING.shortest_step, FOLLOWING.steps
        _, in_sight, explained = follow_frame(
            frame, self.scale, matrix, light, limits, self._values, self._jacobian, *self._shape
        )
        found = matrix @ self.frame.from_pixels
        return Sighting(found / found[2, 2], light, in_sight, explained)


def _grey(image: ArrayLike, name: str) -> Picture2D:
    """A grey picture as an array of one piece, or a sentence that tells what is wrong with it."""
    picture = np.asarray(image)
    if picture.ndim != 2 or picture.dtype.kind not in "uf" or picture.size == 0:
        raise ValueError(
            f"{name} must be a grey picture of bytes, 16-bit numbers, or numbers from 0 to 1; "
            f"got {picture.dtype} of shape {picture.shape}."
        )
    picture = picture if picture.dtype.kind == "u" else picture.astype(np.float32, copy=False)
    return np.ascontiguousarray(picture)


def _scale_of(picture: Picture2D) -> float:
    """What brings the numbers of a picture to 0 to 1."""
    return 1.0 if picture.dtype.kind == "f" else 1.0 / float(np.iinfo(picture.dtype).max)
