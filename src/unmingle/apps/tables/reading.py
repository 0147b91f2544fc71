"""Tables of numbers in files: read with the names of their rows and columns, and all that stands beside the numbers."""

from collections.abc import Collection, Sequence
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..._frames import is_frame
from ..._types import AnyArray
from ..._validation import first_negative, is_missing
from ._arrays import KINDS_OF_NUMBERS, read_array
from ._books import raw_of_frame, read_book, read_parquet
from ._columns import TableColumn, classify_columns
from ._formats import ARRAYS, BOOKS, PARQUETS, READABLE, SUFFIXES, Form, RawTable, TableError
from ._settings import Reading
from ._text import read_text
from .table import KINDS, NamedTable

_MIDNIGHT = " 00:00:00"
_NOTES = {
    "text": "Set aside as text, and carried along unchanged: {}.",
    "dates": "Set aside as dates, and carried along unchanged: {}.",
    "ids": "Set aside as row numbers, and carried along unchanged: {}; --use NAME treats such a column as data.",
    "empty": "Empty, and left empty: {}.",
}
TRANSPOSED_RATIO = 10
"""A table with at least this many times as many columns as rows probably has its samples in columns."""
MOST_NAMED = 5
"""At most this many columns are named in a note."""


def read_table(
    path: str | PathLike[str],
    *,
    nonnegative: bool = False,
    sheet: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    use: Collection[str] = (),
    skip: Collection[str] = (),
    min_shape: tuple[int, int] = (1, 2),
) -> NamedTable:
    """Read a table from a text file (.csv, .tsv, .txt, also compressed), Excel, Parquet, .npy or .npz.

    What stands between cells, decimal commas, the encoding, a missing header, dates, text and numbers of rows are
    noticed. Columns that hold no measurements are skipped; they are written back with the results.

    Parameters
    ----------
    path : path
        The file.
    nonnegative : bool
        Whether negative numbers are refused.
    sheet : str, optional
        Name or number, from 1, of the sheet of an Excel file; None for the first one.
    header : bool, optional
        Whether the first line holds the names of the columns; None for what it looks like.
    decimal : {".", ","}, optional
        The decimal mark; None for what it looks like.
    use, skip : collections of str
        Columns that are numbers to work with, or are to be skipped, whatever they look like.
    min_shape : pair of int
        Fewest rows and columns.

    Returns
    -------
    NamedTable
        Every number is finite or missing.

    Raises
    ------
    TableError
        The file is missing, damaged, or holds something else than a table of numbers.
    """
    path = Path(path)
    _check_file(path)
    if path.suffix.lower() in ARRAYS:
        values, form = read_array(path)
        if not values.size:  # of which there may be very many rows or columns
            raise TableError(f"{path} has no {'rows' if not len(values) else 'columns'} of numbers.")
        table = array_table(values, form)
    else:
        table = _of_frame(path, _read(path, sheet, header, decimal), set(use), set(skip))
    _check_table(path, table, nonnegative, min_shape)
    return table


def read_source(
    source: Any, reading: Reading, *, nonnegative: bool = False, min_shape: tuple[int, int] = (1, 2)
) -> NamedTable:
    """Read a table from wherever it is.

    Parameters
    ----------
    source : path, DataFrame, array or NamedTable
        A file, as `read_table` takes it; a data frame of pandas or polars; an array with samples in rows; or a table
        that was read before.
    reading : Reading
        How to read a file.
    nonnegative : bool
        Whether negative numbers are refused.
    min_shape : pair of int
        Fewest rows and columns.
    """
    if isinstance(source, str | PathLike):
        options = {one.name: getattr(reading, one.name) for one in fields(reading)}
        return read_table(source, nonnegative=nonnegative, min_shape=min_shape, **options)
    if isinstance(source, NamedTable):
        name, table = "The table", source
    elif is_frame(source):
        name = "The data frame"
        frame = source if hasattr(source, "iloc") else source.to_pandas()
        table = _of_frame(name, raw_of_frame(frame, Form(".csv"), reading.decimal), set(reading.use), set(reading.skip))
    else:
        name, values = "The array", np.asarray(source)
        if values.ndim != 2 or values.dtype.kind not in KINDS_OF_NUMBERS:
            raise TableError(f"{name} has shape {values.shape} and type {values.dtype}; expected 2-D numbers.")
        table = array_table(values, Form(".npy"))
    _check_table(name, table, nonnegative, min_shape)
    return table


def is_table(path: Path) -> bool:
    """Whether the name of a file is that of a table."""
    return path.name.lower().endswith(SUFFIXES)


def _check_file(path: Path) -> None:
    if not path.exists():
        others = (other for other in path.parent.glob(f"{path.stem}.*") if is_table(other) and other.exists())
        near = sorted(other.name for other in others)
        raise TableError(f"{path} {is_missing(path)}{f'; there is {near[0]}' if near else ''}.")
    if not path.is_file():
        raise TableError(f"{path} is not a file; give the path of a table: {READABLE}.")
    if path.suffix.lower() in (".xls", ".ods", ".numbers"):
        raise TableError(f"{path} is of a kind that is not read; save it as .xlsx or .csv.")
    if not is_table(path):
        raise TableError(f"{path} is none of {READABLE}; convert it to one of these.")
    if path.stat().st_size == 0:
        raise TableError(f"{path} is empty.")


def _read(path: Path, sheet: str | None, header: bool | None, decimal: str | None) -> RawTable:
    """Read a file by what it is, which its name may not tell."""
    with path.open("rb") as file:
        start = file.read(4)
    suffix = path.suffix.lower()
    if suffix in PARQUETS or start == b"PAR1":
        return read_parquet(path, decimal=decimal)
    if suffix in BOOKS or (start == b"PK\x03\x04" and b"xl/workbook" in path.read_bytes()):
        return read_book(path, sheet=sheet, header=header, decimal=decimal)
    if sheet is not None:
        raise TableError(f"{path} is no Excel file, so it has no sheet {sheet!r}; leave --sheet out.")
    return read_text(path, header=header, decimal=decimal)


def array_table(values: AnyArray, form: Form) -> NamedTable:
    """An array as a table, whose rows and columns go by their positions, counted from 0."""
    rows, columns = ([str(position) for position in range(size)] for size in values.shape)
    return NamedTable(values, rows, columns, form, whole=np.full(values.shape[1], values.dtype.kind in "iu"))


def _of_frame(path: object, raw: RawTable, use: set[str], skip: set[str]) -> NamedTable:
    names = list(raw.frame.columns)
    unknown = sorted((use | skip) - set(names))
    if unknown:
        raise TableError(f"{path} has no column {unknown[0]!r}; it has {_listed(names)}.")
    if raw.blank and names[0] not in use:
        skip = skip | {names[0]}
    columns = list(
        classify_columns(raw.frame, raw.places, decimal=raw.form.decimal, text=raw.is_text, use=use, skip=skip)
    )
    taken = [column for column in columns if column.kind == "numbers"]
    kinds = {column.name: column.kind for column in columns if column.kind != "numbers"}
    refused = sorted(use & kinds.keys())
    if refused:
        raise TableError(f"{path}: column {refused[0]!r} holds {KINDS[kinds[refused[0]]]}, not numbers.")
    values = np.column_stack([column.values for column in taken if column.values is not None]) if taken else None
    notes = [*raw.notes, *(note for column in taken for note in column.notes), *_notes_of_skipped(kinds, columns)]
    if raw.doubt and any(column.like is not None for column in taken):
        meant = raw.doubt.replace(",", "." if raw.form.decimal == "," else "")
        notes.append(f"Numbers such as {raw.doubt} were read as {meant}; --decimal . or --decimal , changes that.")
    times = next((column.values for column in columns if column.kind == "dates"), None)
    return NamedTable(
        np.zeros((len(raw.frame), 0)) if values is None else values,
        _row_names(raw, columns),
        [column.name for column in taken],
        raw.form,
        skipped={name: str(kind) for name, kind in kinds.items()},
        whole=np.array([column.whole for column in taken], bool),
        notes=notes,
        times=times,
        _frame=raw.frame,
        _columns={column.name: column for column in columns},
        _blank=raw.blank,
        _header=raw.header,
        _index=raw.index,
    )


def _row_names(raw: RawTable, columns: Sequence[TableColumn]) -> list[str]:
    """The first skipped column that tells all rows apart, if there is one."""
    if raw.index and len(set(raw.places)) == len(raw.places):
        return raw.places
    for column in columns:
        if column.kind not in ("numbers", "empty"):
            names = _names(list(raw.frame[column.name]))
            if len(set(names)) == len(names) and all(names):
                return names
    return raw.places


def _names(cells: list[Any]) -> list[str]:
    """The cells as text, without the time of day where all are dates at midnight."""
    shown = [" ".join(cell.split()) if isinstance(cell, str) else str(cell) for cell in cells]
    days = not any(isinstance(cell, str) for cell in cells) and all(name.endswith(_MIDNIGHT) for name in shown)
    return [name.removesuffix(_MIDNIGHT) for name in shown] if days else shown


def _notes_of_skipped(kinds: dict[str, Any], columns: Sequence[TableColumn]) -> list[str]:
    """What was skipped, but for a first column that obviously holds names."""
    notes = []
    for kind, note in _NOTES.items():
        names = [column.name for column in columns if kinds.get(column.name) == kind]
        if kind in ("text", "dates") and names and names[0] == columns[0].name:
            names = names[1:]
        if names:
            notes.append(note.format(_listed(names)))
    return notes


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(map(repr, names[:MOST_NAMED])) + more


def _elsewhere(form: Form) -> str:
    """Where else in the file the numbers may be."""
    if not form.other_sheets:
        return ""
    return f" This is sheet {form.sheet!r}; --sheet NAME reads another one: {_listed(form.other_sheets)}."


def _check_table(name: object, table: NamedTable, nonnegative: bool, min_shape: tuple[int, int]) -> None:
    _check_values(name, table, min_shape)
    rows, columns = table.values.shape
    if columns >= TRANSPOSED_RATIO * max(rows, 4):
        table.notes.append(
            f"The table has {rows} rows and {columns} columns. Rows should be samples: transpose it if needed."
        )
    if nonnegative:
        _refuse_negative(name, table)


def _check_values(path: object, table: NamedTable, min_shape: tuple[int, int]) -> None:
    n_rows, n_columns = table.values.shape
    if n_rows == 0:
        raise TableError(f"{path} has no rows of numbers.")
    if n_columns < min_shape[1]:
        skipped = [name for name, kind in table.skipped.items()]
        others = f"; {_listed(skipped)} {'is' if len(skipped) == 1 else 'are'} set aside" if skipped else ""
        if skipped and all(kind == "empty" for kind in table.skipped.values()):
            others = "; all others are missing"
        raise TableError(
            f"{path} has too few columns of numbers: expected at least {min_shape[1]}; got {n_columns}{others}."
            f"{_elsewhere(table.form)}"
        )
    if n_rows < min_shape[0]:
        raise TableError(
            f"{path} has {n_rows} row{'s' if n_rows > 1 else ''} of numbers; expected at least {min_shape[0]}: what is "
            "normal is learnt from many rows."
        )
    infinite = np.argwhere(np.isinf(table.values))
    if infinite.size:
        row, column = infinite[0]
        raise TableError(
            f"{path} holds an infinite number in row {table.rows[row]!r}, column {table.columns[column]!r}; "
            "leave the cell empty (or NaN) if its value is unknown."
        )


def _refuse_negative(path: object, table: NamedTable) -> None:
    place = first_negative(table.values)
    if place is not None:
        row, column = table.rows[place[0]], table.columns[place[1]]
        raise TableError(
            f"{path} holds {table.values[place]:g} in row {row!r}, column {column!r}, but nonnegative parts need "
            "numbers of at least 0; make it 0, or leave the cell empty (or NaN) if its value is unknown."
        )
