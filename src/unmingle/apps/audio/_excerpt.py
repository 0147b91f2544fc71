"""The passage of a song that is worth hearing: where the voice is strongest."""

from collections import deque
from typing import NamedTuple

import numpy as np

from ..._types import Array

LENGTH = 20.0
"""Seconds of an excerpt."""
_PIECES = 40
"""Pieces of an excerpt, by which its place is told."""


class Excerpt(NamedTuple):
    """A passage of a song with its stems, each (n, channels)."""

    start: float
    """Seconds from the beginning of the song."""
    rate: int
    voice: Array
    music: Array
    whole: bool
    """Whether it is the whole song."""

    @property
    def seconds(self) -> float:
        """Its length."""
        return len(self.voice) / self.rate


class LoudestExcerpt:
    """Finds the 20 seconds with most energy of the voice, to half a second, in stems that come block by block.

    Memory is that of two excerpts, however long the song is.
    """

    def __init__(self, rate: int, channels: int) -> None:
        self._rate, self._size = rate, max(1, round(rate * LENGTH / _PIECES))
        self._waiting = np.zeros((2, 0, channels), np.float32)
        self._last: deque[tuple[float, Array]] = deque(maxlen=_PIECES)
        self._best: list[Array] = []
        self._most, self._first, self._taken = -1.0, 0, 0

    def add(self, voice: Array, music: Array) -> None:
        """Take in the next samples of both stems."""
        waiting = np.concatenate([self._waiting, np.stack([voice, music])], axis=1)
        while waiting.shape[1] >= self._size:
            self._take(waiting[:, : self._size].copy())
            waiting = waiting[:, self._size :]
        self._waiting = waiting.copy()

    def finish(self) -> Excerpt:
        """The excerpt; the song ends here."""
        if self._waiting.shape[1] or not self._taken:
            self._take(self._waiting)
        if not self._best:  # the song is shorter than an excerpt
            self._best = [piece for _, piece in self._last]
        voice, music = np.concatenate(self._best, axis=1)
        return Excerpt(self._first * self._size / self._rate, self._rate, voice, music, self._taken <= _PIECES)

    def _take(self, piece: Array) -> None:
        self._taken += 1
        self._last.append((energy(piece[0]), piece))
        if len(self._last) == _PIECES:
            total = sum(power for power, _ in self._last)
            if total > self._most:
                self._most, self._first = total, self._taken - _PIECES
                self._best = [kept for _, kept in self._last]


def energy(samples: Array) -> float:
    """Sum of squares of samples (n, channels), in double precision and without a copy."""
    return float(np.einsum("ij,ij->", samples, samples, dtype=np.float64))
