"""What comes of a table: its parts, the cleaned table, the outliers, figures and files."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..jobs import solver_text
from ._cleaning import Cleaned
from ._formats import Form
from ._parts import TableParts
from .table import NamedTable, framed


@dataclass(frozen=True, eq=False)
class Result:
    """A table, taken apart and cleaned.

    Attributes
    ----------
    table : NamedTable
        The table as it was read.
    parts : TableParts
        What is expected of every cell, what stands out, and the figures of the solver.
    cleaned : Cleaned
        The numbers with gaps filled and outliers replaced.
    outliers : list of dict
        The cells that stand out, the strongest first: row, column, value, expected, deviation and significance.
    warnings : tuple of str
        What to beware of, a sentence each.
    written : dict of str to Path
        The files that were written, by what they hold.
    """

    table: NamedTable
    parts: TableParts
    cleaned: Cleaned
    outliers: list[dict[str, Any]]
    warnings: tuple[str, ...]
    written: dict[str, Path]

    def __repr__(self) -> str:
        rows, columns = self.table.values.shape
        return f"{type(self).__name__}({rows} x {columns}, {len(self.outliers)} cells stand out)"

    @property
    def notes(self) -> list[str]:
        """What a user should know of how the table was read."""
        return self.table.notes

    @property
    def frame(self) -> Any:
        """The cleaned numbers as a data frame, under the names of their columns."""
        return framed(self.cleaned.values, self.table.columns)

    def summary(self, n_outliers: int = 10) -> dict[str, Any]:
        """Figures of the result, as plain values, with the strongest outliers."""
        return {
            **self.parts.figures(),
            "filled": self.cleaned.filled,
            "replaced": self.cleaned.replaced,
            "notes": list(self.table.notes),
            "strongest_outliers": self.outliers[:n_outliers],
            "written": {name: str(path) for name, path in self.written.items()},
        }

    def summary_text(self) -> dict[str, str]:
        """The figures that people read first, in words."""
        figures = self.parts.figures()
        known = max(figures["rows"] * figures["columns"] - figures["missing"], 1)
        size, cleaned = self._sizes()
        return {
            "table": size,
            "outliers": f"{figures['flagged']} of the cells ({100 * figures['flagged'] / known:.2g} %)",
            "cleaned": cleaned,
            "typical deviation": f"{figures['typical_deviation']:.3g}",
            **solver_text(figures),
        }

    def _sizes(self) -> tuple[str, str]:
        """The size of the table and what was changed, in words."""
        (rows, columns), missing = self.table.values.shape, int(np.count_nonzero(np.isnan(self.table.values)))
        changed = f"{self.cleaned.filled} gaps filled, {self.cleaned.replaced} outliers replaced"
        return f"{rows} x {columns}, {missing} missing", changed


def path_of_source(source: Any, form: Form) -> Path:
    """The file that was read; for what came from memory the name that a file of it would have."""
    return Path(source) if isinstance(source, str | PathLike) else Path(f"table{form.suffix}")
