"""The paper's own network for songs: one frame at a time, 25 spectra, 20 tied layers."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import NamedTuple

import numpy as np

from ...._types import Float32Array
from ...._validation import require
from ....core.encoder.encoder import Encoder
from ....core.iterate import Callback
from ....estimators.robust_nmf import RobustNMF
from ..stft import BINS, magnitudes, over_level
from .mixing import Mixer, Mixing
from .stems import RATE, StemPair


@dataclass(frozen=True)
class PlainNetwork:
    """The paper's network and its training; penalties are ours, see `python -m lab audio`.

    Penalties were chosen on training clips of MIR-1K with one of the two singers left out.
    """

    n_components: int = 25
    """Spectra, as in the paper."""
    n_layers: int = 20
    """Tied layers, as in the paper."""
    frames: int = 3000
    """Training frames, chosen by chance among those of all mixtures; what penalties mean depends on their number."""
    rank_penalty: float = 8.0
    """lam_* of frames alone."""
    outlier_penalty: float = 0.2
    """lam of frames alone."""
    source_penalties: tuple[float, float] = (20.0, 0.8)
    """lam_* and lam where training on sources starts from."""
    steps: int = 1500
    """Training steps, of 64 frames."""
    step_size: float = 0.1
    """Of the optimiser."""
    batches: int = 40
    """Batches that frames with known sources are taken from."""


PLAIN = PlainNetwork()
_AS_THEY_ARE = Mixing(
    voice_tone=0.0, music_tone=0.0, music_pitch=0.0, gain=0.0, true_pairs=1.0, shifted_pairs=0.0, silent=0.0
)
"""So small a network learns more from true pairs than from made ones."""


class KnownFrames(NamedTuple):
    """Frames over their level, and what of them is music and voice: Re(X* A) / |X| and Re(X* V) / |X|, likewise."""

    X: Float32Array
    music: Float32Array
    voice: Float32Array


def mixture_frames(songs: Iterable[Float32Array], rate: int = RATE) -> Float32Array:
    """Frames (n, bins) of mixtures, over their running level.

    Parameters
    ----------
    songs : iterable of arrays
        Samples of mixtures.
    rate : int
        Samples a second.
    """
    frames = np.concatenate([over_level(magnitudes(song, rate)) for song in songs])
    frames = frames[frames.any(axis=1)]
    return frames[np.sort(np.random.default_rng(0).permutation(len(frames))[: PLAIN.frames])]


def known_frames(pairs: Sequence[StemPair], *, seed: int = 0) -> KnownFrames:
    """Frames of songs as they are, with their sources.

    Parameters
    ----------
    pairs : sequence of StemPair
        The songs.
    seed : int
        Of what chance decides.
    """
    rfft = require("unmingle.learn.masks", "train").rfft
    mixer = Mixer(pairs, seed=seed, mixing=_AS_THEY_ARE, rfft=rfft)
    found = []
    for number in range(PLAIN.batches):
        songs = mixer.songs(number)
        X, frames = songs.voice + songs.music, songs.frames()
        size = np.maximum(np.abs(X), np.float32(1e-9))
        scale = frames / size**2
        parts = [scale * (X.real * part.real + X.imag * part.imag) for part in (songs.music, songs.voice)]
        found.append([part[:, 1::4].reshape(-1, BINS) for part in (frames, *parts)])
    return KnownFrames(*(np.ascontiguousarray(np.concatenate(parts)) for parts in zip(*found, strict=True)))


def untrained_encoder(
    frames: Float32Array, rank_penalty: float = PLAIN.rank_penalty, outlier_penalty: float = PLAIN.outlier_penalty
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
        PLAIN.n_components,
        rank_penalty=rank_penalty,
        outlier_penalty=outlier_penalty,
        tol=1e-2,
        max_iter=200,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frames)
    return Encoder.from_components(
        model.components_, rank_penalty=rank_penalty, outlier_penalty=outlier_penalty, n_layers=PLAIN.n_layers,
        nonnegative_codes=True, nonnegative_outliers=True,
    )  # fmt: skip


def unsupervised_encoder(
    start: Encoder, frames: Float32Array, max_steps: int = PLAIN.steps, *, callback: Callback | None = None,
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
        start, frames, max_steps=max_steps, step_size=PLAIN.step_size, random_state=seed, callback=callback,
        checkpoint=checkpoint,
    ).encoder  # fmt: skip
    return trained


def supervised_encoder(
    start: Encoder, frames: KnownFrames, max_steps: int = PLAIN.steps, *, callback: Callback | None = None,
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
        max_steps=max_steps, step_size=PLAIN.step_size, random_state=seed, callback=callback, checkpoint=checkpoint,
    ).encoder  # fmt: skip
    return trained
