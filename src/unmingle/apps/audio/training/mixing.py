"""New songs made of known ones, as many as training takes: other voices, other music, other levels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...._types import Float32Array
from ....kernels.resampling import read_at_speed
from ..networks import Front
from ..stft import BINS, Frames, Spectra, over_level
from .stems import RATE, StemPair

_FRAMES = Frames.of(RATE)
_TONES = 7
"""Waves on a mel scale that an equaliser is made of."""


@dataclass(frozen=True)
class Mixing:
    """How songs are made; all shifts are in semitones and both ways, all gains in dB."""

    sequences: int = 16
    frames: int = 128
    voice_pitch: float = 9.0
    music_pitch: float = 4.0
    voice_tone: float = 9.0
    """Standard deviation of the waves of the equaliser: of two singers it makes many."""
    music_tone: float = 5.0
    gain: float = 5.0
    true_pairs: float = 0.25
    """Share of voices with their own music, at the same time."""
    shifted_pairs: float = 0.15
    """Share of voices with their own music, at another time."""
    other_music: float = 0.25
    """Share of further accompaniments, where there are any, among the music that others' voices get."""
    doubled: float = 0.2
    """Share of these that get two pieces of music at once."""
    silent: float = 0.03
    """Share of songs in which nobody sings."""
    balanced: bool = False
    """Whether all singers come equally often, not all songs."""


class SongBatch(NamedTuple):
    """Songs that were made: spectra (sequences, frames, bins)."""

    voice: Spectra
    music: Spectra

    def frames(self) -> Float32Array:
        """Magnitudes of the mixtures over their running levels."""
        return np.stack([over_level(song) for song in np.abs(self.voice + self.music)])

    def arrays(self, front: Front) -> tuple[Float32Array, Float32Array, Float32Array, Float32Array, Float32Array]:
        """What `unmingle.learn.MaskBatch` holds."""
        X = self.voice + self.music
        x = np.stack([front.features(song) for song in self.frames()], axis=1)
        power = front.sums(_squares(X)).swapaxes(0, 1)
        common = front.sums(X.real * self.voice.real + X.imag * self.voice.imag).swapaxes(0, 1)
        voice, music = (_squares(part).sum((1, 2)) for part in self)
        total = np.maximum(voice + music, np.float32(1e-9))
        return x, np.ascontiguousarray(power), np.ascontiguousarray(common), voice, total


class Mixer:
    """Makes batches of songs, each by its number alone: with the same seed the same ones.

    A voice is read at another speed, which changes its pitch, and goes through an equaliser, a sum of cosines on a mel
    scale that leaves its energy as it is: as if somebody else sang. So does the music, less. Either gets a gain.
    """

    def __init__(
        self,
        pairs: Sequence[StemPair],
        music: Sequence[Float32Array] = (),
        *,
        seed: int = 0,
        mixing: Mixing | None = None,
        rfft: Callable[[Float32Array], Spectra] = np.fft.rfft,
    ) -> None:
        if not pairs:
            raise ValueError("There must be at least one song with voice and music to learn from.")
        self._pairs, self._music, self._seed, self._how = pairs, music, seed, mixing or Mixing()
        groups: dict[str, list[StemPair]] = {}
        for pair in pairs:
            groups.setdefault(pair.source.singer, []).append(pair)
        self._singers = list(groups.values())
        self._rfft = rfft
        hertz = np.arange(BINS) * (RATE / 2 / (BINS - 1))
        mel = np.log1p(hertz / 700)
        waves = np.arange(1, _TONES + 1)[:, None]
        self._tones = (np.cos(np.pi * waves * mel / mel[-1]) / np.sqrt(waves)).astype(np.float32)
        self._window = _FRAMES.windows()[0].astype(np.float32)

    def songs(self, number: int) -> SongBatch:
        """The batch of a number."""
        how, rng = self._how, np.random.default_rng((self._seed, number))
        length = (how.frames - 1) * _FRAMES.hop + _FRAMES.window
        voices, musics = np.empty((2, how.sequences, length), np.float32)
        for voice, music in zip(voices, musics, strict=True):
            self._song(rng, voice, music)
        return SongBatch(
            self._spectra(rng, voices, how.voice_tone, how.gain), self._spectra(rng, musics, how.music_tone, how.gain)
        )

    def _song(self, rng: np.random.Generator, voice: Float32Array, music: Float32Array) -> None:
        how, chance = self._how, rng.random()
        pair = _any(rng, _any(rng, self._singers) if self._how.balanced else self._pairs)
        if chance < how.true_pairs + how.shifted_pairs:
            ratio, start = _ratio(rng, how.music_pitch), rng.random()
            other = start if chance < how.true_pairs else rng.random()
            read_at_speed(pair.voice, start, ratio, voice)
            read_at_speed(pair.music, other, ratio, music)
        else:
            read_at_speed(pair.voice, rng.random(), _ratio(rng, how.voice_pitch), voice)
            self._any_music(rng, music)
            if rng.random() < how.doubled:
                second = np.empty_like(music)
                self._any_music(rng, second)
                music += second
                music *= np.float32(np.sqrt(0.5))
        if rng.random() < how.silent:
            voice *= np.float32(0.003)

    def _any_music(self, rng: np.random.Generator, out: Float32Array) -> None:
        if self._music and rng.random() < self._how.other_music:
            source = _any(rng, self._music)
        else:
            source = _any(rng, self._pairs).music
        read_at_speed(source, rng.random(), _ratio(rng, self._how.music_pitch), out)

    def _spectra(self, rng: np.random.Generator, samples: Float32Array, tone: float, gain: float) -> Spectra:
        """Spectra through an equaliser and with a gain, both by chance."""
        windows = np.lib.stride_tricks.sliding_window_view(samples, _FRAMES.window, axis=1)[:, :: _FRAMES.hop]
        spectra = self._rfft(windows * self._window)
        waves = rng.normal(0, tone, (len(samples), _TONES)).astype(np.float32)
        response = 10 ** (waves @ self._tones / 20)
        power = _squares(spectra).sum(1)
        kept = power.sum(1) / np.maximum((power * response**2).sum(1), np.float32(1e-20))
        louder = 10 ** (rng.uniform(-gain, gain, len(samples)) / 20)
        response *= (np.sqrt(kept) * louder).astype(np.float32)[:, None]
        spectra *= response[:, None]
        return np.asarray(spectra)


def _any(rng: np.random.Generator, some: Sequence[Any]) -> Any:
    return some[int(rng.integers(len(some)))]


def _ratio(rng: np.random.Generator, semitones: float) -> float:
    return float(2 ** (rng.uniform(-semitones, semitones) / 12))


def _squares(spectra: Spectra) -> Float32Array:
    return np.asarray(spectra.real**2 + spectra.imag**2)
