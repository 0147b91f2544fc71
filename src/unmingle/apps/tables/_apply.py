"""New tables, by models of others: matched by the names of their columns, cleaned, and every row scored."""

from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from ... import load
from ..._validation import require
from ...core.encoder.encoder import Encoder
from ..jobs import check_outputs
from ._applied import FAR, AppliedParts, decompose_by_model, n_features
from ._cleaning import clean, list_outliers
from ._formats import Form, TableError
from ._outputs import places_for, write_results, write_row_results
from ._result import Result, path_of_source
from ._settings import ApplySettings, Outputs, Reading
from .reading import array_table, read_source
from .table import NamedTable

_UNTESTED = (
    f"Cells more than {FAR:g} standard deviations away are listed; unmingle fit TABLE writes a model that knows the "
    "noise of each column."
)


@dataclass(frozen=True, eq=False)
class AppliedResult(Result):
    """A table by a model of another one, cleaned, with a score for every row."""

    parts: AppliedParts

    @property
    def notes(self) -> list[str]:
        """What a user should know of how the table was read and judged."""
        return self.table.notes if self.parts.tested else [*self.table.notes, _UNTESTED]

    def summary_text(self) -> dict[str, str]:
        """The figures that people read first, in words."""
        size, cleaned = self._sizes()
        return {
            "table": size,
            "outliers": f"{self.parts.figures()['flagged']} of the cells",
            "cleaned": cleaned,
            **rows_in_words(self.parts),
        }


def rows_in_words(parts: AppliedParts) -> dict[str, str]:
    """How many rows are outliers as a whole, if the model tells."""
    return {} if parts.strange is None else {"strange rows": f"{int(parts.strange.sum())} of {len(parts.strange)}"}


def apply(
    model: Any,
    source: Any,
    outputs: Outputs = Outputs(),  # noqa: B008 (frozen)
    settings: ApplySettings = ApplySettings(),  # noqa: B008 (frozen)
) -> AppliedResult:
    """Take the rows of a table apart by a model of another one, each on its own; clean the table and score the rows.

    Parameters
    ----------
    model : estimator, Encoder or path
        A fitted model, or its file.
    source : path, DataFrame, array or NamedTable
        The table. Its columns are matched with those of the model by their names.
    outputs : Outputs
        What to write: nothing unless it names a place.
    settings : ApplySettings
        How to read and clean the table.

    Returns
    -------
    AppliedResult
        With ``summary()``, ``warnings``, ``written``, and the scores in ``parts``.
    """
    fitted = load_model(model)
    table = read_for(fitted, source, settings.reading)
    path = path_of_source(source, table.form)
    rows = ("codes", "scores") if hasattr(fitted, "score_samples") else ("codes",)
    places = places_for(path, outputs, table.form, rows=rows)
    inputs = {"the source": path, "the model": Path(model) if isinstance(model, str | PathLike) else None}
    check_outputs({f"out ({name})": place for name, place in places.items()}, inputs)
    columns = table.columns if table.named else getattr(fitted, "feature_names_in_", None)
    parts = decompose_by_model(fitted, table.values, columns=columns, false_share=settings.false_share)
    cleaned = clean(table, parts.low_rank, parts.flags, fill=settings.fill, replace=settings.replace)
    cells = list_outliers(table, parts)
    if places:
        write_results(table, parts, cleaned, cells, places, name=path.name)
        write_row_results(table.rows, table.form, parts, places)
    return AppliedResult(table, parts, cleaned, cells, (), places)


def load_model(model: Any) -> Any:
    """A model that takes rows apart, or the one in a file."""
    fitted = load(model) if isinstance(model, str | PathLike) else model
    if isinstance(fitted, Encoder) or hasattr(fitted, "decompose"):
        return fitted
    what = f"{model} holds" if fitted is not model else "The model is"
    raise ValueError(f"{what} a {type(fitted).__name__}, which cannot be applied to data by this command.")


def read_for(model: Any, source: Any, reading: Reading = Reading()) -> NamedTable:  # noqa: B008 (frozen)
    """Read a table for a model: its columns by their names, in its order; others are carried along.

    Parameters
    ----------
    model : estimator or Encoder
        Fitted.
    source : path, DataFrame, array or NamedTable
        The table.
    reading : Reading
        How to read a file.

    Raises
    ------
    TableError
        A column is missing, or there are as many columns as the model does not have.
    """
    path = Path(source) if isinstance(source, str | PathLike) else "The table"
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    table = _read_zarr(path) if _is_zarr(path) else read_source(source, reading, min_shape=(1, 1))
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
        table = read_source(source, replace(reading, use=tuple(names)), min_shape=(1, 1))
    surplus = [name for name in table.columns if name not in set(names)]
    if surplus:
        listed = ", ".join(map(repr, surplus[:5]))
        table.notes.append(f"The model does not know {listed}{', ...' if len(surplus) > 5 else ''}: carried along.")
    return table.chosen(names)


def _is_zarr(path: object) -> TypeGuard[Path]:
    return isinstance(path, Path) and path.suffix.lower() == ".zarr" and path.is_dir()


def _read_zarr(path: Path) -> NamedTable:
    zarr = require("zarr", "dask")
    try:
        values = np.asarray(zarr.open_array(path, mode="r")[:])
    except Exception as error:
        raise TableError(f"{path} is no readable zarr array.") from error
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise TableError(f"{path} holds an array of {values.dtype}, shape {values.shape}; expected 2-D numbers.")
    return array_table(values, Form(".npy"))
