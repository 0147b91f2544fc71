"""A camera that shakes: frames of a film against the background, from some pixels, each from where the last was."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._families import AlignedFrame, Matrix, inverse
from ._images import brightness, read_pictures
from ._pyramid import Grid, Image, Pyramid
from ._search import Landing, Model, descend

PIXELS = 4000
"""Of the background that a search looks at, at each level."""
LEVELS = 3
JUMP = 2.0
"""Pixels at a corner beyond which a frame is searched for from coarse to fine once more."""
MARGIN = 0.06
"""Share of the background that is left out at each side: it may have left the picture."""


class Follower:
    """Finds where each frame of a shaking camera lies against a background of the same size.

    The Huber cost of `search` with the background b as the one component, whose code is the light of the frame::

        min over M, s of  sum_i huber(T_M(x)_i - s b_i)

    over the pixels i where the background has the strongest slopes: others tell nothing. A frame starts from where the
    last one was; one that moved far, or ends dear, is searched for from coarse to fine.

    Parameters
    ----------
    background : array of shape (height, width)
        Grey, bytes or numbers from 0 to 1.
    transform : str
        One of `FAMILIES`.
    outlier_penalty : float, optional
        A hundredth of white by default.

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

    def __init__(self, background: Any, transform: str = "translation", outlier_penalty: float | None = None) -> None:
        (picture,) = read_pictures([background])
        if isinstance(picture, str):
            raise ValueError(f"background cannot be used. {picture}")
        frame, white = AlignedFrame(*picture.grey.shape), brightness([picture])
        lam = 0.01 * white if outlier_penalty is None else outlier_penalty
        self.plan = Model.plan(frame, transform, 1e-6 * white, lam)
        self.matrix: Matrix = np.eye(3)
        self.code: Image = np.ones(1, np.float32)
        self._grids, self._atoms = [], []
        pyramid = Pyramid.of(picture.grey, min(LEVELS, len(self.plan.levels)))
        for level, image in zip(self.plan.levels, pyramid.levels, strict=False):
            values, slopes = level.cut_with_slopes(image, np.eye(3), cubic=level.number == 0)
            some = _telling(level, values, slopes)
            self._grids.append(Grid.of(frame, transform, level.number, some))
            self._atoms.append(np.ascontiguousarray(values[None, some]))

    def align(self, image: Any) -> Landing:
        """Where the background lies in a frame of the film; the next one is searched for from there.

        Parameters
        ----------
        image : array of shape (height, width)
            The frame, grey.
        """
        (picture,) = read_pictures([image])
        if isinstance(picture, str):
            raise ValueError(f"image cannot be used. {picture}")
        pyramid = Pyramid.of(picture.grey, len(self._grids))
        start = Landing(self.matrix, self.code)
        found = self._look(pyramid, start, 0)
        if float(self.plan.frame.moves(inverse(start.matrix) @ found.matrix)) > JUMP or not np.isfinite(found.cost):
            other = start
            for number in reversed(range(len(self._grids))):
                other = self._look(pyramid, other, number)
            found = other if other.cost < found.cost else found
        self.matrix, self.code = found.matrix, found.code
        return found

    def _look(self, pyramid: Pyramid, found: Landing, number: int) -> Landing:
        grid = self._grids[number]
        return descend(grid, pyramid.levels[number], self._atoms[number], found, self.plan.penalties(grid))


def _telling(level: Grid, values: Image, slopes: Image) -> NDArray[np.intp]:
    """Numbers of the pixels with the strongest slopes, away from the border, spread over the whole frame."""
    height, width = level.shape
    row, column = np.divmod(np.arange(height * width), width)
    away = [np.minimum(place, side - 1 - place) > MARGIN * side for place, side in ((row, height), (column, width))]
    usable = away[0] & away[1] & ~np.isnan(values)
    strength = np.where(usable, np.sum(slopes**2, axis=0), -1.0)
    cells = max(1, int(np.sqrt(PIXELS / 64)))
    block = (row * cells // height) * cells + column * cells // width
    order = np.lexsort((-strength, block))
    first = np.searchsorted(block[order], block[order], side="left")
    rank = np.arange(len(order)) - first
    chosen = order[(rank < PIXELS // cells**2) & (strength[order] > 0)]
    return np.sort(chosen)
