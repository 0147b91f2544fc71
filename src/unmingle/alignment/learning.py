"""From images as users have them to a model, to alignments by it, and to a model that has seen more."""

from dataclasses import replace
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from .._threads import limit_blas_threads
from .._validation import check_choice, check_count, check_positive
from ..core.iterate import Callback, Progress
from ..core.online.statistics import Statistics, block_coordinate_step
from .batch import align_jointly, clean, learn
from .families import FAMILIES, AlignedFrame, Matrix
from .images import Picture, brightness, read_pictures
from .pyramid import Image, Pyramid
from .result import Alignment, cut_sharp, outside, taken_apart, trouble
from .search import Landing, Model, find_place
from .starts import SMALLEST, Pose, Starts, frame_for

OUTLIER_SHARE = 0.01
"""The outlier penalty "auto", as a share of white: the paper's, for faces from 0 to 1."""
LEAST_SEEN = 0.5
"""Share of the frame that an image must show at its start to be learnt from."""
FEWEST, MOST_STARTS = 2, 9
NOTHING = Picture(np.full((1, 1), np.nan, np.float32), None)


class Learned(NamedTuple):
    """A model, what a stream needs to go on, and how the frame lies in images."""

    model: Model
    statistics: Statistics
    pose: Pose


class Batch(NamedTuple):
    """Images, where they start, and what is wrong with some of them."""

    pictures: list[Picture]
    starts: Matrix
    notes: list[str]

    @property
    def good(self) -> list[int]:
        """Numbers of the images that can be looked at."""
        return [number for number, note in enumerate(self.notes) if not note]


def fit(
    images: Any,
    family: str,
    *,
    shape: Any,
    starts: Any,
    n_components: Any,
    penalties: tuple[Any, Any],
    callback: Callback | None,
    still: bool = False,
) -> tuple[Learned, Alignment]:
    """Align images with each other and learn what they have in common; parameters as those of `align`.

    Images that are ``still`` are too small for a search and stay where they are.
    """
    check_choice(family, "motion", FAMILIES)
    n_components = check_count(n_components, "n_components")
    read = read_pictures(images)
    usable = [number for number, picture in enumerate(read) if isinstance(picture, Picture)]
    pictures = [picture for picture in read if isinstance(picture, Picture)]
    if not pictures:
        raise ValueError(f"None of the {len(read)} images can be aligned. The first: {read[0]}")
    given = Starts.of(starts, len(read)).select(usable)
    frame = AlignedFrame(*shape) if still else frame_for(pictures, family, shape, given)
    size = max(frame.height * frame.width, len(pictures))
    plan = Model.plan(frame, family, *_penalties(penalties, brightness(pictures), size))
    pose = given.pose(frame, family, pictures)
    batch = _batch(read, starts, plan, pose)
    for number in batch.good:
        seen = 1 - float(np.mean(np.isnan(cut_sharp(plan, batch.pictures[number].grey, batch.starts[number]))))
        batch.notes[number] = outside(seen) if seen < LEAST_SEEN else ""
    if len(batch.good) < FEWEST:
        other = next((note for note in batch.notes if note), "")
        raise ValueError(
            f"At least {FEWEST} images that can be aligned are needed, got {len(batch.good)}. {other}".strip()
        )
    return _learned_from(batch, plan, pose, n_components, callback)


def is_still(model: Model) -> bool:
    """Whether images are too small to be moved."""
    return min(model.frame.height, model.frame.width) < SMALLEST


def _penalties(given: tuple[Any, Any], white: float, size: int) -> tuple[float, float]:
    """Rank and outlier penalty; ``size`` is the larger of the numbers of pixels and of images."""
    rank, outliers = given
    lam = OUTLIER_SHARE * white if _is_auto(outliers) else check_positive(outliers, "outlier_penalty")
    return lam * sqrt(size) if _is_auto(rank) else check_positive(rank, "rank_penalty"), lam


def _is_auto(penalty: Any) -> bool:
    return isinstance(penalty, str) and penalty == "auto"


def _batch(read: list[Picture | str], starts: Any, model: Model, pose: Pose) -> Batch:
    """Images with their starts; in place of those that are none, one pixel that is not known."""
    pictures = [NOTHING if isinstance(picture, str) else picture for picture in read]
    notes = [picture if isinstance(picture, str) else trouble(picture, model) for picture in read]
    given = Starts.of(starts, len(read))
    return Batch(pictures, given.matrices(model.frame, model.family, pictures, pose), notes)


def _learned_from(
    batch: Batch, plan: Model, pose: Pose, n_components: int, callback: Callback | None
) -> tuple[Learned, Alignment]:
    good = batch.good
    greys = [batch.pictures[number].grey for number in good]

    def tell(done: int, total: int) -> bool:
        return callback is not None and bool(callback(Progress(done, total)))

    with limit_blas_threads(len(greys) * plan.frame.height * plan.frame.width, n_components):
        pyramids = [Pyramid.of(grey, len(plan.levels)) for grey in greys]
        matrices = batch.starts[good]
        if not is_still(plan):
            matrices = align_jointly(pyramids, matrices, plan, n_components, tell)
        model, statistics, codes = learn(pyramids, greys, matrices, plan, n_components)
        found: list[Landing | None] = [None] * len(batch.pictures)
        for number, matrix, code in zip(good, matrices, codes, strict=True):
            found[number] = Landing(matrix, code, moved=0.0)
        result = taken_apart(model, batch.pictures, found, batch.starts, batch.notes)
    return Learned(model, statistics, pose), result


def apply(
    learned: Learned, images: Any, starts: Any = None, *, n_starts: int = 1, callback: Callback | None = None
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
        found: list[Landing | None] = [None] * len(batch.pictures)
        for done, number in enumerate(batch.good, start=1):
            pyramid = Pyramid.of(batch.pictures[number].grey, len(model.levels))
            start = batch.starts[number]
            found[number] = (
                Landing(start, model.code, moved=0.0)
                if is_still(model)
                else find_place(model, pyramid, start, n_starts=n_starts)
            )
            if callback is not None and callback(Progress(done, len(batch.good))):
                break
        return taken_apart(model, batch.pictures, found, batch.starts, batch.notes)


def aligned_images(learned: Learned, images: Any, starts: Any = None, *, n_starts: int = 1) -> Image:
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


def starting_parts(learned: Learned, images: Any, starts: Any = None) -> Alignment:
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
        None if note else Landing(start, model.code, moved=0.0)
        for start, note in zip(batch.starts, batch.notes, strict=True)
    ]
    return taken_apart(model, batch.pictures, found, batch.starts, batch.notes)


def learn_more(
    learned: Learned, images: Any, starts: Any, *, forgetting: float, n_starts: int
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
    cleaned = [clean(cut, part, lam) for cut, part, lam in zip(cuts, low_rank, penalties, strict=True)]
    statistics = learned.statistics.update(codes, np.concatenate(cleaned, axis=1), forgetting)
    components = block_coordinate_step(statistics, model.components, model.rank_penalty).astype(np.float32)
    return learned._replace(model=replace(model, components=components), statistics=statistics), result
