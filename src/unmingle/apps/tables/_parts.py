"""A table of numbers, taken apart in its own units."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..._types import AnyArray, BoolArray
from ...core.decomposition.decompose_matrix import decompose
from ...core.decomposition.result import Decomposition
from ...core.iterate import Callback
from ...core.penalties import robust_scale

_LARGEST_RATIO = 1e8
"""No number is taken for larger than this many times the median size of the numbers of its column that are not 0."""


@dataclass(frozen=True, eq=False)
class TableParts:
    """A table and its parts, in the units of the table; `part` holds the figures of the solver."""

    values: AnyArray
    part: Decomposition
    stationarity: float | None = None
    """Of nonnegative parts, see `unmingle.RobustNMF`; their ``part.gap`` is the largest of the samples' own."""
    false_share: float = 0.03
    """Share of false ones among the flags."""

    @property
    def low_rank(self) -> AnyArray:
        """What is expected of every cell."""
        return np.asarray(self.part.low_rank)

    @property
    def outliers(self) -> AnyArray:
        """What the solver takes off the table; 0 in most cells."""
        excess = np.nan_to_num(self.values - _clipped(self.values))
        outliers = np.asarray(self.part.outliers)
        return outliers + excess if excess.any() else outliers

    @cached_property
    def flags(self) -> BoolArray:
        """Which cells stand out; see `Decomposition.flags`."""
        return np.asarray(self.part.flags(self.false_share))

    @cached_property
    def significance(self) -> AnyArray:
        """Deviation of each cell in standard deviations of its column; see `Decomposition.significance`."""
        return np.asarray(self.part.significance)

    def strongest(self, count: int | None = None) -> list[tuple[int, int]]:
        """Row and column of the cells that stand out, at most ``count``, the strongest first."""
        places = np.argwhere(self.flags)
        order = np.argsort(-np.abs(self.significance[self.flags]), kind="stable")[:count]
        return [(int(row), int(column)) for row, column in places[order]]

    def figures(self) -> dict[str, Any]:
        """The results in numbers."""
        part, values = self.part, self.values
        return {
            "rows": values.shape[0],
            "columns": values.shape[1],
            "missing": int(np.count_nonzero(np.isnan(values))),
            "flagged": int(np.count_nonzero(self.flags)),
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


def decompose_table(
    values: AnyArray,
    *,
    scale: str | None = "columns",
    debias: bool = True,
    nonnegative: bool = False,
    false_share: float = 0.03,
    **options: Any,
) -> TableParts:
    """Decompose a table, all columns weighed alike unless the scale says otherwise, and find the cells that stand out.

    Parameters
    ----------
    values : array of shape (n, m)
        The table, NaN where a cell is missing.
    scale : "columns" or None
        Whether each column is divided by its own scale, for columns in different units; see `unmingle.decompose`.
    debias : bool
        Whether the low-rank part is fitted again without penalties, so that what is expected of a cell is not too
        small.
    nonnegative : bool
        Whether the regular part is to be a sum of nonnegative parts, and outliers only add: `unmingle.RobustNMF`. All
        numbers must be at least 0.
    false_share : float
        Expected share of false ones among the cells that are said to stand out.
    **options
        Those of `unmingle.decompose`, or of `unmingle.RobustNMF` and its ``fit``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = rng.standard_normal((50, 1)) * [1.0, 1000.0, 0.01] + rng.standard_normal((50, 3)) * [0.1, 100.0, 0.001]
    >>> values[7, 2] = 5.0
    >>> decompose_table(values, random_state=0).strongest(1)
    [(7, 2)]
    """
    if nonnegative:
        part, stationarity = _nonnegative(_clipped(values), debias, scale=scale, **options)
        return TableParts(values, part, stationarity, false_share)
    part = decompose(_clipped(values), scale=scale, debias=debias, **options)
    return TableParts(values, part, false_share=false_share)


def _clipped(values: AnyArray) -> AnyArray:
    """The table, with numbers beyond all measure held where they are outliers but do not hide the rest."""
    sizes = np.where((values == 0) | np.isnan(values), np.nan, np.abs(values))
    known = ~np.isnan(sizes).all(axis=0)
    limits = np.full(values.shape[1], np.inf)
    limits[known] = _LARGEST_RATIO * np.nanmedian(sizes[:, known], axis=0)
    return values if not (np.nan_to_num(sizes) > limits).any() else np.clip(values, -limits, limits)


def _nonnegative(
    values: AnyArray, debias: bool, callback: Callback | None = None, **options: Any
) -> tuple[Decomposition, float]:
    """The parts, with the figures of the fit and the largest gap of the codes; and how stationary they are."""
    from ...estimators.robust_nmf import RobustNMF

    model = RobustNMF(debias=True, **options).fit(values, callback=callback)
    part = model.decompose(values, debias=debias)
    fitted = replace(part, objective=model.objective_, n_iter=model.n_iter_, converged=model.converged_)
    return fitted, model.stationarity_
