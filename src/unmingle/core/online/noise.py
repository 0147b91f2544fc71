"""How noisy a stream is, and how quickly to forget its past."""

from dataclasses import dataclass, replace
from math import sqrt
from typing import Annotated, Self

import numpy as np

from ..._rules import Number
from ..._types import Array, Float64Array
from ..decomposition.result import Decomposition
from ..linalg.units import Units
from ..penalties import NORMAL_MAD, from_noise, noise_floor, nonnegative_from_noise


@dataclass(frozen=True)
class Drift:
    """How a stream shows that it drifts, and how the window and the noise level follow it."""

    fading: float = 2.0
    """In a stream of age t the weight of a sample of age a is about (1 - a/t)^2, and all weights add up to t/3."""
    n_averaged: int = 100
    """The noise level is averaged over this number of samples, and the window halves in it when the stream drifts."""
    growth: float = 1.25
    """The stream drifts where its noise level is this much higher than the best of late."""
    n_relaxed: int = 100
    """A best noise level that is not reached any more is forgotten after this number of ages."""
    n_entries: int = 5000
    """The median deviation is taken over about this number of entries."""


DRIFT = Drift()
AMOUNT = Number(0.0, 1e300)
"""What numbers are that measure a size, in a file."""


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


@dataclass(frozen=True)
class NoiseLevel:
    """Noise level of a stream, and its age, which grows with the samples and falls when the stream drifts.

    The components of a stream that drifts are always behind, and the further, the longer the window: their lag shows as
    noise. So the window grows with the stream for as long as the noise level stays near its best.
    """

    level: Annotated[float, AMOUNT] = 0.0
    floor: Annotated[float, AMOUNT] = 0.0
    """The level is at least this."""
    least: Annotated[float, AMOUNT] = 0.0
    """The best level of late."""
    age: Annotated[float, Number(0.0, 2.0**53)] = 0.0

    @classmethod
    def of_start(cls, n: int, level: float, floor: float) -> Self:
        """That of n samples, all of the same weight."""
        level = max(level, floor)
        return cls(level, floor, level, (1 + DRIFT.fading) * n)

    def to_units(self, units: Units) -> Self:
        """The same noise in other units."""
        level, floor, least = map(units.to_units, (self.level, self.floor, self.least))
        return replace(self, level=level, floor=floor, least=least)

    def update(self, deviations: Array, freedom: float, shortest: int) -> Self:
        """Noise level and age after some more samples, by their absolute deviations from their projections.

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
        some = deviations[:, :: 1 + deviations.size // DRIFT.n_entries]
        known = some[~np.isnan(some)]
        if known.size == 0:
            return self
        seen = max(NORMAL_MAD * float(np.median(known)) / sqrt(freedom), self.floor)
        level = self.level * (seen / self.level) ** (n / (n + DRIFT.n_averaged))
        least = min(level, self.least * (1 + n / (DRIFT.n_relaxed * self.age)))
        if level > DRIFT.growth * least:
            shrunk = self.age * 2.0 ** (-n / DRIFT.n_averaged)
            age = max(shrunk, min(self.age + n, (1 + DRIFT.fading) * shortest))
        else:
            age = self.age + n
        return replace(self, level=level, least=least, age=age)

    def forgetting(self, n: int) -> Float64Array:
        """Factors of the next n samples: age / (age + 2), so that the window is a third of the age."""
        ages = self.age + np.arange(n)
        return ages / (ages + DRIFT.fading)
