"""How noisy a stream is, and how quickly to forget its past."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from ..._types import Array, Float64Array
from ..decomposition.result import Decomposition
from ..linalg.units import Units
from ..penalties import NORMAL_MAD, from_noise, noise_floor, nonnegative_from_noise

__all__ = ["NoiseTracker", "noise_and_floor"]


_FADE = 2.0
"""In a stream of age t the weight of a sample of age a is about (1 - a/t)^2, and all weights add up to t/3."""
_AVERAGED = 100
"""Samples over which the noise level is averaged, and in which the window halves when the stream drifts."""
_DRIFT = 1.25
"""Growth of the noise level, above its best, that is taken for drift."""
_ENTRIES = 5000
"""The median deviation is taken over about so many entries."""
_RELAXED = 100
"""Ages after which a best noise level that is not reached any more is forgotten."""


def noise_and_floor(
    part: Decomposition, X: Array, *, automatic: bool, nonnegative: bool = False
) -> tuple[float, float]:
    """Noise level of a decomposed matrix, from its automatic penalty or its residual, and the least that it may be."""
    n, m = X.shape
    if automatic:
        of_noise = nonnegative_from_noise if nonnegative else from_noise
        return part.rank_penalty / of_noise(1.0, n, m).rank_penalty, noise_floor(X)
    freedom = max((1 - part.rank / n) * (1 - part.rank / m), 1 / min(n, m))
    return NORMAL_MAD * float(np.nanmedian(np.abs(X - part.low_rank))) / sqrt(freedom), noise_floor(X)


@dataclass
class NoiseTracker:
    """Noise level of a stream, and its age, which grows with the samples and falls when the stream drifts.

    The components of a stream that drifts are always behind, and the further, the longer the window: their lag shows as
    noise. So the window grows with the stream for as long as the noise level stays near its best.
    """

    level: float = 0.0
    floor: float = 0.0
    """The level is at least this."""
    least: float = 0.0
    """The best level of late."""
    age: float = 0.0

    def restart(self, n: int, level: float, floor: float) -> None:
        """Begin with n samples, all of the same weight."""
        self.floor = floor
        self.level = self.least = max(level, floor)
        self.age = (1 + _FADE) * n

    def to_units(self, units: Units) -> None:
        """Measure the noise in other units."""
        self.level, self.floor, self.least = map(units.to_units, (self.level, self.floor, self.least))

    def update(self, deviations: Array, freedom: float, shortest: int) -> None:
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
        self.level *= (level / self.level) ** (n / (n + _AVERAGED))
        self.least = min(self.level, self.least * (1 + n / (_RELAXED * self.age)))
        if self.level > _DRIFT * self.least:
            self.age = max(self.age * 2.0 ** (-n / _AVERAGED), min(self.age + n, (1 + _FADE) * shortest))
        else:
            self.age += n

    def forgetting(self, n: int) -> Float64Array:
        """Factors of the next n samples: age / (age + 2), so that the window is a third of the age."""
        ages = self.age + np.arange(n)
        return ages / (ages + _FADE)
