"""A table of numbers, taken apart in its own units."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...decomposition import Decomposition, decompose
from ...iterate import Callback
from ...penalties import robust_scale

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class SeparatedTable:
    """A table and its parts, in the units of the table; `part` holds the figures of the solver."""

    values: Array
    low_rank: Array
    outliers: Array
    part: Decomposition
    stationarity: float | None = None
    """Of nonnegative parts, see `unmingle.RobustNMF`; their ``part.gap`` is the largest of the samples' own."""

    def strongest(self, count: int) -> list[tuple[int, int]]:
        """Row and column of the largest outliers, by the size the solver saw."""
        sizes = np.abs(self.part.outliers)
        places = [divmod(int(place), self.values.shape[1]) for place in np.argsort(sizes, axis=None)[::-1][:count]]
        return [place for place in places if sizes[place] > 0]

    @property
    def card_(self) -> dict[str, Any]:
        """The results in numbers."""
        part, values = self.part, self.values
        return {
            "rows": values.shape[0],
            "columns": values.shape[1],
            "missing": int(np.count_nonzero(np.isnan(values))),
            "rank": part.rank,
            "rank_penalty": float(part.rank_penalty),
            "outlier_penalty": float(part.outlier_penalty),
            "typical_deviation": robust_scale(values - self.low_rank),
            "objective": float(part.objective),
            "gap": float(part.gap),
            **({} if self.stationarity is None else {"stationarity": self.stationarity}),
            "iterations": int(part.n_iter),
            "converged": bool(part.converged),
        }


def separate(
    values: Array, *, standardize: bool = False, nonnegative: bool = False, solver: str | None = None, **options: Any
) -> SeparatedTable:
    """Decompose a table, with all columns weighed alike if wanted: for columns in different units.

    Parameters
    ----------
    values : array of shape (n, m)
        The table, NaN where a cell is missing.
    standardize : bool
        Whether each column is freed of its centre and divided by its spread, and brought back in the end.
    nonnegative : bool
        Whether the regular part is to be a sum of nonnegative parts, and outliers only add: `unmingle.RobustNMF`. All
        numbers must be at least 0, and columns keep their centres.
    solver : {"proximal", "alternating", "pcp"}, optional
        That of `unmingle.decompose`; None for "alternating" with ``n_components`` and "proximal" without. Nonnegative
        parts have but one.
    **options
        Those of `unmingle.decompose`, or of `unmingle.RobustNMF` and its ``fit``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = rng.standard_normal((50, 1)) * [1.0, 1000.0, 0.01] + rng.standard_normal((50, 3)) * [0.1, 100.0, 0.001]
    >>> values[7, 2] = 5.0
    >>> separate(values, standardize=True, random_state=0).strongest(1)
    [(7, 2)]
    """
    centre, scale = centre_and_scale(values) if standardize else (0.0, 1.0)
    if nonnegative:
        if solver is not None:
            raise ValueError(f"Nonnegative parts have but one solver, so none can be chosen; got solver={solver!r}.")
        part, stationarity = _nonnegative(values / scale if standardize else values, **options)
        return SeparatedTable(values, part.low_rank * scale, part.outliers * scale, part, stationarity)
    chosen = solver or ("alternating" if options.get("n_components") else "proximal")
    part = decompose((values - centre) / scale if standardize else values, solver=chosen, **options)
    return SeparatedTable(values, part.low_rank * scale + centre, part.outliers * scale, part)


def _nonnegative(values: Array, callback: Callback | None = None, **options: Any) -> tuple[Decomposition, float]:
    """The parts, with the figures of the fit and the largest gap of the codes; and how stationary they are."""
    from ...estimators import RobustNMF

    model = RobustNMF(**options).fit(values, callback=callback)
    part = model.decompose(values)
    fitted = replace(part, objective=model.objective_, n_iter=model.n_iter_, converged=model.converged_)
    return fitted, model.stationarity_


def centre_and_scale(values: Array) -> tuple[Array, Array]:
    """Centre and scale of each column; columns that are constant or missing have scale 1."""
    centre, spread = _centre_and_spread(values)
    return centre, np.where(spread > 0.0, spread, spread.dtype.type(1.0))


def ratio_of_scales(values: Array) -> float:
    """How many times more the liveliest column varies than the quietest one that varies at all."""
    spread = _centre_and_spread(values)[1]
    return float(spread.max() / spread[spread > 0.0].min()) if spread.any() else 1.0


def _centre_and_spread(values: Array) -> tuple[Array, Array]:
    """The median of each column and the median distance from it or, where that is 0, the mean distance."""
    known = np.where(np.isnan(values).all(axis=0), 0.0, values)
    centre = np.nanmedian(known, axis=0)
    distance = np.abs(known - centre)
    median, mean = np.nanmedian(distance, axis=0), np.nanmean(distance, axis=0)
    return centre, np.where(median > 0.0, median, mean)
