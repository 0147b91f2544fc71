"""What alignment gives: frames cut out of images and taken apart, with a verdict on each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._types import BoolArray, Float64Array
from ..core.iterate import run
from ..core.prox import huber, soft_threshold
from ..core.solvers.projection import newton
from .families import Matrix
from .images import Picture
from .pyramid import Image, spline_of
from .search import SEARCH, Model, SearchResult


@dataclass(frozen=True)
class Demands:
    """What an alignment must keep to count as one; anything else gets a sentence that says what is wrong.

    `python -m lab alignment` counts the faces that are found with them, whole ones and covered ones; noise, waves and
    faces upside down are refused (tests/estimators/test_aligner.py).
    """

    least_valid: float = 0.8
    """This share of the frame must lie within the image and be known."""
    least_explained: float = 0.5
    """This share of what is known must look as training images do."""
    farthest_move: float = 0.5
    """A corner of the frame may move by at most this share of its diagonal."""


DEMANDS = Demands()
_EXACT = 1e-5
"""Relative gap to which frames are split."""


@dataclass(frozen=True)
class Alignment:
    """Aligned images, taken apart.

    Attributes
    ----------
    matrices : array of shape (n, 3, 3)
        Maps of pixels (x, y, 1) of the aligned frame into each given image; NaN where an image cannot be looked at.
    images : array of shape (n, height, width) or (n, height, width, 3)
        The frames cut out; NaN where an image does not reach or is not known.
    low_rank, outliers : array of shape (n, height, width)
        Both parts of the frames' grey.
    cost : array of shape (n,)
        (5) of each frame; where some of it is not known, as if that were like the rest. NaN without a frame.
    ok : array of bool of shape (n,)
        Whether an image could be aligned.
    notes : tuple of str
        Why not, in a sentence; empty for others.
    codes : array of shape (n, n_components)
        Codes of the frames.
    valid : array of shape (n,)
        Share of each frame that is known.
    """

    matrices: Matrix
    images: Image
    low_rank: Image
    outliers: Image
    cost: Float64Array
    ok: BoolArray
    notes: tuple[str, ...]
    codes: Image
    valid: Float64Array

    def __repr__(self) -> str:
        n, height, width = self.low_rank.shape
        return f"Alignment({int(self.ok.sum())} of {n} images aligned, frames of {width} x {height} pixels)"


def unusable_reason(picture: Picture, model: Model) -> str:
    """Why an image cannot be looked at, in a sentence, if so."""
    least, most = np.fmin.reduce(picture.grey, axis=None), np.fmax.reduce(picture.grey, axis=None)
    if np.isnan(most):
        return "All of its pixels are missing (NaN)."
    if most - least <= model.outlier_penalty:
        return "It is blank: all of its pixels have the same value."
    return ""


def split_frames(
    model: Model,
    pictures: Sequence[Picture],
    found: Sequence[SearchResult | None],
    starts: Matrix,
    notes: Sequence[str],
) -> Alignment:
    """Cut the frames out and split them exactly, by (5); images that nothing was found for are passed over.

    Cost: that of (5) for each frame, and of two cubic splines for each image.
    """
    n, shape = len(pictures), (model.frame.height, model.frame.width)
    matrices = np.full((n, 3, 3), np.nan)
    frames = np.full((n, shape[0] * shape[1]), np.nan, np.float32)
    coloured = any(picture.colours is not None for picture in pictures)
    images = np.full((n, frames.shape[1], 3), np.nan, np.float32) if coloured else frames
    codes = np.zeros((n, len(model.components)), np.float32)
    for number, (picture, one) in enumerate(zip(pictures, found, strict=True)):
        if one is None:
            continue
        matrices[number], codes[number] = one.matrix, one.code
        frames[number] = cut_sharp(model, picture.grey, one.matrix)
        if coloured:
            images[number] = _cut_colours(model, picture, frames[number], one.matrix)
    codes = project_frames(model, frames, codes)
    low_rank = codes @ model.sharp
    misfit, known = frames - low_rank, ~np.isnan(frames)
    misfit[~known] = 0
    valid = np.mean(known, axis=1)
    fit = np.sum(huber(misfit, model.outlier_penalty), axis=1, dtype=np.float64) / np.maximum(valid, 1e-9)
    cost = fit + 0.5 * model.rank_penalty * np.sum(codes**2, axis=1)
    explained = np.mean(known & (np.abs(misfit) <= model.usual_misfit), axis=1) / np.maximum(valid, 1e-9)
    verdicts = [
        notes[i] or _failure(model, found[i], starts[i], float(valid[i]), float(explained[i])) for i in range(n)
    ]
    return Alignment(
        matrices,
        images.reshape(n, *shape, *images.shape[2:]),
        low_rank.reshape(n, *shape),
        soft_threshold(misfit, np.float32(model.outlier_penalty)).reshape(n, *shape),
        np.where(valid > 0, cost, np.nan),
        np.array([not verdict for verdict in verdicts]),
        tuple(verdicts),
        codes,
        valid,
    )


def outside_reason(seen: float) -> str:
    """The sentence for an image that shows too little of the frame."""
    return f"Only {seen:.0%} of the frame lies within the image."


def _failure(model: Model, found: SearchResult | None, start: Matrix, valid: float, explained: float) -> str:
    """What speaks against an alignment, in a sentence."""
    if found is None or valid < DEMANDS.least_valid:
        return outside_reason(valid)
    distance = float(model.frame.moves(np.linalg.inv(start) @ found.matrix))
    if distance > 2 * DEMANDS.farthest_move * model.frame.unit:
        return f"The frame moved too far, {distance:.0f} pixels away from where it started."
    if found.moved > SEARCH.coarse_tol:
        return f"The search did not settle: its last step was {found.moved:.2f} pixels."
    if explained < DEMANDS.least_explained:
        return f"It does not look like the training images: only {explained:.0%} of it fits the model."
    return ""


def cut_sharp(model: Model, grey: Image, matrix: Matrix) -> Image:
    """The frame cut out of an image by its cubic spline, (m,), NaN where nothing is known."""
    return model.levels[0].cut(spline_of(grey), matrix, cubic=True)


def _cut_colours(model: Model, picture: Picture, frame: Image, matrix: Matrix) -> Image:
    if picture.colours is None:
        return np.repeat(frame[:, None], 3, axis=1)
    channels = (np.ascontiguousarray(picture.colours[..., channel]) for channel in range(3))
    return np.stack([cut_sharp(model, channel, matrix) for channel in channels], axis=1)


def project_frames(model: Model, frames: Image, codes: Image) -> Image:
    """Codes of (5) of frames, exactly, from codes that are near."""
    if not codes.size:
        return codes
    lam = np.full(frames.shape[1], model.outlier_penalty, np.float32)
    iterates = newton(frames, model.sharp, model.rank_penalty, lam, codes, tol=_EXACT)
    codes = run(iterates, lambda state: float(state.gap.max()), tol=_EXACT, max_iter=5).state.codes
    return np.where(np.isnan(frames).all(axis=1, keepdims=True), np.float32(0), codes)
