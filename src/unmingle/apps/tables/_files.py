"""Tables of numbers in files: read with the names of their rows and columns, written back in the same format."""

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import store
from ..._numpy_files import (
    ArrayHeader,
    DamagedError,
    check_memory,
    npy_header,
    npz_header,
    npz_names,
    read_npy,
    read_npz,
)
from ..._validation import first_negative

Array = NDArray[Any]

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none"})
KINDS_OF_NUMBERS = "biuf"


class TableError(ValueError):
    """A file that holds no usable table, with the reason in one sentence."""


@dataclass(frozen=True, eq=False)
class NamedTable:
    """Numbers with the names of their rows and columns.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns)
        The numbers; NaN where a cell is missing.
    rows, columns : sequence of str
        Names; where the file has none, lines of a .csv file, or positions, counted from 0, in an array.
    write : callable
        `write(path, values)` writes other values in the format, and under the names, of the file that was read.
    header_is_numeric : bool
        The names of the columns are numbers: perhaps the file has no header.
    """

    values: Array
    rows: Sequence[str]
    columns: Sequence[str]
    write: Callable[[Path, Array], None]
    header_is_numeric: bool = False


def read_table(path: str | PathLike[str], *, nonnegative: bool = False) -> NamedTable:
    """Read a table from a .csv file with a header, a .npy file or a .npz file.

    Parameters
    ----------
    path : path
        The file.
    nonnegative : bool
        Whether negative numbers are refused.

    Returns
    -------
    NamedTable
        At least one row and two columns; every number is finite or missing.

    Raises
    ------
    TableError
        The file is missing, damaged, or holds something else than a table of numbers.
    """
    path = Path(path)
    readers = {".csv": _read_csv, ".npy": _read_npy, ".npz": _read_npz}
    if not path.exists():
        raise TableError(f"{path} does not exist.")
    if not path.is_file():
        raise TableError(f"{path} is not a file; give the path of a .csv, .npy or .npz file.")
    if path.suffix.lower() not in readers:
        raise TableError(f"{path} is none of .csv, .npy and .npz; convert it to one of these.")
    if path.stat().st_size == 0:
        raise TableError(f"{path} is empty.")
    table = readers[path.suffix.lower()](path)
    _check_values(path, table)
    if nonnegative:
        _refuse_negative(path, table)
    return table


def _check_shape(path: Path, n_rows: int, n_columns: int) -> None:
    if n_rows == 0:
        raise TableError(f"{path} has no rows of numbers.")
    if n_columns < 2:
        raise TableError(f"{path} has too few columns of numbers: expected at least 2; got {n_columns}.")


def _check_values(path: Path, table: NamedTable) -> None:
    _check_shape(path, *table.values.shape)
    infinite = np.argwhere(np.isinf(table.values))
    if infinite.size:
        row, column = infinite[0]
        raise TableError(
            f"{path} holds an infinite number in row {table.rows[row]!r}, column {table.columns[column]!r}; "
            "leave the cell empty (or NaN) if its value is unknown."
        )


def _refuse_negative(path: Path, table: NamedTable) -> None:
    place = first_negative(table.values)
    if place is not None:
        row, column = table.rows[place[0]], table.columns[place[1]]
        raise TableError(
            f"{path} holds {table.values[place]:g} in row {row!r}, column {column!r}, but nonnegative parts need "
            "numbers of at least 0; make it 0, or leave the cell empty (or NaN) if its value is unknown."
        )


def _read_csv(path: Path) -> NamedTable:
    text = _text(path)
    header_line = next(line for line in text.splitlines() if line.strip())
    delimiter = max(",;\t", key=header_line.count)
    lines = _csv_lines(path, text, delimiter)
    header = [name.strip() for name in next(lines)[1]]
    places, first, values = [], [], []
    for number, cells in lines:
        if len(cells) != len(header):
            raise TableError(f"{path}, line {number}: expected {len(header)} cells as in the header; got {len(cells)}.")
        places.append(f"line {number}")
        first.append(cells[0])
        values.append(_numbers(path, number, header[1:], cells[1:]))
    numbers = np.array(values, dtype=np.float64).reshape(len(values), len(header) - 1)
    leading = _leading_numbers(first) if header[0] else None
    if leading is None:
        corner, rows, columns = [header[0]], first, header[1:]
    else:
        corner, rows, columns = [], places, header
        numbers = np.column_stack([leading, numbers])

    def write(target: Path, values: Array) -> None:
        with store.write_atomically(target) as aside, aside.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
            writer.writerow([*corner, *columns])
            for name, line in zip(rows, values, strict=True):
                writer.writerow([name, *line.tolist()] if corner else line.tolist())

    return NamedTable(numbers, rows, columns, write, header_is_numeric=all(map(_is_number, header)))


def _text(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise TableError(f"{path} is not UTF-8 text; save it as CSV in UTF-8.") from error
    if not text.strip():
        raise TableError(f"{path} is empty.")
    return text


def _csv_lines(path: Path, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of every line that is not blank."""
    reader = csv.reader(StringIO(text), delimiter=delimiter)
    try:
        for cells in reader:
            if len(cells) > 1 or "".join(cells).strip():
                yield reader.line_num, cells
    except csv.Error as error:
        raise TableError(f"{path}, line {reader.line_num}: {error}.") from error


def _numbers(path: Path, line: int, columns: Sequence[str], cells: Sequence[str]) -> list[float]:
    try:
        return [float(cell) for cell in cells]
    except ValueError:
        return [_number(path, line, column, cell) for column, cell in zip(columns, cells, strict=True)]


def _number(path: Path, line: int, column: str, cell: str) -> float:
    try:
        return float("nan") if cell.strip().lower() in MISSING else float(cell)
    except ValueError:
        raise TableError(
            f"{path}, line {line}: expected a number in column {column!r}; got {cell!r}. "
            "Only the first column may hold text (the names of the rows): remove the others or turn them into numbers."
        ) from None


def _leading_numbers(cells: Sequence[str]) -> list[float] | None:
    """Return the first column as numbers, or None if it holds names."""
    try:
        return [float("nan") if cell.strip().lower() in MISSING else float(cell) for cell in cells]
    except ValueError:
        return None


def _is_number(cell: str) -> bool:
    return bool(cell) and _leading_numbers([cell]) is not None and cell.lower() not in MISSING


def _positions(count: int) -> Sequence[str]:
    return [str(position) for position in range(count)]


def _read_npy(path: Path) -> NamedTable:
    try:
        _check_header(path, npy_header(path))
        values = read_npy(path)
    except DamagedError:
        raise TableError(_unreadable(path, "one 2-D array of numbers saved with numpy.save")) from None

    def write(target: Path, numbers: Array) -> None:
        with store.write_atomically(target) as aside:
            np.save(aside, numbers, allow_pickle=False)

    return _array_table(values, write)


def _read_npz(path: Path) -> NamedTable:
    try:
        name = _array_name(path, npz_names(path))
        _check_header(path, npz_header(path, name))
        values = read_npz(path, name)
    except DamagedError:
        raise TableError(_unreadable(path, "arrays of numbers saved with numpy.savez")) from None

    def write(target: Path, numbers: Array) -> None:
        with store.write_atomically(target) as aside:
            arrays: dict[str, Any] = {name: numbers}
            np.savez_compressed(aside, **arrays)

    return _array_table(values, write)


def _array_name(path: Path, names: Sequence[str]) -> str:
    if "X" in names:
        return "X"
    if len(names) == 1:
        return names[0]
    found = ", ".join(names[:10]) or "none"
    raise TableError(f"{path}: expected a single array or one named X; got {found}.")


def _unreadable(path: Path, expected: str) -> str:
    return f"{path} is damaged or holds Python objects; expected {expected}."


def _check_header(path: Path, header: ArrayHeader) -> None:
    """Refuse an array that is no table of numbers, or too large for the memory, before it is read."""
    if len(header.shape) != 2:
        raise TableError(
            f"{path} holds an array of shape {header.shape}; expected 2 dimensions, one sample per row: reshape it."
        )
    if header.dtype.kind not in KINDS_OF_NUMBERS:
        raise TableError(f"{path} holds an array of type {header.dtype}; expected real numbers.")
    _check_shape(path, *header.shape)
    check_memory(header)


def _array_table(values: Array, write: Callable[[Path, Array], None]) -> NamedTable:
    return NamedTable(values, _positions(values.shape[0]), _positions(values.shape[1]), write)
