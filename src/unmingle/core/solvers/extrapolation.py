"""Extrapolation of nonnegative iterates."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from ..._types import Array

_KEPT = 5
"""Sweeps before the last that Anderson's extrapolation looks at."""
_NEAR = 3e-3
"""It takes over from momentum when a sweep moves by this share of all."""
_FLOOR = 1e-14
"""Added to its system, as a share of its trace."""


class Extrapolation:
    """Where to sweep from next, given from where the last sweeps came to where. Everything stays at zero or above.

    Momentum, Nesterov's: G + (age - 1) / next age (G - previous G), the last sweep having come to G. Anderson's: with
    F = G - Y the move of the sweep from Y, and c the least squares of F on its differences to the moves before,
    G - sum of c_i (G - G_i). It needs the Y and G of the last sweeps, 12 copies of what it extrapolates.
    """

    def __init__(self) -> None:
        self._age = 1.0
        self._starts: list[Array] = []
        self._ends: list[Array] = []

    def restart(self) -> None:
        """Forget momentum and all but the last sweep."""
        self._age = 1.0
        del self._starts[:-1], self._ends[:-1]

    def ahead(self, start: Sequence[Array], end: Sequence[Array], last: Sequence[Array]) -> list[Array]:
        """From where to go on after a sweep from ``start`` to ``end``, the point that came before being ``last``."""
        here, there = (np.concatenate([factor.ravel() for factor in point]) for point in (start, end))
        self._starts, self._ends = [*self._starts[-_KEPT:], here], [*self._ends[-_KEPT:], there]
        far = np.linalg.norm(there - here) > _NEAR * np.linalg.norm(there)
        if far or len(self._ends) < 3:
            next_age = (1 + sqrt(1 + 4 * self._age**2)) / 2
            momentum = end[0].dtype.type((self._age - 1) / next_age)
            self._age = next_age
            return [np.maximum(new + momentum * (new - old), 0) for new, old in zip(end, last, strict=True)]
        self._age = 1.0
        flat, parts, place = np.maximum(self._mixed(), 0), [], 0
        for factor in end:
            parts.append(flat[place : place + factor.size].reshape(factor.shape))
            place += factor.size
        return parts

    def _mixed(self) -> Array:
        """Anderson's point."""
        move, end = self._ends[-1] - self._starts[-1], self._ends[-1]
        before = zip(self._starts[:-1], self._ends[:-1], strict=True)
        changes = np.array([move - (there - here) for here, there in before], np.float64)
        system = changes @ changes.T
        system.flat[:: len(system) + 1] += _FLOOR * np.trace(system) + np.finfo(np.float64).tiny
        shares = np.linalg.solve(system, changes @ move).astype(end.dtype)
        mixed = end.copy()
        for share, there in zip(shares, self._ends[:-1], strict=True):
            mixed -= share * (end - there)
        return mixed
