"""A table: its numbers, the names around them, and all that is carried along."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..._types import AnyArray
from ..._validation import require
from ._columns import TableColumn
from ._formats import Form

KINDS = {"text": "text", "dates": "dates", "ids": "row numbers", "empty": "nothing", "skipped": "what was set aside"}
"""What columns hold that are skipped."""


@dataclass(frozen=True, eq=False)
class NamedTable:
    """Numbers with the names of their rows and columns.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns)
        The numbers; NaN where a cell is missing.
    rows, columns : sequence of str
        Names: of rows those in the first skipped column that tells all rows apart, else where they are in the file,
        such as "line 2"; of the columns of an array their positions, counted from 0.
    form : Form
        The form of the file.
    skipped : dict of str to str
        Columns that are not among the numbers, and why: "text", "dates", "ids", "empty", or "skipped" by the user.
    whole : boolean array of shape (n_columns,)
        Columns of whole numbers.
    notes : list of str
        What a user should know of how the file was read.
    times : array of shape (n_rows,) or None
        Seconds of the first column of dates.
    """

    values: AnyArray
    rows: Sequence[str]
    columns: Sequence[str]
    form: Form
    skipped: dict[str, str] = field(default_factory=dict)
    whole: AnyArray = False  # type: ignore[assignment]
    notes: list[str] = field(default_factory=list)
    times: AnyArray | None = None
    _frame: Any = field(default=None, repr=False)
    _columns: dict[str, TableColumn] = field(default_factory=dict, repr=False)
    _blank: bool = False
    _header: bool = True
    _index: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "whole", np.broadcast_to(self.whole, len(self.columns)))

    @property
    def named(self) -> bool:
        """Whether the columns have names of their own."""
        return self._frame is not None and self._header

    def chosen(self, columns: Sequence[str]) -> "NamedTable":
        """The same table with some of the columns of numbers, in the order asked for; the others are carried along."""
        places = [list(self.columns).index(name) for name in columns]
        others = {name: "unknown" for name in self.columns if name not in set(columns)}
        return replace(
            self,
            values=self.values[:, places],
            columns=list(columns),
            skipped={**self.skipped, **others},
            whole=self.whole[places],
        )


def framed(values: AnyArray, columns: Any) -> Any:
    """Numbers as a data frame with the names of their columns."""
    return require("pandas", "table").DataFrame(values, columns=list(columns))
