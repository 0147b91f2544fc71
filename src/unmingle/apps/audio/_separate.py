"""Separate a sound that is in memory."""

from math import inf
from typing import Any

import numpy as np

from ..._types import AnyArray
from ..._validation import check_positive
from ._engine import Engine, Stems
from ._level import Level
from ._maskers import AtOnce, ByPassages
from ._method import Method
from ._methods import as_method, high_pass_of
from ._samples import as_samples
from ._stft import Frames

_BLOCK = 2**17
"""Samples that are worked on together."""


def separate(
    samples: Any, rate: float, *, method: str | Method = "voice", high_pass: float | str | None = "auto",
    low_latency: bool = False, no_voice: tuple[float, float] | None = None,
) -> Stems:  # fmt: skip
    """Separate a song into voice and music.

    Parameters
    ----------
    samples : array of shape (n,) or (n, channels)
        The sound.
    rate : float
        Samples a second, 2000 at least.
    method : str or Method
        How to tell voice from music: a name in `NAMES`, or a method with settings of its own; it begins anew.
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
    >>> stems = separate(song.mixture, song.rate, method="adapt")
    >>> bool(np.allclose(stems.voice + stems.music, song.mixture, atol=1e-6))
    True
    """
    samples, flat = as_samples(samples)
    method = as_method(method)
    method.reset()
    engine = engine_for(method, rate, samples.shape[1], samples.dtype, high_pass, low_latency)
    if no_voice is not None:
        method.learn(engine.frames_without_voice(between(samples, rate, *no_voice)))
    found = [engine.push(samples[i : i + _BLOCK]) for i in range(0, len(samples), _BLOCK)]
    found.append(engine.finish())
    voice, music = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Stems(voice[:, 0], music[:, 0]) if flat else Stems(voice, music)


def engine_for(
    method: Method, rate: float, channels: int, dtype: Any, high_pass: float | str | None, low_latency: bool = False
) -> Engine:
    """An engine with the masker that suits the method."""
    frames = Frames.of(rate, low_latency=low_latency)
    masker = AtOnce(method, Level()) if method.streams else ByPassages(method)
    return Engine(frames, channels, dtype, masker, high_pass_of(method, high_pass))


def between(samples: AnyArray, rate: float, start: float, stop: float) -> AnyArray:
    """The samples from one second to another."""
    check_passage(start, stop, len(samples) / rate)
    return samples[round(start * rate) : round(stop * rate)]


def check_passage(start: float, stop: float, seconds: float) -> None:
    """Refuse a passage that is not within a song of so many seconds."""
    for value in (start, stop):
        check_positive(value, "no_voice", zero=True)
    if not start < stop <= seconds:
        length = "" if seconds == inf else f" within the {seconds:.2f} s of the song"
        raise ValueError(f"no_voice must be a start and a later end{length}, got {start:g} and {stop:g}.")
