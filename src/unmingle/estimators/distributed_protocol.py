"""How estimators and `unmingle.distributed` work together.

An estimator asks for passes over all rows, wherever they lie, and goes on from what these have found.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from .._types import Array
from ..core.decomposition.result import Decomposition
from ..core.linalg.units import Units
from ..core.online.statistics import Balanced


class PassRequest(NamedTuple):
    """What an estimator asks of the passes; None leaves the choice to the data."""

    rows: Array
    """(n, m): those of the start, checked."""
    n_components: int | None
    rank_penalty: float | None
    outlier_penalty: Any
    random_state: Any
    forgetting: float = 1.0
    """What every row multiplies the weight of all earlier ones by."""
    nonnegative: bool = False
    """Whether components, codes and outliers have no negative entries."""


@dataclass(frozen=True, eq=False)
class PassResult:
    """Where the passes ended: (4) for all rows. Fields are in ``units``, properties in the units of the data."""

    balanced: Balanced
    """The components that are best for the codes of the last pass, with their sums."""
    lam_star: float
    lam: Array
    units: Units
    noise: tuple[float, float]
    """Noise level and its floor."""
    cost: float
    """The value of (4)."""
    energy: float
    """Sum of squares of the rows freed of outliers."""
    n_rows: int
    n_iter: int
    measure: float
    """The stationarity of (4) before the last dictionary step."""
    converged: bool

    @property
    def components(self) -> Array:
        """(q, m): of falling norm; orthogonal, or nonnegative."""
        return self.units.factors_from_units(self.balanced.components)

    @property
    def singular_values(self) -> Array:
        """(q,): of the low-rank part of all rows."""
        return self.units.from_units(self.balanced.singular_values)

    @property
    def explained_variance_ratio(self) -> Array:
        """(q,): share of each component in the energy."""
        return self.balanced.singular_values**2 / self.energy

    @property
    def rank_penalty(self) -> float:
        """lam_*."""
        return self.units.from_units(self.lam_star)

    @property
    def outlier_penalty(self) -> Any:
        """Lam, one number if it is the same for all features."""
        lam = float(self.lam[0]) if np.ptp(self.lam) == 0 else self.lam.astype(np.float64)
        return self.units.from_units(lam)

    @property
    def objective(self) -> float:
        """The value of (4)."""
        return self.units.cost_from_units(self.cost)


@dataclass(frozen=True, eq=False)
class Projector:
    """A fitted model with nothing but what projections need, light enough to be sent to where the rows lie."""

    n_components: int
    n_features: int
    nonnegative: bool
    """Whether samples must have no negative entries."""
    project: Callable[[Array], tuple[Array, Array]]
    """Codes (n, q) and relative gaps (n,) of samples."""
    assemble: Callable[[Array, Array, Array], Decomposition]
    """The parts of samples whose codes and gaps are known."""


@runtime_checkable
class Distributable(Protocol):
    """An estimator that `unmingle.distributed` can fit and apply."""

    def begin_passes(self, rows: Any) -> PassRequest:
        """Check parameters and the rows of the start before any work, and say what to look for in all rows.

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Some of the samples; NaN means missing.
        """

    def finish_passes(self, result: PassResult, rows: Array) -> None:
        """Become fitted by what passes over all rows found.

        Parameters
        ----------
        result : PassResult
            Components, penalties, sums and the rest.
        rows : array of shape (n_samples, n_features)
            The rows of the start, as `begin_passes` gave them.
        """

    def projector(self) -> Projector:
        """What takes samples apart as the fitted estimator does."""
