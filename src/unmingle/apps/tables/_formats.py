"""The formats of tables in files, and what a file holds before it is known which columns are numbers."""

from dataclasses import dataclass, field
from typing import Any


class TableError(ValueError):
    """A file that holds no usable table, with the reason in one sentence."""


TEXTS = (".csv", ".tsv", ".tab", ".txt", ".dat")
BOOKS = (".xlsx", ".xlsm")
PARQUETS = (".parquet", ".pq")
ARRAYS = (".npy", ".npz")
SUFFIXES = (*TEXTS, *(f"{suffix}.gz" for suffix in TEXTS), ".zip", *BOOKS, *PARQUETS, *ARRAYS)
"""All that can be read."""
READABLE = ".csv, .tsv, .txt (also with .gz or in a .zip), .xlsx, .parquet, .npy and .npz"
"""The same in words."""


@dataclass(frozen=True)
class Form:
    """The form of a file of a table."""

    suffix: str
    """With a compression, such as ".csv.gz"."""
    delimiter: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    line_end: str = "\n"
    sheet: str = "Sheet1"
    other_sheets: tuple[str, ...] = ()
    array: str = "X"
    """Name of the array in a .npz file."""

    @property
    def is_text(self) -> bool:
        """Whether it is lines of cells."""
        return self.suffix.removesuffix(".gz") in TEXTS

    @property
    def is_array(self) -> bool:
        """Whether it is an array of NumPy."""
        return self.suffix in ARRAYS


@dataclass(frozen=True, eq=False)
class RawTable:
    """The cells of a file."""

    frame: Any
    """A data frame of text, of Python objects or of typed columns, under names that are all different."""
    form: Form
    places: list[str]
    """Where the rows are: "line 2"."""
    blank: bool = False
    """Whether the first column has no name: it holds the names of the rows."""
    index: bool = False
    """Whether the names of the rows are the index of the frame."""
    header: bool = True
    """Whether the file has names of columns."""
    is_text: bool = False
    """Whether all cells are text."""
    doubt: str | None = None
    """A number that may be read in two ways."""
    notes: list[str] = field(default_factory=list)
