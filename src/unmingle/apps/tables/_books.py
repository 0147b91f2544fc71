"""Excel and Parquet files of tables."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..._validation import require
from ._columns import different_names, marks_of
from ._formats import Form, RawTable, TableError
from ._numbers import is_missing, parse_numbers


def read_book(
    path: Path, *, sheet: str | None = None, header: bool | None = None, decimal: str | None = None
) -> RawTable:
    """Read the cells of one sheet of an Excel file.

    Parameters
    ----------
    path : Path
        The file.
    sheet : str, optional
        Name or number, from 1, of the sheet; None for the first one that is not empty.
    header : bool, optional
        Whether the first row holds names; None for what it looks like.
    decimal : str, optional
        The decimal mark of numbers that are text; None for what it looks like.
    """
    pandas = require("pandas", "table")
    require("openpyxl", "table")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with pandas.ExcelFile(path, engine="openpyxl") as book:
                names = list(book.sheet_names)
                name, frame = _sheet(path, book, names, sheet)
        except (TableError, MemoryError, OSError) as error:
            if isinstance(error, TableError | MemoryError) or error.filename is not None:
                raise
            raise _damaged(path) from error
        except Exception as error:
            raise _damaged(path) from error
    notes = []
    others = tuple(other for other in names if other != name) if sheet is None else ()
    if others:
        notes.append(f"Sheet {name!r} was read; --sheet NAME reads another one: {', '.join(map(repr, others[:5]))}.")
    frame = frame.dropna(axis=1, how="all").dropna(axis=0, how="all")
    if frame.empty:
        raise TableError(f"{path}: sheet {name!r} is empty.")
    first = frame.iloc[0].tolist()
    named = header if header is not None else not _all_numbers(first) or len(frame) == 1
    if not named:
        notes.append("The first row holds numbers, so it was read as data; --header reads it as column names.")
    titles = ["" if pandas.isna(cell) else cell for cell in first] if named else [""] * frame.shape[1]
    columns, twice = different_names(titles)
    if twice:
        notes.append(f"Repeated column names were numbered: {', '.join(map(repr, twice[:5]))}.")
    rows = (frame.iloc[1:] if named else frame).set_axis(columns, axis=1)
    mark, doubt = (decimal, None) if decimal else marks_of(rows)
    places = [f"row {number + 1}" for number in rows.index]
    form = Form(path.suffix.lower(), decimal=mark, sheet=name, other_sheets=others)
    blank = named and not str(titles[0]).strip()
    return RawTable(rows.reset_index(drop=True), form, places, blank, header=named, doubt=doubt, notes=notes)


def _sheet(path: Path, book: Any, names: list[str], wanted: str | None) -> tuple[str, Any]:
    if wanted is not None:
        if wanted not in names and wanted.isdecimal() and 1 <= int(wanted) <= len(names):
            wanted = names[int(wanted) - 1]
        if wanted not in names:
            raise TableError(f"{path} has no sheet {wanted!r}; it has {', '.join(map(repr, names))}.")
        return wanted, book.parse(wanted, header=None, dtype=object)
    for name in names:
        frame = book.parse(name, header=None, dtype=object)
        if not frame.dropna(how="all").empty:
            return name, frame
    raise TableError(f"{path} is empty.")


def _damaged(path: Path) -> TableError:
    return TableError(f"{path} is damaged or no Excel file; open it in a spreadsheet program and save it anew.")


def _all_numbers(cells: list[Any]) -> bool:
    present = [cell for cell in cells if cell is not None and cell == cell and not is_missing(str(cell))]
    return bool(present) and not parse_numbers([str(cell) for cell in present]).odd


def read_parquet(path: Path, *, decimal: str | None = None) -> RawTable:
    """Read the columns of a Parquet file; see `raw_of_frame`.

    Parameters
    ----------
    path : Path
        The file.
    decimal : str, optional
        The decimal mark of numbers that are text; None for what it looks like.
    """
    pandas = require("pandas", "table")
    require("pyarrow", "table")
    try:
        frame = pandas.read_parquet(path, engine="pyarrow")
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise TableError(f"{path} is damaged or no Parquet file.") from error
    return raw_of_frame(frame, Form(path.suffix.lower()), decimal)


def raw_of_frame(frame: Any, form: Form, decimal: str | None = None) -> RawTable:
    """The cells of a data frame of pandas; an index other than the number of the row holds the names of the rows."""
    pandas = require("pandas", "table")
    columns, twice = different_names(frame.columns)
    note = f"Repeated column names were numbered: {', '.join(map(repr, twice[:5]))}."
    index = not isinstance(frame.index, pandas.RangeIndex)
    places = [" ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in frame.index]
    if not index:
        places = [f"row {name}" for name in places]
    frame = frame.set_axis(columns, axis=1)
    mark, doubt = (decimal, None) if decimal else marks_of(frame)
    return RawTable(frame, replace(form, decimal=mark), places, index=index, doubt=doubt, notes=[note] if twice else [])
