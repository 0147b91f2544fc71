"""`separate`: a table in; what is expected of its cells, what stands out and the cleaned table, as values and files."""

from os import PathLike
from typing import Any

from ...core.iterate import Callback
from ..jobs import check_outputs, sentences_of_warnings
from ._cleaning import clean, doubt_of, list_outliers
from ._outputs import places_for, write_results
from ._parts import TableParts, decompose_table
from ._result import Result, path_of_source
from ._settings import Outputs, Settings
from .reading import read_source
from .table import NamedTable


def separate(
    source: Any,
    outputs: Outputs = Outputs(),  # noqa: B008 (frozen)
    settings: Settings = Settings(),  # noqa: B008 (frozen)
    *,
    progress: Callback | None = None,
) -> Result:
    r"""Clean a table: find the cells that do not fit the rest, and estimate what belongs there and in the gaps.

    The columns X of numbers become components U, codes S and outliers O, by (4) in docs/paper.md::

        min 1/2 ||X - US - O||^2 + rank_penalty/2 (||U||^2 + ||S||^2) + outlier_penalty ||O||_1

    Gaps, NaN, cost nothing. Which cells stand out is a test, cell by cell, against the noise of their columns. Cost and
    memory: those of `unmingle.decompose`.

    Parameters
    ----------
    source : path, DataFrame, array of shape (n_rows, n_columns) or NamedTable
        The table. Columns of text, dates and row numbers of a file are skipped, and written back unchanged.
    outputs : Outputs
        What to write: nothing unless it names a place.
    settings : Settings
        How to read the table, take it apart and clean it.
    progress : callable, optional
        Called with an `unmingle.core.iterate.Progress` after each iteration; a true answer ends the work there.

    Returns
    -------
    Result
        With ``summary()``, ``warnings``, ``written``, and the cells in ``parts``, ``cleaned`` and ``outliers``.

    Examples
    --------
    >>> import numpy as np
    >>> from unmingle.apps import tables
    >>> rng = np.random.default_rng(0)
    >>> values = rng.standard_normal((50, 1)) * [1.0, 1000.0, 0.01] + rng.standard_normal((50, 3)) * [0.1, 100.0, 0.001]
    >>> values[7, 2] = 5.0
    >>> result = tables.separate(values)
    >>> result.outliers[0]["row"], result.outliers[0]["column"]
    ('7', '2')
    """
    table = read_source(source, settings.reading, nonnegative=settings.nonnegative, min_shape=(2, 2))
    path = path_of_source(source, table.form)
    places = places_for(path, outputs, table.form)
    inputs = {"the source": path} if isinstance(source, str | PathLike) else {}
    check_outputs({f"out ({name})": place for name, place in places.items()}, inputs)
    with sentences_of_warnings() as sentences:
        parts = _decompose(table, settings, progress)
        cleaned = clean(table, parts.low_rank, parts.flags, fill=settings.fill, replace=settings.replace)
        cells = list_outliers(table, parts)
    if places:
        write_results(table, parts, cleaned, cells, places, name=path.name)
    doubt = doubt_of(parts)
    return Result(table, parts, cleaned, cells, (*sentences, *([doubt] if doubt else [])), places)


def _decompose(table: NamedTable, settings: Settings, progress: Callback | None) -> TableParts:
    return decompose_table(
        table.values,
        scale=settings.scale,
        debias=settings.debias,
        nonnegative=settings.nonnegative,
        false_share=settings.false_share,
        n_components=settings.n_components,
        rank_penalty=settings.rank_penalty,
        outlier_penalty=settings.outlier_penalty,
        tol=settings.tol,
        max_iter=settings.max_iter,
        callback=progress,
        random_state=settings.random_state,
    )
