"""The paper's own network for songs: one frame at a time, 25 spectra, 20 tied layers."""

import warnings
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import NamedTuple

import numpy as np

from ...._types import AnyArray
from ...._validation import require
from ....core.encoder.encoder import Encoder
from ....core.iterate import Callback
from ....estimators.robust_nmf import RobustNMF
from ..stft import BINS, magnitudes, over_level
from ._mixing import Mixer, Mixing
from ._stems import RATE, StemPair

COMPONENTS, LAYERS = 25, 20
FRAMES = 3000
"""Training frames, chosen by chance among those of all mixtures; their number is part of what the penalties mean."""
RANK_PENALTY, OUTLIER_PENALTY = 8.0, 0.2
"""Of frames alone. Chosen on training clips of MIR-1K with one singer left out, see `python -m lab audio`."""
SOURCE_PENALTIES = (20.0, 0.8)
"""Where training on sources starts from; chosen likewise."""
STEPS, STEP_SIZE = 1500, 0.1
_BATCHES = 40
"""Batches that frames with known sources are taken from."""
_AS_THEY_ARE = Mixing(
    voice_tone=0.0, music_tone=0.0, music_pitch=0.0, gain=0.0, true_pairs=1.0, shifted_pairs=0.0, silent=0.0
)
"""So small a network learns more from true pairs than from made ones."""


class KnownFrames(NamedTuple):
    """Frames over their level, and what of them is music and voice: Re(X* A) / |X| and Re(X* V) / |X|, likewise."""

    X: AnyArray
    music: AnyArray
    voice: AnyArray


def mixture_frames(songs: Iterable[AnyArray], rate: int = RATE) -> AnyArray:
    """Frames (n, bins) of mixtures, over their running level.

    Parameters
    ----------
    songs : iterable of arrays
        Samples of mixtures.
    rate : int
        Samples a second.
    """
    heard = np.concatenate([over_level(magnitudes(song, rate)) for song in songs])
    heard = heard[heard.any(axis=1)]
    return heard[np.sort(np.random.default_rng(0).permutation(len(heard))[:FRAMES])]


def known_frames(pairs: Sequence[StemPair], *, seed: int = 0) -> KnownFrames:
    """Frames of songs as they are, with their sources.

    Parameters
    ----------
    pairs : sequence of StemPair
        The songs.
    seed : int
        Of what chance decides.
    """
    learn = require("unmingle.learn", "train")
    mixer = Mixer(pairs, seed=seed, mixing=_AS_THEY_ARE, rfft=learn.rfft)
    found = []
    for number in range(_BATCHES):
        songs = mixer.songs(number)
        X, frames = songs.voice + songs.music, songs.frames()
        size = np.maximum(np.abs(X), np.float32(1e-9))
        scale = frames / size**2
        parts = [scale * (X.real * part.real + X.imag * part.imag) for part in (songs.music, songs.voice)]
        found.append([part[:, 1::4].reshape(-1, BINS) for part in (frames, *parts)])
    return KnownFrames(*(np.ascontiguousarray(np.concatenate(parts)) for parts in zip(*found, strict=True)))


def untrained_encoder(
    frames: AnyArray, rank_penalty: float = RANK_PENALTY, outlier_penalty: float = OUTLIER_PENALTY
) -> Encoder:
    """Steps of projected gradients, cut off after 20, onto spectra U >= 0 that the frames X tell::

        min 1/2 ||X - US - O||^2 + lam_*/2 (||U||^2 + ||S||^2) + lam ||O||_1  over U, S, O >= 0.

    Parameters
    ----------
    frames : array of shape (n, bins)
        From `mixture_frames`.
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


def unsupervised_encoder(
    start: Encoder, frames: AnyArray, max_steps: int = STEPS, *, callback: Callback | None = None,
    checkpoint: str | PathLike[str] | None = None, seed: int = 0,
) -> Encoder:  # fmt: skip
    """The encoder, its layers trained to make the cost of the frames small.

    Parameters
    ----------
    start : Encoder
        From `untrained_encoder`.
    frames : array of shape (n, bins)
        Those that its spectra were learnt from.
    max_steps : int
        Steps, of 64 frames.
    callback, checkpoint
        As in `unmingle.learn.train`.
    seed : int
        Of the order of the frames.
    """
    learn = require("unmingle.learn", "train")
    trained: Encoder = learn.train(
        start, frames, max_steps=max_steps, step_size=STEP_SIZE, random_state=seed, callback=callback,
        checkpoint=checkpoint,
    ).encoder  # fmt: skip
    return trained


def supervised_encoder(
    start: Encoder, frames: KnownFrames, max_steps: int = STEPS, *, callback: Callback | None = None,
    checkpoint: str | PathLike[str] | None = None, seed: int = 0,
) -> Encoder:  # fmt: skip
    """The encoder, trained so that the masked mixture comes near to the voice.

    Parameters
    ----------
    start : Encoder
        From `untrained_encoder`.
    frames : KnownFrames
        With their sources.
    max_steps : int
        Steps, of 64 frames.
    callback, checkpoint
        As in `unmingle.learn.train`.
    seed : int
        Of the order of the frames.
    """
    learn = require("unmingle.learn", "train")
    trained: Encoder = learn.train(
        start, frames.X, loss="masked", targets=(frames.music, frames.voice), update_dictionary=True,
        max_steps=max_steps, step_size=STEP_SIZE, random_state=seed, callback=callback, checkpoint=checkpoint,
    ).encoder  # fmt: skip
    return trained
