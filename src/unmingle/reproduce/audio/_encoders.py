"""Encoders that learn from mixtures alone."""

import warnings
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import load
from ..._validation import require
from ...encoder import Encoder
from ...estimators import RobustNMF
from ._clips import Clip
from ._hearing import frames_over_level
from ._rows import UNSUPERVISED, UNTRAINED

Array = NDArray[Any]

COMPONENTS, LAYERS = 25, 20
FRAMES = 3000
"""Training frames, chosen by chance among those of all mixtures; their number is part of what the penalties mean."""
RANK_PENALTY, OUTLIER_PENALTY = 13.0, 0.4
STEP_SIZE = 0.1
CHOSEN = (
    "Penalties were chosen on the training clips with one of the two singers left out, by the mean NSDR of 11 clips of "
    "the other: 13 and 0.4 give 4.9 dB, the best of 3, 5, 8, 13, 20 by 0.1, 0.2, 0.4, 0.8, the next 4.6. "
    "There the trained encoder has 4.7 dB, with steps of size 0.1 and 0.03 alike: training makes the cost smaller by "
    "1 %, which is not what the voice needs."
)
"""How these numbers were found; by the untrained encoder, Wiener mask, high-pass of 100 Hz."""
WITHOUT_TORCH = (
    "The row of the unsupervised encoder is left out: training needs PyTorch, pip install 'unmingle[train]'. "
    "The same command adds it later."
)


def encoders_for(clips: Sequence[Clip], out: Path, max_steps: int) -> tuple[dict[str, Encoder], str]:
    """Encoders by the names of their rows, those that an earlier call has left or new ones, and what is left out.

    Parameters
    ----------
    clips : sequence of Clip
        To learn from.
    out : path
        Folder for the encoders.
    max_steps : int
        Training steps.
    """
    made = sha256(repr((FRAMES, RANK_PENALTY, OUTLIER_PENALTY, [clip.described() for clip in clips])).encode())
    first = _path(out, "untrained", made.hexdigest())
    made.update(repr((max_steps, STEP_SIZE)).encode())
    second = _path(out, "unsupervised", made.hexdigest())
    if first.exists() and second.exists():
        return {UNTRAINED: load(first), UNSUPERVISED: load(second)}, ""
    frames = training_frames(clips)
    start = load(first) if first.exists() else untrained_encoder(frames)
    start.save(first)
    try:
        trained = unsupervised_encoder(start, frames, max_steps)
    except ImportError:
        return {UNTRAINED: start}, WITHOUT_TORCH
    trained.save(second)
    return {UNTRAINED: start, UNSUPERVISED: trained}, ""


def _path(out: Path, kind: str, digest: str) -> Path:
    """Where an encoder is kept; other settings have other names."""
    return out / f"audio_{kind}_{digest[:8]}.safetensors"


def training_frames(clips: Sequence[Clip]) -> Array:
    """Frames (n, bins) of mixtures, over their running level; the sources are not looked at.

    Parameters
    ----------
    clips : sequence of Clip
        To learn from.
    """
    frames = []
    for clip in clips:
        song = clip.read()
        frames.append(frames_over_level(song.mixture, song.rate))
    heard = np.concatenate(frames)
    heard = heard[heard.any(axis=1)]
    return heard[np.sort(np.random.default_rng(0).permutation(len(heard))[:FRAMES])]


def untrained_encoder(
    frames: Array, rank_penalty: float = RANK_PENALTY, outlier_penalty: float = OUTLIER_PENALTY
) -> Encoder:
    """Steps of projected gradients, cut off after 20, onto spectra U >= 0 that the frames X tell::

        min 1/2 ||X - US - O||^2 + lam_*/2 (||U||^2 + ||S||^2) + lam ||O||_1  over U, S, O >= 0.

    Parameters
    ----------
    frames : array of shape (n, bins)
        From `training_frames`.
    rank_penalty, outlier_penalty : float
        lam_* and lam.
    """  # noqa: D400
    model = RobustNMF(
        COMPONENTS, rank_penalty=rank_penalty, outlier_penalty=outlier_penalty, tol=1e-2, max_iter=200, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frames)
    return Encoder.from_components(
        model.components_, rank_penalty=rank_penalty, outlier_penalty=outlier_penalty, n_layers=LAYERS,
        nonnegative_codes=True, nonnegative_outliers=True,
    )  # fmt: skip


def unsupervised_encoder(start: Encoder, frames: Array, max_steps: int) -> Encoder:
    """The encoder, its layers trained to make the cost of the frames small.

    Parameters
    ----------
    start : Encoder
        From `untrained_encoder`.
    frames : array of shape (n, bins)
        Those that its spectra were learnt from.
    max_steps : int
        Steps, of 64 frames.
    """
    learn = require("unmingle.learn", "train")
    trained: Encoder = learn.train(start, frames, max_steps=max_steps, step_size=STEP_SIZE, random_state=0).encoder
    return trained
