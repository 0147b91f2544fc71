"""What should stand in the cells of a table, and which of them stand out."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..._types import AnyArray, BoolArray
from ._parts import TableParts
from .table import NamedTable


@dataclass(frozen=True)
class DoubtRules:
    """From when on it is doubtful that what is expected of a table can be trusted.

    Outliers are meant to be few; where many cells are flagged, it is the patterns that do not suit the table.
    """

    share: float = 0.1
    """More than this share of the known cells must stand out."""
    cells: int = 20
    """At least this many cells must stand out: in a small table a few are many."""


DOUBT = DoubtRules()


class Cleaned(NamedTuple):
    """A table with what should stand in its cells."""

    values: AnyArray
    changed: BoolArray
    """Cells that are not as they were."""
    filled: int
    """How many of them were missing."""
    replaced: int
    """How many of them stood out."""


def clean(
    table: NamedTable, expected: AnyArray, flags: BoolArray, *, fill: bool = True, replace: bool = True
) -> Cleaned:
    """Put what is expected into cells that are missing and cells that stand out.

    Parameters
    ----------
    table : NamedTable
        The table.
    expected : array of shape (n_rows, n_columns)
        What should stand in every cell; rounded in columns of whole numbers.
    flags : boolean array of that shape
        Cells that stand out.
    fill, replace : bool
        Whether missing cells, and cells that stand out, are changed.

    Examples
    --------
    >>> from unmingle.apps.tables._formats import Form
    >>> table = NamedTable(np.array([[1.0, np.nan], [9.0, 4.0]]), ["x", "y"], ["a", "b"], Form(".csv"))
    >>> clean(table, np.array([[1.0, 2.0], [2.0, 4.0]]), np.array([[False, False], [True, False]])).values.tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """
    gaps = np.isnan(table.values) & fill
    wrong = flags & ~np.isnan(table.values) & replace
    wanted = np.where(table.whole, np.rint(expected), expected)
    changed = gaps | wrong
    values = np.where(changed, wanted, table.values)
    return Cleaned(values, changed, int(np.count_nonzero(gaps)), int(np.count_nonzero(wrong)))


def doubt_of(parts: TableParts) -> str | None:
    """A sentence for a table in which so much stands out that its patterns, and what is expected, are in doubt."""
    flagged, known = (int(np.count_nonzero(cells)) for cells in (parts.flags, ~np.isnan(parts.values)))
    share = flagged / max(known, 1)
    if share <= DOUBT.share or flagged < DOUBT.cells:
        return None
    return (
        f"{100 * share:.0f} % of the cells stand out, which is a lot. Perhaps the columns are not related, or values "
        "differ by large factors (then try their logarithms). Look at the report before you use the cleaned table."
    )


def list_outliers(table: NamedTable, parts: TableParts, count: int | None = None) -> list[dict[str, Any]]:
    """The cells that stand out, the strongest first: where, what stands there, what should, and how sure that is."""
    expected = parts.low_rank
    return [
        {
            "row": table.rows[row],
            "column": table.columns[column],
            "value": float(parts.values[row, column]),
            "expected": float(expected[row, column]),
            "deviation": float(parts.values[row, column] - expected[row, column]),
            "significance": float(parts.significance[row, column]),
        }
        for row, column in parts.strongest(count)
    ]
