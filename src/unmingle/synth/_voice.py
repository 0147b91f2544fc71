"""A voice that sings vowels: a pulse of harmonics through formants."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from .._types import BoolArray, Float64Array, IndexArray
from ._band import hertz
from ._chance import wander


@dataclass(frozen=True)
class _Tune:
    """What melodies are made of: notes in phrases of two bars, with a pause at the end of each."""

    lowest: int = 57
    """MIDI number of the lowest note: A of 220 Hz."""
    highest: int = 74
    """MIDI number of the highest note: D of 587 Hz."""
    lengths: tuple[float, ...] = (0.5, 0.5, 0.5, 1.0, 1.0, 1.5, 2.0)
    """Beats of a note; each is drawn as often as it stands here."""
    phrase: float = 8.0
    """Beats of a phrase together with the pause at its end."""
    pauses: tuple[float, ...] = (1.0, 1.5, 2.0)
    """Beats of that pause, one of which is drawn."""


@dataclass(frozen=True)
class _Rendering:
    """How finely the voice is computed, and how long its hiss is."""

    highest_harmonic: float = 8000.0
    """Hertz above which there are no harmonics."""
    frames_per_second: int = 200
    """Pitch, loudness and formants are known this often; between them run straight lines."""
    frames_at_once: int = 64
    """Frames whose harmonics are added up together, rather than those of the whole song."""
    hiss_seconds: float = 0.09
    """Length of the hiss that some notes begin with."""


_TUNE, _RENDERING = _Tune(), _Rendering()
_VOWELS = np.array(
    [
        [800.0, 1150.0, 2900.0, 3900.0],
        [400.0, 2000.0, 2800.0, 3600.0],
        [350.0, 2400.0, 3000.0, 3700.0],
        [450.0, 800.0, 2830.0, 3800.0],
        [325.0, 700.0, 2700.0, 3800.0],
    ]
)
"""Formants of a, e, i, o and u, in hertz."""
_WIDTHS = np.array([90.0, 110.0, 160.0, 200.0])
"""Hertz between the two places at which a formant has half of its power."""
_GAINS = np.array([1.0, 0.6, 0.4, 0.3])
"""Strengths of the formants, from the lowest to the highest."""


class Singing(NamedTuple):
    """What a voice sang."""

    sound: Float64Array
    pitch: Float64Array
    """Hertz of each sample, 0 where the voice is silent."""


class Melody(NamedTuple):
    """Notes one after the other."""

    starts: Float64Array
    ends: Float64Array
    """Seconds."""
    pitches: Float64Array
    """MIDI numbers."""
    opens: BoolArray
    """Whether a note is the first of its phrase."""
    closes: BoolArray
    """Whether it is the last one."""


def sing(
    n: int, rate: int, beat: float, chords: Sequence[Sequence[int]], scale: Sequence[int], rng: Generator
) -> Singing:
    """Sing a melody over the chords of bars, silent in the first one."""
    melody = _melody(beat, chords, scale, rng)
    hop = rate // _RENDERING.frames_per_second
    frames = hop * np.arange(-(-n // hop) + 1) / rate
    here = np.maximum(np.searchsorted(melody.starts, frames, side="right") - 1, 0)
    loudness = _loudness(frames, here, melody)
    pitch = hertz(_intonation(frames, here, melody, rng))
    formants = _smooth(_VOWELS[rng.integers(len(_VOWELS), size=melody.starts.size)][here], 4.0)
    sound = _harmonics(pitch, loudness, formants, hop, rate, n)
    hissing = rng.random(melody.starts.size) < 0.4
    sound += _hiss(melody.starts[hissing], n, rate, rng)
    sung = _upsample(loudness, hop, n) > 0
    return Singing(sound, np.where(sung, _upsample(pitch, hop, n), 0.0))


def _melody(beat: float, chords: Sequence[Sequence[int]], scale: Sequence[int], rng: Generator) -> Melody:
    """Steps along the scale, in phrases of two bars; what begins on a beat is likely a note of the chord."""
    allowed = np.array(
        [midi for midi in range(_TUNE.lowest, _TUNE.highest + 1) if (midi - scale[0]) % 12 in _steps(scale)]
    )
    at, last = allowed.size // 2, 4.0 * len(chords)
    rows: list[list[float]] = []
    for phrase in np.arange(4.0, last, _TUNE.phrase):
        time, end = phrase, min(phrase + _TUNE.phrase - rng.choice(_TUNE.pauses), last)
        first = len(rows)
        while time < end - 0.25:
            length = min(rng.choice(_TUNE.lengths), end - time)
            at = int(np.clip(at + rng.choice((-2, -1, -1, 0, 1, 1, 2)), 0, allowed.size - 1))
            chord = chords[int(time // 4)]
            if time % 1.0 == 0 and rng.random() < 0.7:
                of_chord = np.flatnonzero(np.isin(allowed % 12, chord))
                at = int(of_chord[np.argmin(np.abs(of_chord - at))])
            rows.append([beat * time, beat * (time + length), allowed[at], 0.0, 0.0])
            time += length
        rows[first][3] = rows[-1][4] = 1.0
    starts, ends, pitches, opens, closes = np.array(rows).T
    return Melody(starts, ends, pitches, opens > 0, closes > 0)


def _steps(scale: Sequence[int]) -> set[int]:
    return {(step - scale[0]) % 12 for step in scale}


def _loudness(frames: Float64Array, here: IndexArray, melody: Melody) -> Float64Array:
    """Swell of each note; zero in pauses, and a dip only where one note follows another."""
    since, left = frames - melody.starts[here], melody.ends[here] - frames
    rise = np.clip(since / 0.06, 0.0, 1.0)
    fall = np.clip(left / 0.08, 0.0, 1.0)
    rise = np.where(melody.opens[here], rise, 0.5 + 0.5 * rise)
    fall = np.where(melody.closes[here], fall, 0.5 + 0.5 * fall)
    begun = since > frames[1]  # lines to the first value that is not 0 start in the note
    return np.where(begun & (left > 0), rise * fall, 0.0)


def _intonation(frames: Float64Array, here: IndexArray, melody: Melody, rng: Generator) -> Float64Array:
    """MIDI numbers that slide from note to note, swing once the note stands, and drift a little."""
    since = frames - melody.starts[here]
    vibrato = 0.35 * np.clip((since - 0.15) / 0.3, 0.0, 1.0) * np.sin(2.0 * np.pi * 5.6 * frames)
    drift = 0.08 * wander(rng, frames.size, 20.0)[:, 0]
    return _smooth(melody.pitches[here], 5.0) + vibrato + drift


def _smooth(values: Float64Array, n_frames: float) -> Float64Array:
    from scipy.ndimage import gaussian_filter1d

    return np.asarray(gaussian_filter1d(values, n_frames, axis=0, mode="nearest"))


def _harmonics(
    pitch: Float64Array, loudness: Float64Array, formants: Float64Array, hop: int, rate: int, n: int
) -> Float64Array:
    """Sum of a_k cos(k phi); cos(k phi) comes from the two cosines before it, some frames at a time."""
    turns = np.cumsum(_upsample(pitch, hop, n)) / rate
    first = np.cos(2.0 * np.pi * np.pad(turns, (0, -n % hop))).reshape(-1, hop)
    amplitudes = _amplitudes(pitch, loudness, formants, rate)
    sound = np.zeros(first.shape)
    for start in range(0, len(first), _RENDERING.frames_at_once):
        rows = slice(start, start + _RENDERING.frames_at_once)
        before, wave = np.ones_like(first[rows]), first[rows]
        for a in amplitudes:
            sound[rows] += _between(a[start : start + _RENDERING.frames_at_once + 1], hop) * wave
            before, wave = wave, 2.0 * first[rows] * wave - before
    return sound.ravel()[:n]


def _amplitudes(pitch: Float64Array, loudness: Float64Array, formants: Float64Array, rate: int) -> Float64Array:
    """Strength of each harmonic in each frame, of shape (harmonics, frames): that of its pulse, and the formants."""
    highest = min(_RENDERING.highest_harmonic, 0.45 * rate)
    k = np.arange(1, int(highest / pitch[loudness > 0].min()) + 1)[:, None]
    f = k * pitch
    heard = 0.03 + sum(
        gain / np.sqrt(1.0 + ((f - formant) / (0.5 * width)) ** 2)
        for gain, width, formant in zip(_GAINS, _WIDTHS, formants.T, strict=True)
    )
    return np.asarray(loudness * np.clip((highest - f) / 200.0, 0.0, 1.0) * heard / k**0.8)


def _hiss(starts: Float64Array, n: int, rate: int, rng: Generator) -> Float64Array:
    """Bursts of high noise, as of s and t, at the beginnings of notes."""
    from scipy.signal import butter, sosfilt

    noise = sosfilt(butter(4, min(3500.0, 0.3 * rate), "high", fs=rate, output="sos"), rng.standard_normal(n))
    burst = np.hanning(int(_RENDERING.hiss_seconds * rate))
    envelope = np.zeros(n + burst.size)
    for start in np.ceil(starts * rate).astype(int):
        if start < n:
            envelope[start : start + burst.size] += burst
    return np.asarray(0.15 * noise * envelope[:n])


def _upsample(values: Float64Array, hop: int, n: int) -> Float64Array:
    """Straight lines between values that are `hop` samples apart."""
    return np.asarray(_between(values, hop).ravel()[:n])


def _between(values: Float64Array, hop: int) -> Float64Array:
    """The same as a row for each step."""
    return np.asarray(values[:-1, None] + np.diff(values)[:, None] * (np.arange(hop) / hop))
