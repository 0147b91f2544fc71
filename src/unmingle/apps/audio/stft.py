"""From samples to the magnitudes of frames, and from spectra back to samples."""

from dataclasses import dataclass
from math import sqrt
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..._rules import Count, Number
from ..._types import Array, Float32Array, Float64Array
from ..._validation import as_floats, check_positive

Spectra = NDArray[np.complexfloating[Any, Any]]
"""complex64 or complex128."""

RATES = Number(2000, 768_000)
"""Samples a second that make sense."""
CHANNELS = Count(1, 64)
LOUDEST = 1e12
"""Samples at most: powers of their spectra are far from the largest float32."""
LOUDEST_BIN = 1e6 * LOUDEST
"""Magnitudes of spectra at most, and sums of a few frames."""
BINS = 513
"""Bins of a spectrum that a method looks at: those of 1024 samples at 16 kHz, up to 8 kHz."""
_HOP, _RATE = 256, 16000
"""Samples from one frame to the next at this rate; others have as long a time."""
_SLOWEST = 0.01
"""Weight of a frame in the running level, at least: the level follows within a hundred frames, 1.6 s."""


def as_samples(samples: Any, name: str = "samples") -> tuple[Array, bool]:
    """Samples as (n, channels), and whether they came without channels."""
    samples = as_floats(samples, name)
    flat = samples.ndim == 1
    if flat:
        samples = samples[:, None]
    if samples.ndim != 2 or not 1 <= samples.shape[1] <= CHANNELS.high:
        raise ValueError(
            f"{name} must have shape (n,) or (n, channels) with at most {CHANNELS.high} channels, "
            f"got {samples.shape}; transpose it if channels come first."
        )
    peak = np.max(np.abs(samples), initial=0.0)
    if not peak <= LOUDEST:  # NaN is not, either
        if not np.isfinite(peak):
            place = int(np.argmin(np.isfinite(samples).all(axis=1)))
            raise ValueError(f"{name} must be finite, got {samples[place].tolist()} at sample {place}.")
        raise ValueError(f"{name} must be at most {LOUDEST:g}, got {peak:g}; sound is within [-1, 1].")
    return samples, flat


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
        if not RATES.fits(rate, {}):
            raise ValueError(f"rate must be {RATES.low:d} to {RATES.high:d} samples a second, got {rate:g}.")
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

    def frequencies(self) -> Array:
        """Of the bins, in Hertz."""
        return np.arange(self.bins) * (self.rate / self.window)

    def windows(self) -> tuple[Float64Array, Float64Array]:
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


def _hann(length: int) -> Float64Array:
    """Hann's window, of which shifts by half the length add up to one."""
    return np.sin(np.pi * np.arange(length) / length) ** 2


@dataclass(frozen=True, eq=False)
class Transform:
    """Frames of sound to spectra and back; it keeps no sound itself.

    Spectra are found in float64: the transform of one frame and of many at once round differently, which a method that
    learns from frames would amplify.
    """

    frames: Frames
    channels: int
    dtype: np.dtype[Any]
    """Of the samples."""
    analysis: Array
    """The window before the transform."""
    synthesis: Array
    """The last ``span`` samples of the window after the inverse; all others are zero."""

    @classmethod
    def of(cls, frames: Frames, channels: int, dtype: DTypeLike) -> "Transform":
        """The transform of sound with a number of channels."""
        analysis, synthesis = frames.windows()
        kind = np.dtype(dtype)
        return cls(frames, channels, kind, analysis.astype(kind), synthesis[-frames.span :].astype(kind))

    def silence(self, count: int) -> Array:
        """A number of samples of silence."""
        return np.zeros((count, self.channels), self.dtype)

    def silence_before(self) -> Array:
        """What the first frame sees before the first sample."""
        return self.silence(self.frames.window - self.frames.hop)

    def silence_behind(self) -> Array:
        """What completes the last frames of a sound."""
        return self.silence(self.frames.span + self.frames.hop)

    def count(self, signal: Array) -> int:
        """Complete frames in a signal that begins with the first of them."""
        return max(0, (len(signal) - self.frames.window) // self.frames.hop + 1)

    def analyse(self, signal: Array, count: int) -> Spectra:
        """Spectra (count, channels, bins) of the first frames of a signal (n, channels)."""
        window, hop = self.frames.window, self.frames.hop
        kind = np.result_type(self.dtype, np.complex64)
        if not count:
            return np.empty((0, self.channels, self.frames.bins), kind)
        cut = np.empty((count, self.channels, window))
        for i, frame in enumerate(cut):
            np.multiply(signal[i * hop : i * hop + window].T, self.analysis, out=frame)
        return np.fft.rfft(cut).astype(kind)

    def synthesise(self, tail: Array, spectra: Spectra) -> tuple[Array, Array]:
        """Add frames to the tail of those before: the tail they leave, and the samples that they complete.

        Each frame completes ``hop`` samples; they are late by ``span - hop`` samples.
        """
        frames, count = self.frames, len(spectra)
        if not count:
            return tail, np.empty((0, self.channels), self.dtype)
        parts = np.fft.irfft(spectra, n=frames.window)[..., -frames.span :] * self.synthesis
        overlaps = frames.span // frames.hop
        sound = np.zeros((count + overlaps - 1, self.channels, frames.hop), self.dtype)
        for i in range(overlaps):
            sound[i : i + count] += parts[..., i * frames.hop : (i + 1) * frames.hop]
        samples = sound.transpose(0, 2, 1).reshape(-1, self.channels)
        samples[: len(tail)] += tail
        return samples[count * frames.hop :], samples[: count * frames.hop]


def magnitudes(samples: Any, rate: float, *, low_latency: bool = False) -> Float32Array:
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
    transform = Transform.of(Frames.of(rate, low_latency=low_latency), sound.shape[1], sound.dtype)
    whole = np.concatenate([transform.silence_before(), sound, transform.silence_behind()])
    return magnitudes_of(transform.analyse(whole, transform.count(whole)), transform.frames)


def magnitudes_of(spectra: Spectra, frames: Frames) -> Float32Array:
    """Root of the mean power of the channels, in the bins looked at."""
    seen = spectra[..., : frames.looked_at]
    power = seen.real**2
    power += seen.imag**2
    power = power[:, 0] if power.shape[1] == 1 else power.mean(axis=1)
    return np.sqrt(power, dtype=np.float32, casting="same_kind")


@dataclass(frozen=True)
class Level:
    """How loud it is: root of the mean power of the frames so far, older ones fading; silent frames do not count.

    power <- power + max(1 / age, 0.01) (mean of squares of the frame - power)
    """

    power: Annotated[float, Number(0.0, LOUDEST_BIN**2)] = 0.0
    age: Annotated[int, Count()] = 0

    def step(self, magnitudes: Array) -> tuple["Level", Float64Array]:
        """The level after these frames, and at each of them, that frame included, as a column; 1 before any sound."""
        squares = np.einsum("ij,ij->i", magnitudes, magnitudes, dtype=np.float64) / magnitudes.shape[1]
        levels = np.empty((len(squares), 1))
        power, age = self.power, self.age
        for i, square in enumerate(squares.tolist()):
            if square > 0:
                age += 1
                power += max(1 / age, _SLOWEST) * (square - power)
            levels[i] = sqrt(power) or 1.0
        return Level(power, age), levels


def over_level(magnitudes: Array) -> Array:
    """Magnitudes of a sound from its beginning on, over their running level."""
    return magnitudes / Level().step(magnitudes)[1].astype(magnitudes.dtype)
