"""How noisy a stream is, and how quickly to forget its past."""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..penalties import NORMAL_MAD

__all__ = ["Pace"]

Array = NDArray[np.floating[Any]]

_FADE = 2.0
"""In a stream of age t the weight of a sample of age a is about (1 - a/t)^2, and all weights add up to t/3."""
_MEMORY = 100
"""Samples over which the noise level is averaged, and in which the window halves when the stream drifts."""
_DRIFT = 1.25
"""Growth of the noise level, above its best, that is taken for drift."""
_ENTRIES = 5000
"""The median deviation is taken over about so many entries."""
_RELAXED = 100
"""Ages after which a best noise level that is not reached any more is forgotten."""


@dataclass
class Pace:
    """Noise level of a stream, and its age, which grows with the samples and falls when the stream drifts.

    The components of a stream that drifts are always behind, and the further, the longer the window: their lag shows as
    noise. So the window grows with the stream for as long as the noise level stays near its best.
    """

    noise: float = 0.0
    floor: float = 0.0
    least_noise: float = 0.0
    age: float = 0.0

    def restart(self, n: int, noise: float, floor: float) -> None:
        """Begin with n samples, all of the same weight."""
        self.floor = floor
        self.noise = self.least_noise = max(noise, floor)
        self.age = (1 + _FADE) * n

    def rescale(self, factor: float) -> None:
        """Change the units of the noise."""
        self.noise, self.floor, self.least_noise = (
            factor * level for level in (self.noise, self.floor, self.least_noise)
        )

    def hear(self, deviations: Array, freedom: float, shortest: int) -> None:
        """Take in the absolute deviations of some samples from their projections.

        Parameters
        ----------
        deviations : array of shape (n, p)
            Of the samples, at some features; NaN where missing.
        freedom : float
            Share of the noise that a projection leaves.
        shortest : int
            The shortest window, in samples.
        """
        n = len(deviations)
        some = deviations[:, :: 1 + deviations.size // _ENTRIES]
        known = some[~np.isnan(some)]
        if known.size == 0:
            return
        level = max(NORMAL_MAD * float(np.median(known)) / sqrt(freedom), self.floor)
        self.noise *= (level / self.noise) ** (n / (n + _MEMORY))
        self.least_noise = min(self.noise, self.least_noise * (1 + n / (_RELAXED * self.age)))
        if self.noise > _DRIFT * self.least_noise:
            self.age = max(self.age * 2.0 ** (-n / _MEMORY), min(self.age + n, (1 + _FADE) * shortest))
        else:
            self.age += n

    def forgetting(self, n: int) -> NDArray[np.float64]:
        """Factors of the next n samples: age / (age + 2), so that the window is a third of the age."""
        ages = self.age + np.arange(n)
        return ages / (ages + _FADE)
