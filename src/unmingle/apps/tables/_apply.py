"""New tables, by models of others: matched by the names of their columns, cleaned, and every row scored."""

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..._types import AnyArray, BoolArray
from ..._validation import require
from ...core.cells.columns import column_scales
from ...core.encoder.encoder import Encoder
from ...core.iterate import Callback
from ._formats import Form, TableError
from ._separate import SeparatedTable
from ._table import NamedTable
from .reading import array_table, read_table

FAR = 5.0
"""Standard deviations from which on a cell stands out, where a model does not know the noise of single cells."""
_ENOUGH = 20
"""Rows that tell how far cells of a column usually are from what is expected of them."""


@dataclass(frozen=True, eq=False)
class AppliedTable(SeparatedTable):
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
        scales = np.maximum(least, column_scales(away)) if len(away) >= _ENOUGH else least
        return away / scales

    @property
    def card_(self) -> dict[str, Any]:
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


def fit_table(table: NamedTable, *, nonnegative: bool = False, callback: Callback | None = None, **options: Any) -> Any:
    """Learn a table: all columns weighed alike, with their names, and the noise of every column.

    Parameters
    ----------
    table : NamedTable
        The table.
    nonnegative : bool
        Whether `unmingle.RobustNMF` is fitted, not `unmingle.RobustPCA`.
    callback : callable, optional
        Told of the progress; see `unmingle.decompose`.
    **options
        Those of the estimator.
    """
    from ...estimators.robust_nmf import RobustNMF
    from ...estimators.robust_pca import RobustPCA

    model = (RobustNMF if nonnegative else RobustPCA)(scale="columns", debias=True, **options)
    X = framed(table.values, table.columns) if table.named else np.asarray(table.values, np.float64)
    return model.fit(X, callback=callback)


def read_for(model: Any, path: str | PathLike[str], **options: Any) -> NamedTable:
    """Read a table for a model: its columns by their names, in its order; others are carried along.

    Parameters
    ----------
    model : estimator or Encoder
        Fitted.
    path : path
        The file.
    **options
        Those of `read_table`.

    Raises
    ------
    TableError
        A column is missing, or there are as many columns as the model does not have.
    """
    path = Path(path)
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    table = _read(path, options)
    if not names or not table.named:
        if table.values.shape[1] != n_features(model):
            raise TableError(
                f"{path} has {table.values.shape[1]} columns of numbers, but the model was fitted to "
                f"{n_features(model)}."
            )
        return table
    lacking = [name for name in names if name not in table.columns and name not in table.skipped]
    if lacking:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        raise TableError(
            f"{path} has no column {lacking[0]!r}{more}, which the model was fitted to; it needs "
            f"{', '.join(map(repr, names[:5]))}{', ...' if len(names) > 5 else ''}."
        )
    if any(name in table.skipped for name in names):
        table = read_table(path, **{**options, "use": names}, min_shape=(1, 1))
    surplus = [name for name in table.columns if name not in set(names)]
    if surplus:
        listed = ", ".join(map(repr, surplus[:5]))
        table.notes.append(f"The model does not know {listed}{', ...' if len(surplus) > 5 else ''}: carried along.")
    return table.chosen(names)


def _read(path: Path, options: dict[str, Any]) -> NamedTable:
    if path.suffix.lower() != ".zarr" or not path.is_dir():
        return read_table(path, **options, min_shape=(1, 1))
    zarr = require("zarr", "dask")
    try:
        values = np.asarray(zarr.open_array(path, mode="r")[:])
    except Exception as error:
        raise TableError(f"{path} is no readable zarr array.") from error
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise TableError(f"{path} holds an array of {values.dtype}, shape {values.shape}; expected 2-D numbers.")
    return array_table(values, Form(".npy"))


def n_features(model: Any) -> int:
    """How many columns a model, or a plain encoder, was fitted to."""
    return int(model.components.shape[1] if isinstance(model, Encoder) else model.n_features_in_)


def framed(values: AnyArray, columns: Any) -> Any:
    """Numbers as a data frame with the names of their columns."""
    return require("pandas", "table").DataFrame(values, columns=list(columns))


def apply_model(model: Any, values: AnyArray, *, columns: Any = None, false_share: float = 0.03) -> AppliedTable:
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
    >>> apply_model(model, new).strongest(1)
    [(3, 1)]
    """
    if isinstance(model, Encoder):
        return AppliedTable(values, _encoded(model, values), tested=False)
    X = framed(values, columns) if columns is not None and hasattr(model, "feature_names_in_") else values
    tested = getattr(model, "cells_", None) is not None
    part = model.decompose(X, debias=tested)
    strange = None
    if hasattr(model, "predict"):
        strange = np.asarray(model.predict(X)) == -1
    elif hasattr(model, "outlier_flags"):
        strange = np.asarray(model.outlier_flags(X))
    scores = np.asarray(model.score_samples(X))
    return AppliedTable(values, part, None, false_share, scores, strange, tested)


def _encoded(encoder: Encoder, X: AnyArray) -> Any:
    from ...core.decomposition.parts import Decomposition

    codes, outliers = encoder.encode(X)
    gaps = encoder.gap(X, codes, outliers)
    return Decomposition(
        codes, encoder.components, X, outliers, encoder.rank_penalty, encoder.outlier_penalty,
        float(np.sum(encoder.cost(X, codes, outliers))), float(np.max(gaps)), sample_gap=gaps,
    )  # fmt: skip
