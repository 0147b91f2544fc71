"""The way of a sound through analysis, mask and synthesis, whatever method makes the mask."""

from typing import Any, NamedTuple

import numpy as np

from ..._types import AnyArray
from ._level import Level
from ._maskers import Masker
from ._masks import extended
from ._samples import as_samples
from ._stft import Analysis, Frames, Synthesis

_TOGETHER = 64
"""Frames of a passage that are made sound together."""


class Stems(NamedTuple):
    """Voice and music; they add up to the sound that was given."""

    voice: AnyArray
    music: AnyArray


def magnitudes(samples: Any, rate: float, *, low_latency: bool = False) -> AnyArray:
    """What a method sees of a whole sound: magnitudes (frames, bins) up to 8 kHz, not divided by a level.

    Parameters
    ----------
    samples : array of shape (n,) or (n, channels)
        The sound.
    rate : float
        Samples a second.
    low_latency : bool
        Whether frames are those of a stream of low latency.

    Returns
    -------
    float32 array of shape (frames, bins)
    """
    sound, _ = as_samples(samples)
    frames, channels = Frames.of(rate, low_latency=low_latency), sound.shape[1]
    whole = np.concatenate([sound, _silence_behind(frames, channels, sound.dtype)])
    return _magnitudes(Analysis(frames, channels, sound.dtype).push(whole), frames)


def _magnitudes(spectra: AnyArray, frames: Frames) -> AnyArray:
    """Root of the mean power of the channels, in the bins looked at."""
    seen = spectra[..., : frames.looked_at]
    power = seen.real**2
    power += seen.imag**2
    power = power[:, 0] if power.shape[1] == 1 else power.mean(axis=1)
    return np.sqrt(power, dtype=np.float32, casting="same_kind")


def _silence_behind(frames: Frames, channels: int, dtype: Any) -> AnyArray:
    """What completes the last frames of a sound."""
    return np.zeros((frames.span + frames.hop, channels), dtype)


class Engine:
    """Separates samples (n, channels) that come block by block; stems follow as soon as they are known.

    All channels get the same mask, from the root of their mean power in each bin. Bins above 8 kHz follow those below.
    The voice is what the mask lets through; the music is the rest, so that both add up to the input.
    """

    def __init__(self, frames: Frames, channels: int, dtype: Any, masker: Masker, high_pass: float | None) -> None:
        self.frames, self.masker = frames, masker
        self._voiceless = 0 if high_pass is None else int(np.searchsorted(frames.frequencies(), high_pass))
        """Bins, the lowest, without voice."""
        self.analysis, self.synthesis = Analysis(frames, channels, dtype), Synthesis(frames, channels, dtype)
        self.sound = np.zeros((0, channels), dtype)
        self._again = Analysis(frames, channels, dtype) if masker.waits else None
        self._unmasked = self.sound
        """Samples of frames whose masks are to come: their spectra, made again then, would take four times the room."""
        self.early = frames.span - frames.hop
        """Samples of the synthesis that lie before the first one of the sound."""

    def push(self, block: AnyArray) -> Stems:
        """Take in samples and return those stems that are known by now."""
        self.sound = np.concatenate([self.sound, block])
        spectra = self.analysis.push(block)
        if self._again is not None:
            self._unmasked = np.concatenate([self._unmasked, block])
        if not len(spectra):
            return Stems(self.sound[:0], self.sound[:0])
        mask = self.masker.push(_magnitudes(spectra, self.frames))
        return self._stems(self._voice(spectra, mask)) if self._again is None else self._emit(mask)

    def finish(self) -> Stems:
        """Stems of all that is left; the sound ends here."""
        left = len(self.sound)
        channels = self.sound.shape[1]
        before = self.push(_silence_behind(self.frames, channels, self.sound.dtype))
        after = self._emit(self.masker.finish())
        return Stems(*(np.concatenate(pair)[:left] for pair in zip(before, after, strict=True)))

    def frames_without_voice(self, samples: AnyArray) -> AnyArray:
        """Magnitudes of a passage over its running level, for a method to learn from; the engine does not change."""
        held = self.analysis.held
        magnitudes = _magnitudes(self.analysis.push(samples), self.frames)
        self.analysis.held = held
        if not magnitudes.any():
            raise ValueError("The passage without voice is silent or too short: there is nothing to learn from.")
        return magnitudes / Level().push(magnitudes).astype(magnitudes.dtype)

    def _emit(self, mask: AnyArray) -> Stems:
        """Apply the mask to the frames that have waited longest."""
        voices, again = [self.sound[:0]], self._again
        if again is not None:
            for i in range(0, len(mask), _TOGETHER):
                part = mask[i : i + _TOGETHER]
                samples, self._unmasked = np.split(self._unmasked, [len(part) * self.frames.hop])
                voices.append(self._voice(again.push(samples), part))
        return self._stems(np.concatenate(voices))

    def _voice(self, spectra: AnyArray, mask: AnyArray) -> AnyArray:
        """The voice that these frames complete."""
        mask[:, : self._voiceless] = 0
        voice = self.synthesis.push(spectra * extended(mask, self.frames.bins)[:, None, :])
        skipped = min(self.early, len(voice))
        self.early -= skipped
        return voice[skipped:]

    def _stems(self, voice: AnyArray) -> Stems:
        """Voice and music of the samples that have waited longest."""
        voice = voice[: len(self.sound)]
        sound, self.sound = self.sound[: len(voice)], self.sound[len(voice) :]
        return Stems(voice, sound - voice)
