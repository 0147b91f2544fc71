"""`align`, and what `Aligner` is made of: from images as users have them to a model, and to alignments by it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._fields import from_store, record_of, to_store
from .._rules import FLOATS, ArrayOf, Number, Record
from .._threads import limit_blas_threads
from .._validation import check_count
from ..core.iterate import Callback, Progress
from ..core.online.statistics import Statistics, block_coordinate_step
from .batch import align_jointly, learn_model, remove_outliers
from .families import AlignedFrame, Matrix
from .images import Picture, estimate_white, read_pictures
from .pyramid import Image, Pyramid, pixels_at_levels
from .result import Alignment, cut_sharp, outside_reason, split_frames, unusable_reason
from .search import LARGEST, Model, SearchResult, find_place
from .settings import MOST_STARTS, AlignmentSettings
from .starts import SMALLEST, Pose, Starts, choose_frame

OUTLIER_SHARE = 0.01
"""The outlier penalty "auto", as a share of white: the paper's, for faces from 0 to 1."""
LEAST_SEEN = 0.5
"""An image is learnt from if it shows at least this share of the frame at its start."""
FEWEST = 2
"""Fewer images cannot be aligned with each other."""
NOTHING = Picture(np.full((1, 1), np.nan, np.float32), None)
"""What stands for an image that cannot be looked at: one pixel that is not known."""
_SQUARES = Number(0.0, LARGEST**2)


def align(
    images: ArrayLike,
    motion: str = "translation",
    *,
    shape: tuple[int, int] | None = None,
    starts: ArrayLike | None = None,
    n_components: int = 8,
    rank_penalty: float | str = "auto",
    outlier_penalty: float | str = "auto",
    callback: Callback | None = None,
) -> Alignment:
    r"""Align images with each other, and take them apart into what they have in common and what stands out.

    Transformations T_M of the images X are found together with components U, codes S and outliers O, by (12) in
    docs/paper.md::

        min 1/2 ||T_M(X) - US - O||^2 + rank_penalty/2 (||U||^2 + ||S||^2) + outlier_penalty ||O||_1

    in rounds, from coarse to fine: components of the images as they lie, then Gauss-Newton steps of each image against
    them. The rank grows by one in a round, and the mean of all transformations stays where it was.

    Cost: about 20 rounds, each of 4 n m q flops a few times, for m pixels of the frame. Memory: that of the images
    twice, and of the frames.

    Parameters
    ----------
    images : array of shape (n, height, width) or (n, height, width, 3), or list of such images
        Bytes, numbers of 16 bits, or numbers from 0 to 1; NaN is what is not known. A list may hold images of several
        sizes. What is aligned of coloured ones is their grey.
    motion : {"translation", "euclidean", "similarity", "affine", "projective"}
        What may have happened to an image.
    shape : pair of int, optional
        Height and width of the aligned frame; by default four fifths of the usual image.
    starts : array, optional
        Where to start, if not in the middle of each image: matrices (n, 3, 3) as in the answer, boxes (n, 4) of left,
        top, right and bottom, or landmarks (n, k, 2), k points x and y of each image.
    n_components : int
        The largest number of components.
    rank_penalty, outlier_penalty : float or "auto"
        Larger: lower rank, and fewer outliers. "auto": 0.01 of white for outliers, and the root of the number of pixels
        in the frame times that for the rank.
    callback : callable, optional
        Called with an `unmingle.core.iterate.Progress` after each round; a true answer ends the search there.

    Returns
    -------
    Alignment
        ``matrices``, ``images``, ``low_rank``, ``outliers``, ``cost``, ``ok``, ...

    See Also
    --------
    unmingle.Aligner : which aligns new images, too.

    Examples
    --------
    >>> import numpy as np, unmingle
    >>> y, x = np.mgrid[:40, :40]
    >>> places = np.array([[18.0, 20.0], [20.0, 20.0], [21.5, 19.0], [20.5, 21.0]])
    >>> spots = [np.exp(-((x - a) ** 2 + 2 * (y - b) ** 2) / 50) for a, b in places]
    >>> done = unmingle.align(spots, n_components=1)
    >>> shifts = done.matrices[:, :2, 2]
    >>> bool(np.abs(shifts - shifts.mean(axis=0) - (places - places.mean(axis=0))).max() < 0.01)
    True
    """
    settings = AlignmentSettings(motion, shape, n_components, rank_penalty, outlier_penalty)
    return learn_alignment(images, settings, starts=starts, callback=callback)[1]


@dataclass(frozen=True, eq=False)
class Learned:
    """A model, what a stream needs to go on, and how the frame lies in images."""

    model: Model
    statistics: Statistics
    pose: Pose

    @classmethod
    def rules(cls) -> Record:
        """What a file holds of it."""
        entry = LARGEST**2
        statistics = {
            "A": ArrayOf(("float64",), "q", "q", low=-entry, high=entry),
            "B": ArrayOf(FLOATS, "q", "all", low=-entry, high=entry),
            "weight": _SQUARES,
            "decay": Number(0.0, 1.0),
        }
        return Record({"model": record_of(Model), "statistics": Record(statistics), "pose": record_of(Pose)})

    def to_store(self) -> dict[str, Any]:
        """The tree of values that a file holds."""
        sums = self.statistics
        statistics = {"A": sums.A, "B": sums.B, "weight": sums.weight, "decay": sums.decay}
        return {"model": to_store(self.model), "statistics": statistics, "pose": to_store(self.pose)}

    @classmethod
    def from_store(cls, content: dict[str, Any]) -> "Learned":
        """What a file holds, whose rules were checked before."""
        model = from_store(Model, content["model"])
        frame = model.frame
        if model.components.shape[1] != frame.height * frame.width + sum(pixels_at_levels(frame)):
            raise ValueError(f"components should have columns for a frame of {frame.height} x {frame.width} pixels")
        return cls(model, Statistics(**content["statistics"]), from_store(Pose, content["pose"]))


class Batch(NamedTuple):
    """Images, where they start, and what is wrong with some of them."""

    pictures: list[Picture]
    starts: Matrix
    notes: list[str]

    @property
    def good(self) -> list[int]:
        """Numbers of the images that can be looked at."""
        return [number for number, note in enumerate(self.notes) if not note]


def learn_alignment(
    images: ArrayLike,
    settings: AlignmentSettings,
    *,
    starts: ArrayLike | None = None,
    callback: Callback | None = None,
    still: bool = False,
) -> tuple[Learned, Alignment]:
    """Align images with each other and learn what they have in common; parameters as those of `align`.

    Images that are ``still`` are too small for a search and stay where they are.
    """
    read = read_pictures(images)
    usable = [number for number, picture in enumerate(read) if isinstance(picture, Picture)]
    pictures = [picture for picture in read if isinstance(picture, Picture)]
    if not pictures:
        raise ValueError(f"None of the {len(read)} images can be aligned. The first: {read[0]}")
    given, family = Starts.of(starts, len(read)).select(usable), settings.motion
    if still and settings.shape is not None:
        frame = AlignedFrame(*settings.shape)
    else:
        frame = choose_frame(pictures, family, settings.shape, given)
    size = max(frame.height * frame.width, len(pictures))
    plan = Model.plan(frame, family, *_penalties(settings, estimate_white(pictures), size))
    pose = given.pose(frame, family, pictures)
    batch = _batch(read, starts, plan, pose)
    for number in batch.good:
        seen = 1 - float(np.mean(np.isnan(cut_sharp(plan, batch.pictures[number].grey, batch.starts[number]))))
        batch.notes[number] = outside_reason(seen) if seen < LEAST_SEEN else ""
    if len(batch.good) < FEWEST:
        other = next((note for note in batch.notes if note), "")
        raise ValueError(
            f"At least {FEWEST} images that can be aligned are needed, got {len(batch.good)}. {other}".strip()
        )
    return _learned_from(batch, plan, pose, settings.n_components, callback)


def _is_still(model: Model) -> bool:
    """Whether images are too small to be moved."""
    return min(model.frame.height, model.frame.width) < SMALLEST


def _penalties(settings: AlignmentSettings, white: float, size: int) -> tuple[float, float]:
    """Rank and outlier penalty; ``size`` is the larger of the numbers of pixels and of images."""
    rank, outliers = settings.rank_penalty, settings.outlier_penalty
    lam = OUTLIER_SHARE * white if isinstance(outliers, str) else outliers
    return lam * sqrt(size) if isinstance(rank, str) else rank, lam


def _batch(read: Sequence[Picture | str], starts: ArrayLike | None, model: Model, pose: Pose) -> Batch:
    """Images with their starts; in place of those that are none, one pixel that is not known."""
    pictures = [NOTHING if isinstance(picture, str) else picture for picture in read]
    notes = [picture if isinstance(picture, str) else unusable_reason(picture, model) for picture in read]
    given = Starts.of(starts, len(read))
    return Batch(pictures, given.matrices(model.frame, model.family, pictures, pose), notes)


def _learned_from(
    batch: Batch, plan: Model, pose: Pose, n_components: int, callback: Callback | None
) -> tuple[Learned, Alignment]:
    good = batch.good
    greys = [batch.pictures[number].grey for number in good]

    def report(done: int, total: int) -> bool:
        return callback is not None and bool(callback(Progress(done, total)))

    with limit_blas_threads(len(greys) * plan.frame.height * plan.frame.width, n_components):
        pyramids = [Pyramid.of(grey, len(plan.levels)) for grey in greys]
        matrices = batch.starts[good]
        if not _is_still(plan):
            matrices = align_jointly(pyramids, matrices, plan, n_components, report)
        model, statistics, codes = learn_model(pyramids, greys, matrices, plan, n_components)
        found: list[SearchResult | None] = [None] * len(batch.pictures)
        for number, matrix, code in zip(good, matrices, codes, strict=True):
            found[number] = SearchResult(matrix, code, moved=0.0)
        result = split_frames(model, batch.pictures, found, batch.starts, batch.notes)
    return Learned(model, statistics, pose), result


def align_new(
    learned: Learned,
    images: ArrayLike,
    starts: ArrayLike | None = None,
    *,
    n_starts: int = 1,
    callback: Callback | None = None,
) -> Alignment:
    """Align new images, each on its own, with what was learnt.

    Parameters
    ----------
    learned : Learned
        The model.
    images, starts : any
        As for `align`.
    n_starts : int
        Searches along each axis.
    callback : callable, optional
        Called after each image; a true answer ends the work there, and the other images are not looked at.
    """
    batch = _batch(read_pictures(images), starts, learned.model, learned.pose)
    return _applied(learned.model, batch, check_count(n_starts, "n_starts", MOST_STARTS), callback)


def _applied(model: Model, batch: Batch, n_starts: int = 1, callback: Callback | None = None) -> Alignment:
    with limit_blas_threads(model.components.size):
        found: list[SearchResult | None] = [None] * len(batch.pictures)
        for done, number in enumerate(batch.good, start=1):
            pyramid = Pyramid.of(batch.pictures[number].grey, len(model.levels))
            start = batch.starts[number]
            found[number] = (
                SearchResult(start, model.code, moved=0.0)
                if _is_still(model)
                else find_place(model, pyramid, start, n_starts=n_starts)
            )
            if callback is not None and callback(Progress(done, len(batch.good))):
                break
        return split_frames(model, batch.pictures, found, batch.starts, batch.notes)


def aligned_images(learned: Learned, images: ArrayLike, starts: ArrayLike | None = None, *, n_starts: int = 1) -> Image:
    """New images as they are aligned, without gaps: what they do not show is as their low-rank parts are.

    Parameters
    ----------
    learned : Learned
        The model.
    images, starts : any
        As for `align`.
    n_starts : int
        Searches along each axis.
    """
    read = read_pictures(images)
    for number, picture in enumerate(read):
        if isinstance(picture, str):
            raise ValueError(f"Image {number} cannot be aligned. {picture}")
    batch = _batch(read, starts, learned.model, learned.pose)
    result = _applied(learned.model, batch, check_count(n_starts, "n_starts", MOST_STARTS))
    aligned = np.array(result.images)
    for number, note in enumerate(batch.notes):
        if note:  # nothing was looked for
            frame = cut_sharp(learned.model, batch.pictures[number].grey, batch.starts[number])
            aligned[number] = frame.reshape(result.low_rank.shape[1:] + (1,) * (aligned.ndim - 3))
    low_rank = result.low_rank if aligned.ndim == 3 else result.low_rank[..., None]
    return np.where(np.isnan(aligned), low_rank, aligned)


def split_without_search(learned: Learned, images: ArrayLike, starts: ArrayLike | None = None) -> Alignment:
    """Images taken apart as they are, without a search.

    Parameters
    ----------
    learned : Learned
        The model.
    images, starts : any
        As for `align`.
    """
    model = learned.model
    batch = _batch(read_pictures(images), starts, model, learned.pose)
    found = [
        None if note else SearchResult(start, model.code, moved=0.0)
        for start, note in zip(batch.starts, batch.notes, strict=True)
    ]
    return split_frames(model, batch.pictures, found, batch.starts, batch.notes)


def learn_more(
    learned: Learned, images: ArrayLike, starts: ArrayLike | None, *, forgetting: float, n_starts: int
) -> tuple[Learned, Alignment]:
    """Align new images, and let the components follow those that could be aligned.

    With cleaned frames x - o of the frame and of all levels side by side::

        A <- forgetting A + s s',  B <- forgetting B + s (x - o)',  a pass over the components for (9)
    """
    model = learned.model
    batch = _batch(read_pictures(images), starts, model, learned.pose)
    result = _applied(model, batch, check_count(n_starts, "n_starts", MOST_STARTS))
    good = np.flatnonzero(result.ok)
    if not len(good):
        return learned, result
    codes, matrices = result.codes[good], result.matrices[good]
    greys = [batch.pictures[number].grey for number in good]
    pyramids = [Pyramid.of(grey, len(model.levels)) for grey in greys]
    frames = np.stack([cut_sharp(model, grey, matrix) for grey, matrix in zip(greys, matrices, strict=True)])
    cuts = [frames, *(level.cut_all(pyramids, matrices) for level in model.levels)]
    penalties = [model.outlier_penalty, *(model.penalties(level)[0] for level in model.levels)]
    low_rank = np.split(codes @ model.components, np.cumsum([cut.shape[1] for cut in cuts])[:-1], axis=1)
    cleaned = [remove_outliers(cut, part, lam) for cut, part, lam in zip(cuts, low_rank, penalties, strict=True)]
    statistics = learned.statistics.update(codes, np.concatenate(cleaned, axis=1), forgetting)
    components = block_coordinate_step(statistics, model.components, model.rank_penalty).astype(np.float32)
    return replace(learned, model=replace(model, components=components), statistics=statistics), result
