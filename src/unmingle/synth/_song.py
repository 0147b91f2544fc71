"""A toy song: a band that repeats itself, and a voice above it."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from .._types import AnyArray
from ._band import play_band
from ._voice import Singing, sing

BEATS_IN_A_BAR = 4
_TEMPI = (96.0, 112.0)
_PROGRESSIONS = ((0, 4, 5, 3), (5, 3, 0, 4), (0, 5, 3, 4), (0, 3, 5, 4))
"""Degrees of the scale on which the chords of four bars are built."""
_SCALE = (0, 2, 4, 5, 7, 9, 11)
_PEAK = 0.9
_LEAST_SECONDS, _LEAST_RATE = 4.0, 8000


@dataclass(frozen=True, eq=False)
class Song:
    """A song with its stems: `mixture = voice + music`, float32 of shape (n_samples,).

    Attributes
    ----------
    mixture, voice, music : ndarray of shape (n_samples,)
        The song and its two parts, which have the same energy.
    rate : int
        Samples in a second.
    beat : float
        Seconds from one beat to the next; a bar has four of them.
    pitch : ndarray of shape (n_samples,)
        Hertz that the voice sings at, 0 where it pauses; the whole first bar is such a pause.
    """

    mixture: AnyArray
    voice: AnyArray
    music: AnyArray
    rate: int
    beat: float
    pitch: AnyArray


def song(seconds: float = 8.0, rate: int = 16000, *, random_state: int | Generator | None = None) -> Song:
    """Make a song of drums, bass, chords and a singing voice, voice and music at equal energy (0 dB).

    The music repeats: a chord for each bar, four of them in turn, each note and each stroke of a drum nearly the sound
    it was before. Its chords lie where the voice is. The voice is a pulse of harmonics k of its pitch f,

        v(t) = sum_k a_k(t) cos(2 pi k phi(t)),  phi' = f,  a_k = H(k f) / k,

    where the formants H of its vowels change from note to note, and the pitch slides from note to note and swings
    around it; some notes begin with a hiss. It sings in phrases with pauses between them and is silent in the first
    bar. The cost is O(n) times the number of harmonics, about 30.

    Parameters
    ----------
    seconds : float, default=8
        Length, 4 at least.
    rate : int, default=16000
        Samples in a second, 8000 at least.
    random_state : int, Generator or None, default=None
        Seed; the same seed gives the same song. None: another one each time.

    Returns
    -------
    Song
        The mixture and its parts, with their truth.

    Examples
    --------
    >>> made = song(5.0, random_state=0)
    >>> made.mixture.shape, made.mixture.dtype, bool(np.all(made.mixture == made.voice + made.music))
    ((80000,), dtype('float32'), True)
    >>> bool(made.voice[: int(4 * made.beat * made.rate)].any())
    False
    """
    if not _LEAST_SECONDS <= seconds < np.inf:
        raise ValueError(f"seconds must be a number of at least {_LEAST_SECONDS:g}; got {seconds!r}.")
    if not _LEAST_RATE <= rate < np.inf or rate != int(rate):
        raise ValueError(f"rate must be a whole number of at least {_LEAST_RATE}; got {rate!r}.")
    rng = np.random.default_rng(random_state)
    n, rate = round(seconds * rate), int(rate)
    beat = 60.0 / rng.uniform(*_TEMPI)
    n_bars = int(np.ceil(seconds / (BEATS_IN_A_BAR * beat)))
    key, degrees = int(rng.integers(-4, 5)), _PROGRESSIONS[rng.integers(len(_PROGRESSIONS))]
    chords = [_triad(key, degrees[bar % len(degrees)]) for bar in range(n_bars)]
    music = play_band(n, rate, beat, chords, rng)
    singing = sing(n, rate, beat, chords, [key + step for step in _SCALE], rng)
    return _mixed(singing, music, rate, beat)


def _triad(key: int, degree: int) -> list[int]:
    """Pitch classes, in semitones above C, of a chord of the scale; the first one is its root."""
    return [(key + _SCALE[(degree + third) % 7]) % 12 for third in (0, 2, 4)]


def _mixed(singing: Singing, music: AnyArray, rate: int, beat: float) -> Song:
    """Both parts at equal energy, faded out at the end, and as loud as the mixture allows."""
    fade = np.minimum(np.arange(len(music), 0, -1) / (0.05 * rate), 1.0)
    voice, music = (part * fade / np.linalg.norm(part * fade) for part in (singing.sound, music))
    loudness = _PEAK / np.abs(voice + music).max()
    voice, music = ((loudness * part).astype(np.float32) for part in (voice, music))
    return Song(voice + music, voice, music, rate, beat, singing.pitch.astype(np.float32))
