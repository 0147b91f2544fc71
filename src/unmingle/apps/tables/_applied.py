"""A table by a model of another one: every row taken apart on its own, and scored."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._types import AnyArray, BoolArray
from ...core.cells.columns import column_scales
from ...core.decomposition.result import Decomposition
from ...core.encoder.encoder import Encoder
from ._parts import TableParts
from .table import framed

FAR = 5.0
"""A cell stands out from this many standard deviations on, where a model does not know the noise of single cells."""
_MIN_ROWS = 20
"""At least this many rows tell how far cells of a column usually are from what is expected of them."""


@dataclass(frozen=True, eq=False)
class AppliedParts(TableParts):
    """A table by a model of another one."""

    scores: AnyArray | None = None
    """(n,): `score_samples` of the model: larger for more normal rows. None for a plain encoder."""
    strange: BoolArray | None = None
    """(n,): Rows that are outliers as a whole; None where the model does not say."""
    tested: bool = True
    """Whether the model knows the noise of single cells; else flags are cells beyond `FAR`."""

    @cached_property
    def flags(self) -> BoolArray:
        """Which cells stand out."""
        if self.tested:
            return np.asarray(self.part.flags(self.false_share))
        return np.abs(self.significance) > FAR

    @cached_property
    def significance(self) -> AnyArray:
        """Deviation of each cell in standard deviations."""
        if self.tested:
            return np.asarray(self.part.significance)
        away = np.nan_to_num(np.asarray(self.values, np.float64) - np.asarray(self.low_rank))
        least = np.broadcast_to(np.asarray(self.part.outlier_penalty) / 2.0, away.shape[1:])
        least = least if self.part.column_scale is None else least * self.part.column_scale
        scales = np.maximum(least, column_scales(away)) if len(away) >= _MIN_ROWS else least
        return away / scales

    def figures(self) -> dict[str, Any]:
        """The results in numbers."""
        rows = {} if self.strange is None else {"flagged_rows": int(np.count_nonzero(self.strange))}
        return {
            "rows": self.values.shape[0],
            "columns": self.values.shape[1],
            "missing": int(np.count_nonzero(np.isnan(self.values))),
            "flagged": int(np.count_nonzero(self.flags)),
            **rows,
            "rank": self.part.rank,
            "gap": float(self.part.gap),
        }


def n_features(model: Any) -> int:
    """How many columns a model, or a plain encoder, was fitted to."""
    return int(model.components.shape[1] if isinstance(model, Encoder) else model.n_features_in_)


def decompose_by_model(model: Any, values: AnyArray, *, columns: Any = None, false_share: float = 0.03) -> AppliedParts:
    """Take the rows of a table apart by a model of others, each on its own, and score them.

    Parameters
    ----------
    model : estimator or Encoder
        Fitted, with ``decompose`` or ``encode``.
    values : array of shape (n, m)
        The table, NaN where a cell is missing.
    columns : sequence of str, optional
        Names of its columns, if the model knows names.
    false_share : float
        Expected share of false ones among the cells that stand out, where the model knows their noise.

    Examples
    --------
    >>> import unmingle
    >>> rng = np.random.default_rng(0)
    >>> habit = rng.standard_normal((1, 4))
    >>> train, new = (rng.standard_normal((n, 1)) @ habit + 0.01 * rng.standard_normal((n, 4)) for n in (200, 5))
    >>> new[3, 1] += 9.0
    >>> model = unmingle.RobustPCA(scale="columns", debias=True, random_state=0).fit(train)
    >>> decompose_by_model(model, new).strongest(1)
    [(3, 1)]
    """
    if isinstance(model, Encoder):
        return AppliedParts(values, _encoded(model, values), tested=False)
    X = framed(values, columns) if columns is not None and hasattr(model, "feature_names_in_") else values
    tested = getattr(model, "cells_", None) is not None
    part = model.decompose(X, debias=tested)
    strange = None
    if hasattr(model, "predict"):
        strange = np.asarray(model.predict(X)) == -1
    elif hasattr(model, "outlier_flags"):
        strange = np.asarray(model.outlier_flags(X))
    scores = np.asarray(model.score_samples(X))
    return AppliedParts(values, part, None, false_share, scores, strange, tested)


def _encoded(encoder: Encoder, X: AnyArray) -> Decomposition:
    codes, outliers = encoder.encode(X)
    gaps = encoder.gap(X, codes, outliers)
    return Decomposition(
        codes, encoder.components, X, outliers, encoder.rank_penalty, encoder.outlier_penalty,
        float(np.sum(encoder.cost(X, codes, outliers))), float(np.max(gaps)), sample_gap=gaps,
    )  # fmt: skip
