"""Drums, bass and chords that repeat with the bars."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from .._types import Float64Array

_DRUMS = ((0.6, (0.0, 2.0, 2.5)), (0.5, (1.0, 3.0)), (0.25, tuple(0.5 * np.arange(8))))
"""Kick, snare and hat: strength, and beats of a bar."""
_LATE = 0.004
"""Seconds by which strokes and notes come early or late; the standard deviation."""
_UNEVEN = 0.15
"""Share by which their strengths differ; the standard deviation."""


class Part(NamedTuple):
    """What an instrument plays in each bar."""

    lowest: int
    """MIDI number of the octave's lowest note."""
    notes: tuple[tuple[float, float], ...]
    """Beats, and their lengths."""
    strength: float
    decay: float
    n_harmonics: int


_BASS = Part(33, ((0.0, 1.0), (1.5, 0.5), (2.0, 1.0), (3.5, 0.5)), 0.35, 2.0, 8)
_CHORDS = Part(52, ((0.0, 1.5), (1.5, 1.0), (2.5, 1.5)), 0.3, 1.0, 16)
_ARPEGGIO = Part(62, tuple((0.5 * k, 0.75) for k in range(8)), 0.45, 1.5, 12)


def hertz(midi: Float64Array | float) -> Float64Array:
    """Frequencies of MIDI numbers; 69 is 440 Hz."""
    return np.asarray(440.0 * 2.0 ** ((np.asarray(midi) - 69.0) / 12.0))


def play_band(n: int, rate: int, beat: float, chords: Sequence[Sequence[int]], rng: Generator) -> Float64Array:
    """Play a chord for each bar, given as pitch classes with the root first."""
    music = np.zeros(n)

    def play(sound: Float64Array, beats: Sequence[float], strength: float) -> None:
        times = beat * np.array(beats) + _LATE * rng.standard_normal(len(beats))
        strengths = strength * (1.0 + _UNEVEN * rng.standard_normal(len(beats)))
        for start, loud in zip(np.maximum(np.rint(rate * times), 0).astype(int), strengths, strict=True):
            end = min(start + sound.size, n)
            music[start:end] += loud * sound[: max(end - start, 0)]

    for sound, (strength, hits) in zip(_drums(rate, rng), _DRUMS, strict=True):
        play(sound, [4.0 * bar + hit for bar in range(len(chords)) for hit in hits], strength)
    for (part, midi, length), beats in _score(chords, rng).items():
        play(_note(part, midi, beat * length, rate), beats, part.strength)
    return music


def _score(chords: Sequence[Sequence[int]], rng: Generator) -> dict[tuple[Part, int, float], list[float]]:
    """The beats of each note: the bass has the roots, the arpeggio one note of the chord after the other, by chance."""
    score: dict[tuple[Part, int, float], list[float]] = defaultdict(list)
    for bar, chord in enumerate(chords):
        for part in (_BASS, _CHORDS, _ARPEGGIO):
            for start, length in part.notes:
                pitches = {_BASS: chord[:1], _CHORDS: chord}.get(part) or [rng.choice(chord)]
                for pitch in pitches:
                    midi = part.lowest + (int(pitch) - part.lowest) % 12
                    score[part, midi, length].append(4.0 * bar + start)
    return score


def _drums(rate: int, rng: Generator) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Kick, snare and hat, one stroke each."""
    t = np.arange(int(0.35 * rate)) / rate
    sweep = 45.0 * t + 90.0 * 0.03 * (1.0 - np.exp(-t / 0.03))  # from 135 to 45 Hz
    kick = np.sin(2.0 * np.pi * sweep) * np.exp(-t / 0.1)
    hiss = rng.standard_normal((2, t.size + 2))
    snare = 0.5 * np.diff(hiss[0], axis=0)[1:] * np.exp(-t / 0.06) + np.sin(2.0 * np.pi * 190.0 * t) * np.exp(-t / 0.05)
    hat = 0.4 * np.diff(hiss[1], n=2) * np.exp(-t / 0.025)
    return kick, snare, hat


def _note(part: Part, midi: int, seconds: float, rate: int) -> Float64Array:
    """A string, sum_k exp(-(decay + k / 2) t) sin(2 pi k f t) / k, a polynomial in exp((2 pi i f - 1 / 2) t)."""
    t = np.arange(int(seconds * rate)) / rate
    frequency = float(hertz(midi))
    turning = np.exp((2j * np.pi * frequency - 0.5) * t)
    tones = np.zeros(t.size, dtype=complex)
    for k in range(min(part.n_harmonics, int(0.45 * rate / frequency)), 0, -1):
        tones = turning * (tones + 1.0 / k)
    ramp = np.clip(np.minimum(t / 0.004, (seconds - t) / 0.03), 0.0, 1.0)
    return np.asarray(np.exp(-part.decay * t) * tones.imag * ramp)
