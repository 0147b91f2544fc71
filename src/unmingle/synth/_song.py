"""A toy song: a band that repeats itself, and a voice above it."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from .._types import Float32Array, Float64Array
from ._band import play_band
from ._voice import Singing, sing


@dataclass(frozen=True)
class _Style:
    """What all songs have in common: their bars, their tempo, and which chords follow each other."""

    beats_in_a_bar: int = 4
    """Beats of each bar."""
    slowest: float = 96.0
    """Beats in a minute, at least."""
    fastest: float = 112.0
    """Beats in a minute, at most."""
    scale: tuple[int, ...] = (0, 2, 4, 5, 7, 9, 11)
    """Semitones of the major scale above its key."""
    progressions: tuple[tuple[int, ...], ...] = ((0, 4, 5, 3), (5, 3, 0, 4), (0, 5, 3, 4), (0, 3, 5, 4))
    """Degrees of the scale on which the chords of four bars are built."""
    peak: float = 0.9
    """The largest sample of the mixture."""


@dataclass(frozen=True)
class _Smallest:
    """The shortest and the coarsest song that is made."""

    seconds: float = 4.0
    """Nobody sings in the first bar, which takes up to 2.5 of them."""
    rate: int = 8000
    """Samples in a second."""


_STYLE, _SMALLEST = _Style(), _Smallest()


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

    mixture: Float32Array
    voice: Float32Array
    music: Float32Array
    rate: int
    beat: float
    pitch: Float32Array


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
    if not _SMALLEST.seconds <= seconds < np.inf:
        raise ValueError(f"seconds must be a number of at least {_SMALLEST.seconds:g}; got {seconds!r}.")
    if not _SMALLEST.rate <= rate < np.inf or rate != int(rate):
        raise ValueError(f"rate must be a whole number of at least {_SMALLEST.rate}; got {rate!r}.")
    rng = np.random.default_rng(random_state)
    n, rate = round(seconds * rate), int(rate)
    beat = 60.0 / rng.uniform(_STYLE.slowest, _STYLE.fastest)
    n_bars = int(np.ceil(seconds / (_STYLE.beats_in_a_bar * beat)))
    key, degrees = int(rng.integers(-4, 5)), _STYLE.progressions[rng.integers(len(_STYLE.progressions))]
    chords = [_triad(key, degrees[bar % len(degrees)]) for bar in range(n_bars)]
    music = play_band(n, rate, beat, chords, rng)
    singing = sing(n, rate, beat, chords, [key + step for step in _STYLE.scale], rng)
    return _mix(singing, music, rate, beat)


def _triad(key: int, degree: int) -> list[int]:
    """Pitch classes, in semitones above C, of a chord of the scale; the first one is its root."""
    return [(key + _STYLE.scale[(degree + third) % 7]) % 12 for third in (0, 2, 4)]


def _mix(singing: Singing, music: Float64Array, rate: int, beat: float) -> Song:
    """Both parts at equal energy, faded out at the end, and as loud as the mixture allows."""
    fade = np.minimum(np.arange(len(music), 0, -1) / (0.05 * rate), 1.0)
    parts = [part * fade / np.linalg.norm(part * fade) for part in (singing.sound, music)]
    loudness = _STYLE.peak / np.abs(parts[0] + parts[1]).max()
    voice, accompaniment = ((loudness * part).astype(np.float32) for part in parts)
    return Song(voice + accompaniment, voice, accompaniment, rate, beat, singing.pitch.astype(np.float32))
