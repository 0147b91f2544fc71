"""One image against a model: coarse to fine, with the outlier penalty from large to small.

This is (12) in docs/paper.md for one image and given U::

    min over M, s of  sum_i huber_lam(T_M(x)_i - (Us)_i) + lam_*/2 ||s||^2

which is (5) of the transformed image with the best outliers put in. Gauss-Newton steps move M and s together; by
themselves, steps of M alone with s solved for would need many more.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Annotated, NamedTuple

import numpy as np

from .._rules import ArrayOf, Number, OneOf
from ..kernels.alignment import align_image
from .families import FAMILIES, AlignedFrame, Matrix
from .pyramid import Grid, Image, Pyramid, n_levels


@dataclass(frozen=True)
class SearchSettings:
    """How an image is searched for, level by level, and when to look a second time.

    Tried on drawn faces of known displacement, and on the two sets of RASL's authors (`python -m lab alignment`). The
    second search stays near the first, which the shadows of the second set need.
    """

    penalty_growth: float = 3.0
    """Each coarser level has the outlier penalty of the next finer one times this."""
    radius: float = 1.5
    """A step moves no corner of the frame by more than this, in pixels of its level."""
    coarse_tol: float = 0.05
    """At coarse levels the search ends after a step that is shorter than this, in pixels of the level."""
    fine_tol: float = 0.005
    """At the finest level it ends after a step that is shorter than this, in pixels."""
    coarse_steps: int = 20
    """A coarse level takes at most this number of steps."""
    fine_steps: int = 40
    """The finest level takes at most this number of steps."""
    code_steps: int = 2
    """The first steps of a search look for the code alone, and leave the transformation as it is."""
    start_distance: float = 2.0
    """Several starts lie this far apart, in pixels of the coarsest level."""
    second_starts: int = 3
    """An image that ends at a high cost is searched for again, from this number of starts along each axis."""
    second_distance: float = 0.5
    """The starts of the second search lie this far apart, in pixels of the coarsest level."""
    second_loss: float = 0.1
    """The second search may end where less of the frame is in sight, by at most this share of the frame."""


SEARCH = SearchSettings()
LARGEST = 1e6
"""Pixels are at most 1, and frames at most 2^15 of them wide: no number of a model is near this."""
_SIZE = Number(1 / LARGEST, LARGEST)


@dataclass(frozen=True)
class Model:
    """Components of the aligned frame, and of its levels, for one set of codes.

    ``components`` is (q, M): the m columns of the frame itself, then those of each level, the finest first.
    """

    frame: AlignedFrame
    family: Annotated[str, OneOf(*FAMILIES)]
    components: Annotated[Image, ArrayOf(("float32",), "q", "all", low=-LARGEST, high=LARGEST)]
    code: Annotated[Image, ArrayOf(("float32",), "q", low=-LARGEST, high=LARGEST)]
    """(q,): the code that a search starts from."""
    rank_penalty: Annotated[float, _SIZE]
    outlier_penalty: Annotated[float, _SIZE]
    usual_misfit: Annotated[float, _SIZE] = 0.0
    """How far 95 % of the pixels of training images were from the low-rank part."""
    costly: Annotated[float, _SIZE] = np.inf
    """A cost that tells of a wrong place: twice that of the usual training image."""

    @classmethod
    def plan(cls, frame: AlignedFrame, family: str, rank_penalty: float, outlier_penalty: float) -> "Model":
        """A model without components."""
        nothing = np.zeros((0, 0), np.float32)
        return cls(frame, family, nothing, nothing.ravel(), rank_penalty, outlier_penalty)

    @cached_property
    def levels(self) -> tuple[Grid, ...]:
        """The levels of the frame, the finest first."""
        return tuple(Grid.of(self.frame, self.family, number) for number in range(n_levels(self.frame)))

    @cached_property
    def atoms(self) -> tuple[Image, ...]:
        """U' of each level, with as many of the components as it is searched with."""
        sizes = np.cumsum([self.frame.height * self.frame.width, *(level.grid.shape[1] for level in self.levels)])
        parts = zip(sizes, sizes[1:], self.levels, strict=False)
        return tuple(
            np.ascontiguousarray(self.components[: n_components_at(level, len(self.components)), first:last])
            for first, last, level in parts
        )

    @property
    def sharp(self) -> Image:
        """U' of the frame itself."""
        return self.components[:, : self.frame.height * self.frame.width]

    def penalties(self, level: Grid) -> tuple[float, float]:
        """Outlier and rank penalty of a level; its cost is a sum over fewer pixels."""
        return self.outlier_penalty * SEARCH.penalty_growth**level.number, self.rank_penalty / 4**level.number


def n_components_at(level: Grid, q: int) -> int:
    """Components in use at a level: half as many at each coarser one, since many explain a shift as well."""
    return max(min(q, 1), q >> level.number)


class SearchResult(NamedTuple):
    """Where a search ended."""

    matrix: Matrix
    code: Image
    cost: float = np.inf
    valid: float = 0.0
    """Share of the frame that lies in the image and is known."""
    moved: float = np.inf
    """How far the last step moved a corner, in pixels."""


def find_place(
    model: Model,
    pyramid: Pyramid,
    start: Matrix,
    code: Image | None = None,
    *,
    n_starts: int = 1,
    coarsest: int | None = None,
) -> SearchResult:
    """Align an image, level by level.

    An image whose cost is twice the usual one is searched for again from nine starts, and the better end is taken.

    Cost: about 15 steps of `unmingle.kernels.alignment.align_image`, half of them at the finest level.

    Parameters
    ----------
    model : Model
        What the aligned frame looks like.
    pyramid : Pyramid
        The image.
    start : array of shape (3, 3)
        Where to start.
    code : array of shape (q,), optional
        The code to start from.
    n_starts : int
        Starting points along each axis, two pixels of the first level apart; the best of them there goes on.
    coarsest : int, optional
        The first level; by default the coarsest.
    """
    first = len(model.levels) - 1 if coarsest is None else min(coarsest, len(model.levels) - 1)
    begin, code = np.asarray(start, dtype=np.float64), model.code if code is None else code
    found = _search_down(
        model, pyramid, first, _shifted_starts(begin, n_starts, SEARCH.start_distance * 2.0**first), code
    )
    if found.cost <= model.costly or n_starts > 1 or first == 0:
        return found
    other = _search_down(
        model, pyramid, first, _shifted_starts(begin, SEARCH.second_starts, SEARCH.second_distance * 2.0**first), code
    )
    return other if other.cost < found.cost and other.valid >= found.valid - SEARCH.second_loss else found


def _search_down(model: Model, pyramid: Pyramid, first: int, places: Iterable[Matrix], code: Image) -> SearchResult:
    """Search at the first level from several places, and go on with the best of them."""
    tried = [
        _search_level(model, pyramid, first, SearchResult(place, code), code, SEARCH.code_steps) for place in places
    ]
    found = min(tried, key=lambda one: one.cost)
    for number in reversed(range(first)):
        found = _search_level(model, pyramid, number, found, code)
    return found


def _search_level(
    model: Model, pyramid: Pyramid, number: int, found: SearchResult, code: Image, still: int = 0
) -> SearchResult:
    """Go on at a level; what the level before had no components for starts from the given code."""
    level, atoms = model.levels[number], model.atoms[number]
    known = np.concatenate([found.code, code[len(found.code) :]])[: len(atoms)]
    return descend(level, pyramid.levels[number], atoms, found._replace(code=known), model.penalties(level), still)


def _shifted_starts(start: Matrix, count: int, apart: float) -> Iterator[Matrix]:
    """Matrices on a square grid of shifts round the start."""
    shifts = apart * (np.arange(count) - 0.5 * (count - 1))
    for x, y in product(shifts, shifts):
        yield start @ np.array([[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]])


def descend(
    level: Grid,
    image: Image,
    atoms: Image,
    found: SearchResult,
    penalties: tuple[float, float],
    still: int = 0,
    most: int = 0,
) -> SearchResult:
    """Go on with a search at one level, where the image is given by its spline if it is the finest."""
    stride, fine = 2.0**level.number, level.number == 0
    matrix, code = level.matrix(found.matrix), np.array(found.code, np.float32)
    most = most or (SEARCH.fine_steps if fine else SEARCH.coarse_steps)
    limits = (
        (SEARCH.fine_tol if fine else SEARCH.coarse_tol) * stride,
        SEARCH.radius * stride,
        float(most),
        float(still),
    )
    shape = level.grid, level.fields, level.generators, level.corners
    cost, valid, moved = align_image(image, fine, matrix, code, *shape, atoms, penalties, limits)
    full = np.diag([stride, stride, 1.0]) @ matrix @ level.frame.from_pixels
    return SearchResult(full / full[2, 2], code, cost, valid, moved)
