"""Sound to spectra and back, block by block: windows, frames and overlap-add."""

from typing import Any, NamedTuple

import numpy as np

from ..._types import AnyArray
from ..._validation import check_positive

BINS = 513
"""Bins of a spectrum that a method looks at: those of 1024 samples at 16 kHz, up to 8 kHz."""
_HOP, _RATE = 256, 16000
"""Samples from one frame to the next at this rate; others have as long a time."""
LOWEST, HIGHEST = 2000, 768_000
"""Rates that make sense."""


class Frames(NamedTuple):
    """How sound is cut into frames: all lengths are in samples.

    Frame k covers the samples (k + 1) hop - window, ..., (k + 1) hop - 1; there is silence before the first one. With
    the window a before the transform and s after the inverse, overlapping frames add up to the sound itself::

        sum_k a(t - k hop) s(t - k hop) = 1

    ``s`` is zero but for the last ``span`` samples of a frame, so that no sample waits longer than these.
    """

    rate: float
    hop: int
    window: int
    span: int

    @classmethod
    def of(cls, rate: float, *, low_latency: bool = False) -> "Frames":
        """Frames of 64 ms every 16 ms, to the nearest sample; a span of 64 ms, or of 32 ms with low latency."""
        rate = check_positive(rate, "rate")
        if not LOWEST <= rate <= HIGHEST:
            raise ValueError(f"rate must be {LOWEST} to {HIGHEST} samples a second, got {rate:g}.")
        hop = round(rate * _HOP / _RATE)
        return cls(rate, hop, 4 * hop, (2 if low_latency else 4) * hop)

    @property
    def bins(self) -> int:
        """Number of bins of a spectrum."""
        return self.window // 2 + 1

    @property
    def looked_at(self) -> int:
        """How many of them, the lowest, lie in the band that a method looks at."""
        return min(self.bins, BINS)

    def frequencies(self) -> AnyArray:
        """Of the bins, in Hertz."""
        return np.arange(self.bins) * (self.rate / self.window)

    def windows(self) -> tuple[AnyArray, AnyArray]:
        """``a`` and ``s``.

        Over the whole window both are Hann's, divided by 3/2 in ``s``. With a shorter span ``a`` rises slowly and falls
        fast, the root of Hann's in two halves of different length, and a s is Hann's over the span.
        """
        if self.span == self.window:
            hann = _hann(self.window)
            return hann, hann / 1.5
        fall = self.span // 2
        rise = self.window - fall
        analysis = np.sqrt(np.concatenate([_hann(2 * rise)[:rise], _hann(2 * fall)[fall:]]))
        synthesis = np.zeros(self.window)
        synthesis[-self.span + 1 :] = _hann(self.span)[1:] / analysis[-self.span + 1 :]
        return analysis, synthesis


def _hann(length: int) -> AnyArray:
    """Hann's window, of which shifts by half the length add up to one."""
    return np.sin(np.pi * np.arange(length) / length) ** 2


class Analysis:
    """Spectra of the frames of a sound that comes block by block.

    They are found in float64: the transform of one frame and of many at once round differently, which a method that
    learns from frames would amplify.
    """

    def __init__(self, frames: Frames, channels: int, dtype: Any) -> None:
        self._frames, self._window = frames, frames.windows()[0].astype(dtype)
        self.held = np.zeros((frames.window - frames.hop, channels), dtype)

    def push(self, block: AnyArray) -> AnyArray:
        """Spectra (frames, channels, bins) of the frames that samples (n, channels) complete."""
        window, hop = self._frames.window, self._frames.hop
        signal = np.concatenate([self.held, block])
        count = max(0, (len(signal) - window) // hop + 1)
        self.held = signal[count * hop :]
        if not count:
            return np.empty((0, block.shape[1], self._frames.bins), np.result_type(block.dtype, np.complex64))
        cut = np.empty((count, block.shape[1], window))
        for i, frame in enumerate(cut):
            np.multiply(signal[i * hop : i * hop + window].T, self._window, out=frame)
        return np.fft.rfft(cut).astype(np.result_type(block.dtype, np.complex64))


class Synthesis:
    """Sound from the spectra of its frames: the inverse of `Analysis`, late by ``span - hop`` samples."""

    def __init__(self, frames: Frames, channels: int, dtype: Any) -> None:
        self._frames, self._window = frames, frames.windows()[1][-frames.span :].astype(dtype)
        self.tail = np.zeros((frames.span - frames.hop, channels), dtype)

    def push(self, spectra: AnyArray) -> AnyArray:
        """Samples (n, channels) that these frames complete, ``hop`` for each."""
        frames, count = self._frames, len(spectra)
        channels = self.tail.shape[1]
        if not count:
            return np.empty((0, channels), self.tail.dtype)
        parts = np.fft.irfft(spectra, n=frames.window)[..., -frames.span :] * self._window
        overlaps = frames.span // frames.hop
        sound = np.zeros((count + overlaps - 1, channels, frames.hop), self.tail.dtype)
        for i in range(overlaps):
            sound[i : i + count] += parts[..., i * frames.hop : (i + 1) * frames.hop]
        samples = sound.transpose(0, 2, 1).reshape(-1, channels)
        samples[: len(self.tail)] += self.tail
        self.tail = samples[count * frames.hop :]
        return samples[: count * frames.hop]
