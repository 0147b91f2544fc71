"""Separate samples that are in memory."""

from math import inf
from typing import Any

import numpy as np

from ..._types import Array
from ..._validation import check_positive
from ._engine import Engine, Stems
from .method import Method
from .methods import as_method
from .stft import as_samples

BLOCK = 2**17
"""Samples that are worked on together."""


def split(
    samples: Any, rate: float, *, method: str | Method | None = None, high_pass: float | str | None = "auto",
    low_latency: bool = False, no_voice: tuple[float, float] | None = None,
) -> Stems:  # fmt: skip
    """Split the samples of a song into voice and music.

    Parameters
    ----------
    samples : array of shape (n,) or (n, channels)
        The sound.
    rate : float
        Samples a second, 2000 at least.
    method : str or Method, optional
        How to tell voice from music: "voice", "phone", "pcp", "proximal", "nmf" or "adapt", a method with settings of
        its own, or a model such as an `unmingle.Encoder`. By default "voice", and "adapt" with ``no_voice``.
    high_pass : float, "auto" or None
        Hertz below which there is no voice; "auto" for what helps the method, None for no limit.
    low_latency : bool
        Whether to work as a stream of low latency does; otherwise spectra are sharper.
    no_voice : (float, float), optional
        Start and end, in seconds, of a passage without voice that the method "adapt" learns the music from.

    Returns
    -------
    Stems
        ``voice`` and ``music``, each of the shape of the samples; they add up to them.

    Examples
    --------
    >>> from unmingle import synth
    >>> song = synth.song(4.0, random_state=0)
    >>> stems = split(song.mixture, song.rate, method="adapt")
    >>> bool(np.allclose(stems.voice + stems.music, song.mixture, atol=1e-6))
    True
    """
    samples, flat = as_samples(samples)
    chosen = as_method(method, no_voice=no_voice is not None)
    engine = Engine.of(chosen, rate, samples.shape[1], samples.dtype, high_pass, low_latency=low_latency)
    if no_voice is not None:
        engine = engine.knowing(engine.start(), between(samples, rate, *no_voice))
    state, found = engine.start(), []
    for begin in range(0, len(samples), BLOCK):
        state, stems = engine.step(state, samples[begin : begin + BLOCK])
        found.append(stems)
    found.append(engine.finish(state))
    voice, music = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Stems(voice[:, 0], music[:, 0]) if flat else Stems(voice, music)


def between(samples: Array, rate: float, start: float, stop: float) -> Array:
    """The samples from one second to another."""
    check_passage(start, stop, len(samples) / rate)
    return samples[round(start * rate) : round(stop * rate)]


def check_passage(start: float, stop: float, seconds: float) -> None:
    """Refuse a passage that is not within a song of this length."""
    for value in (start, stop):
        check_positive(value, "no_voice", zero=True)
    if not start < stop <= seconds:
        length = "" if seconds == inf else f" within the {seconds:.2f} s of the song"
        raise ValueError(f"no_voice must be a start and a later end{length}, got {start:g} and {stop:g}.")
