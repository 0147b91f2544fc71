"""Tables to files, in the format of the one that was read or in another; whole or not at all."""

import gzip
import re
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ... import store
from ..._types import AnyArray
from ..._validation import require
from ._columns import is_missing_object
from ._formats import ARRAYS, BOOKS, PARQUETS, SUFFIXES, TEXTS, Form, TableError
from ._numbers import format_number
from .table import NamedTable

_EXACT = 2.0**53
"""Whole numbers up to here are numbers of floating point, too."""
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
"""What Excel files cannot hold as it is."""
_RUN = ("=", "+", "-", "@", "\t", "\r")
"""What cells begin with that a spreadsheet would run."""


def full_suffix(path: Path) -> str:
    """The suffix of a table, with its compression: ".csv.gz"."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return "".join(suffixes[-2:]) if suffixes[-1:] == [".gz"] else "".join(suffixes[-1:])


def stem_of(path: Path) -> str:
    """The name of a file without its suffix and compression."""
    suffix = full_suffix(path)
    return path.name[: len(path.name) - len(suffix)] if suffix else path.name


def form_for(path: Path, like: Form) -> Form:
    """The form of a new file: by its suffix, and in all else as the file that was read."""
    suffix = full_suffix(path)
    if suffix not in SUFFIXES or suffix == ".zip":
        wanted = ".csv, .tsv, .xlsx, .parquet, .npy or .npz"
        raise TableError(f"{path} cannot be written: its name must end in {wanted}; or in .csv.gz.")
    if suffix == like.suffix:
        return like
    form = Form(suffix, encoding="utf-8")
    if like.is_text and form.is_text:
        form = Form(suffix, like.delimiter, like.decimal, like.encoding, like.line_end)
    if suffix.startswith((".tsv", ".tab")):
        form = Form(suffix, "\t", form.decimal, form.encoding, form.line_end)
    return form


def write_table(table: NamedTable, path: Path, values: AnyArray, *, changed: AnyArray | None = None) -> None:
    """Write a table with other numbers; all else stands where it stood.

    Parameters
    ----------
    table : NamedTable
        The table that was read.
    path : Path
        Where to; the suffix tells the format.
    values : array of the shape of the numbers
        The new ones.
    changed : boolean array of that shape, optional
        The cells to write: others stay as they are, to the letter where the format is the same. None for all, in full
        precision.
    """
    form = form_for(path, table.form)
    if form.is_array:
        old = table.values
        kept = old if changed is None or not changed.any() else None
        numbers = values if changed is None else kept if kept is not None else np.where(changed, values, old)
        whole = changed is not None and old.dtype.kind in "iu"
        _write_array(path, form, numbers.astype(old.dtype) if whole else numbers)
        return
    frame = _frame(table, values, changed, form)
    write_frame(frame, path, form, header=table._header, blank=table._blank, index=table._index)


def write_rows(path: Path, form: Form, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of text and numbers as a table of the same form; text that a spreadsheet would run is disarmed."""
    pandas = require("pandas", "table")
    safe = {
        name: [escape_formula(cell) if isinstance(cell, str) else cell for cell in cells]
        for name, cells in columns.items()
    }
    frame = pandas.DataFrame(safe)
    if form.is_text:
        for name in frame.columns:
            frame[name] = [
                cell if isinstance(cell, str) else format_number(cell, None, form.decimal) for cell in safe[name]
            ]
    write_frame(frame, path, form)


def escape_formula(cell: str) -> str:
    """The text with an apostrophe before it, if a spreadsheet would take it for a formula.

    Examples
    --------
    >>> escape_formula("=1+1"), escape_formula("-5"), escape_formula("north")
    ("'=1+1", '-5', 'north')
    """
    if not cell.startswith(_RUN):
        return cell
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return f"'{cell}"
    return cell


def write_frame(
    frame: Any, path: Path, form: Form, *, header: bool = True, blank: bool = False, index: bool = False
) -> None:
    """Write a data frame of text, or of typed columns, in a form."""
    suffix = form.suffix.removesuffix(".gz")
    ways: dict[str, Callable[[], bytes]] = {
        **dict.fromkeys(TEXTS, lambda: _text(frame, form, header=header, blank=blank)),
        **dict.fromkeys(BOOKS, lambda: _book(frame, form, header=header, blank=blank)),
        **dict.fromkeys(PARQUETS, lambda: _parquet(frame, index=index)),
    }
    content = ways[suffix]()
    with store.write_atomically(path) as temporary:
        temporary.write_bytes(content)


def _frame(table: NamedTable, values: AnyArray, changed: AnyArray | None, form: Form) -> Any:
    pandas = require("pandas", "table")
    made = table._frame is None
    frame = pandas.DataFrame(table.values, columns=list(table.columns)) if made else table._frame.copy()
    to_the_letter = not made and changed is not None and form.is_text and table.form.is_text
    for place, name in enumerate(table.columns):
        marked = None if changed is None else changed[:, place]
        if to_the_letter and marked is not None:
            if marked.any():
                cells = frame[name].to_numpy(object, copy=True)
                like = table._columns[name].like
                cells[marked] = [format_number(value, like, form.decimal) for value in values[marked, place]]
                frame[name] = pandas.Series(cells, index=frame.index, dtype=object)
            continue
        numbers = values[:, place] if marked is None else np.where(marked, values[:, place], table.values[:, place])
        if marked is not None and not marked.any() and frame[name].dtype.kind in "iuf":
            continue
        frame[name] = _typed(numbers, whole=marked is not None and bool(table.whole[place]), index=frame.index)
    if form.is_text and not to_the_letter:
        frame = _as_text(frame, form.decimal)
    elif form.suffix in PARQUETS:
        for name in frame.columns:
            if frame[name].dtype == object:
                frame[name] = _of_one_type(frame[name])
    return frame


def _typed(numbers: AnyArray, *, whole: bool, index: Any) -> Any:
    """A column of numbers: whole ones as integers, with gaps if need be."""
    pandas = require("pandas", "table")
    if not whole or np.nanmax(np.abs(numbers), initial=0.0) > _EXACT:
        return pandas.Series(np.asarray(numbers, np.float64), index=index)
    rounded = np.rint(np.asarray(numbers, np.float64))
    if np.isnan(rounded).any():
        return pandas.Series(rounded, index=index).astype("Int64")
    return pandas.Series(rounded.astype(np.int64), index=index)


def _of_one_type(cells: Any) -> Any:
    kinds = {type(cell) for cell in cells if cell is not None and cell == cell}
    if len(kinds) <= 1 and kinds != {int} and kinds != {float}:
        return cells
    return cells.map(lambda cell: None if cell is None or cell != cell else str(cell))


def _as_text(frame: Any, decimal: str) -> Any:
    def text(cell: Any) -> str:
        if is_missing_object(cell):
            return ""
        if isinstance(cell, float | np.floating):
            return repr(float(cell)).replace(".", decimal)
        return cell if isinstance(cell, str) else str(cell).removesuffix(" 00:00:00")

    return frame.astype(object).map(text)


def _text(frame: Any, form: Form, *, header: bool, blank: bool) -> bytes:
    names = ["" if blank and place == 0 else name for place, name in enumerate(frame.columns)]
    delimiter = form.delimiter if len(form.delimiter) == 1 else " "
    text = frame.to_csv(
        sep=delimiter, index=False, header=names if header else False, lineterminator=form.line_end, na_rep=""
    )
    content = text.encode(form.encoding, errors="replace")
    return gzip.compress(content, mtime=0) if form.suffix.endswith(".gz") else content


def _book(frame: Any, form: Form, *, header: bool, blank: bool) -> bytes:
    """An Excel file; what is text stays text, also where it looks like a formula."""
    pandas = require("pandas", "table")
    require("openpyxl", "table")
    for name in frame.columns:
        if getattr(frame[name].dtype, "tz", None) is not None:
            frame[name] = frame[name].dt.tz_localize(None)
    buffer = BytesIO()
    frame = frame.map(_for_excel) if any(frame[name].dtype.kind not in "biuf" for name in frame.columns) else frame
    names = ["" if blank and place == 0 else _for_excel(name) for place, name in enumerate(frame.columns)]
    with pandas.ExcelWriter(buffer, engine="openpyxl") as book:
        frame.to_excel(book, sheet_name=form.sheet, index=False, header=names if header else False)
        for line in book.sheets[form.sheet].iter_rows():
            for cell in line:
                if cell.data_type == "f":
                    cell.data_type = "s"
    return buffer.getvalue()


def _for_excel(cell: Any) -> Any:
    r"""The cell, with control characters written as Excel files write them: _x0007_ for a bell.

    Examples
    --------
    >>> _for_excel("north"), _for_excel("a\x07b"), _for_excel(3)
    ('north', 'a_x0007_b', 3)
    """
    return _CONTROL.sub(lambda found: f"_x{ord(found[0]):04X}_", cell) if isinstance(cell, str) else cell


def _parquet(frame: Any, *, index: bool) -> bytes:
    require("pyarrow", "table")
    buffer = BytesIO()
    frame.to_parquet(buffer, engine="pyarrow", index=index)
    return buffer.getvalue()


def _write_array(path: Path, form: Form, numbers: AnyArray) -> None:
    with store.write_atomically(path) as temporary:
        if form.suffix == ARRAYS[0]:
            np.save(temporary, numbers, allow_pickle=False)
        else:
            arrays: dict[str, Any] = {form.array: numbers}
            np.savez_compressed(temporary, **arrays)
