"""Which precision a solver works in: float32 while its steps are long, that of the data when they are not.

Steps in float32 take half the time. What they lead to is judged in the precision of the data, see `criteria`.
"""

from dataclasses import dataclass

import numpy as np

from ..._types import Array
from ..linalg.low_rank import LowRank


@dataclass(frozen=True)
class _Float32Trust:
    """What float32 is trusted with."""

    least_entries: int = 2**17
    """Shorter numbers pay from this many entries on."""
    finest_threshold: float = 1e-3
    """A threshold below this share of the largest entry would drown in the rounding of what it is applied to."""
    shortest_step: float = 64
    """A step must be longer than this many rounding errors of the low-rank part."""


_TRUST = _Float32Trust()


class MixedPrecisionData:
    """X and lam as a solver works on them; thresholds of the entries of X are lam times ``lam_factor``.

    Attributes
    ----------
    X, lam : array
        In float32 where float64 was given, until `refine` goes over to float64.
    """

    X: Array
    lam: Array

    def __init__(self, X: Array, lam: Array, lam_factor: float = 1.0) -> None:
        self.X, self.lam, self._given = X, lam, (X, lam)
        if X.dtype == np.float64 and X.size >= _TRUST.least_entries:
            self._finest = _TRUST.finest_threshold * float(max(np.nanmax(X), -np.nanmin(X))) / float(lam.min())
            if lam_factor > self._finest:
                self.X, self.lam = X.astype(np.float32), lam.astype(np.float32)

    def refine(self, step: float, low_rank: LowRank, lam_factor: float = 1.0) -> bool:
        """Go over to the precision of the data, for good, if the last step was too short for float32; whether it was.

        Parameters
        ----------
        step : float
            Frobenius norm of the last change of the low-rank part.
        low_rank : LowRank
            The low-rank part.
        lam_factor : float
            That of the next step.
        """
        if self.X is self._given[0]:
            return False
        rounding = float(np.finfo(self.X.dtype).eps) * float(np.linalg.norm(low_rank.values))
        if step > _TRUST.shortest_step * rounding and lam_factor > self._finest:
            return False
        self.X, self.lam = self._given
        return True
