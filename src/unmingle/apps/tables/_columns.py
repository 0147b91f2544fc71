"""What the columns of a table are: numbers to work with, or something to carry along."""

import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from ..._types import Float64Array
from ..._validation import require
from ._formats import TableError
from ._numbers import ParsedColumn, decimal_mark, is_missing, is_money, parse_numbers, parse_plain_numbers


@dataclass(frozen=True)
class ColumnRules:
    """From when on a column counts as one of numbers, of dates or of row numbers.

    A stray word in a column of measurements must not make it text, and a short column that happens to count up must not
    be taken for row numbers.
    """

    number_share: float = 0.9
    """A column with at least this share of numbers is one of numbers, and its other cells count as missing; of dates
    likewise."""
    min_running_rows: int = 10
    """A column without a telling name is one of row numbers only if the table has at least this many rows."""
    sample_rows: int = 2000
    """This many cells of each column tell what the decimal mark is."""


RULES = ColumnRules()
_ID = re.compile(
    r"(?:|.*[\W_])(?:id|nr|no\.|num|index|idx|key|row|uuid|serial|customer|patient|subject|user|account|order)\.?"
    r"|(?:id|row|index|key|customer|patient|subject|user|account|order)[\W_].*"
)
_DATE = re.compile(
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})(?:[T ].*)?|\d{1,2}:\d\d(?::\d\d.*)?"
)
_FIRST_OF_DATE = re.compile(r"\d+")


@dataclass(frozen=True, eq=False)
class TableColumn:
    """A column by its name and what it is."""

    name: str
    kind: Literal["numbers", "text", "dates", "ids", "empty", "skipped"]
    values: Float64Array | None = None
    """Numbers; of dates, seconds."""
    whole: bool = False
    like: ParsedColumn | None = None
    """How numbers are written, where they are text."""
    notes: list[str] = field(default_factory=list)


def classify_columns(
    frame: Any,
    places: Sequence[str],
    *,
    decimal: str,
    text: bool = False,
    use: Collection[str] = (),
    skip: Collection[str] = (),
) -> Iterator[TableColumn]:
    """Tell of each column of a data frame what it is.

    Parameters
    ----------
    frame : DataFrame
        Its columns hold text, Python objects or numbers.
    places : sequence of str
        What to call the rows in sentences.
    decimal : str
        The decimal mark of numbers that are text.
    text : bool
        Whether all cells are text.
    use, skip : collections of str
        Columns that are numbers, or are to be skipped, whatever they look like.
    """
    for place, name in enumerate(frame.columns):
        cells, kind = frame[name], frame[name].dtype.kind
        if kind in "iuf":
            column = _of_numbers(name, cells.to_numpy(np.float64, na_value=np.nan), whole=kind != "f")
            column = replace(column, kind="numbers") if name in use else column
        elif kind in "mM":
            column = TableColumn(name, "dates", _seconds(cells))
        elif kind == "b":
            column = TableColumn(name, "text")
        elif text and (read := parse_plain_numbers(cells, decimal)) is not None:
            column = _of_parsed(name, read, wanted=name in use)
        else:
            column = _of_objects(name, cells.to_numpy(object), places, decimal, wanted=name in use)
        if name in skip:
            column = TableColumn(name, column.kind if column.kind == "dates" else "skipped", column.values)
        elif column.kind == "numbers" and name not in use and _is_id(column, first=place == 0):
            column = TableColumn(name, "ids", column.values)
        yield column


def marks_of(frame: Any, otherwise: str = ".") -> tuple[str, str | None]:
    """The decimal mark in the text of a data frame, and a number that leaves it in doubt; see `decimal_mark`."""
    top = frame.iloc[: RULES.sample_rows]
    texts = (top[name].to_numpy(object) for name in top.columns if top[name].dtype.kind not in "iufbmM")
    return decimal_mark((cell for cells in texts for cell in cells if isinstance(cell, str)), otherwise)


def _of_numbers(name: str, values: Float64Array, *, whole: bool, like: ParsedColumn | None = None) -> TableColumn:
    return TableColumn(name, "empty" if np.isnan(values).all() else "numbers", values, whole, like)


def _of_parsed(name: str, read: ParsedColumn, *, wanted: bool) -> TableColumn:
    """A column of text in which nothing is odd."""
    if wanted and np.isnan(read.values).all():
        return TableColumn(name, "numbers", read.values, like=read)
    return _of_numbers(name, read.values, whole=read.whole, like=read)


def _of_objects(name: str, cells: Sequence[Any], places: Sequence[str], decimal: str, *, wanted: bool) -> TableColumn:
    if all(isinstance(cell, str) for cell in cells):
        return _of_text(name, cells, places, decimal, wanted=wanted)
    present = [cell for cell in cells if not is_missing_object(cell)]
    if not present and wanted:
        return TableColumn(name, "numbers", np.full(len(cells), np.nan))
    if not present:
        return TableColumn(name, "empty")
    if all(isinstance(cell, int | float | np.number) and not isinstance(cell, bool) for cell in present):
        values = np.array([np.nan if is_missing_object(cell) else float(cell) for cell in cells])
        return _of_numbers(name, values, whole=all(isinstance(cell, int | np.integer) for cell in present))
    if all(hasattr(cell, "isoformat") for cell in present):
        return TableColumn(name, "dates", _seconds(require("pandas", "table").Series([str(cell) for cell in cells])))
    if all(isinstance(cell, bool) for cell in present):
        return TableColumn(name, "text")
    texts = ["" if is_missing_object(cell) else _as_text(cell, decimal) for cell in cells]
    return _of_text(name, texts, places, decimal, wanted=wanted)


def _as_text(cell: Any, decimal: str) -> str:
    return str(cell).replace(".", decimal) if isinstance(cell, float) else str(cell)


def is_missing_object(cell: Any) -> bool:
    """Whether a cell of any type is one of the values for nothing."""
    return cell is None or cell is require("pandas", "table").NA or (cell != cell) is True or str(cell) == "NaT"


def _of_text(name: str, cells: Sequence[str], places: Sequence[str], decimal: str, *, wanted: bool) -> TableColumn:
    dates = None if wanted else _dates(cells)  # which are neither numbers nor money
    if dates is not None:
        return TableColumn(name, "dates", dates)
    read = parse_numbers(cells, decimal)
    if not read.odd:
        return _of_parsed(name, read, wanted=wanted)
    known = int(np.count_nonzero(~np.isnan(read.values)))
    first = f"{cells[read.odd[0]].strip()!r} in {places[read.odd[0]]}"
    if sum(is_money(cells[place]) for place in read.odd) * 2 > known + len(read.odd):
        raise TableError(
            f"Column {name!r} holds amounts of money, such as {first}; remove the currency signs, so that it holds "
            "numbers."
        )
    if known < RULES.number_share * (known + len(read.odd)) and not (wanted and known):
        dates = _dates(cells) if wanted else None
        return TableColumn(name, "text") if dates is None else TableColumn(name, "dates", dates)
    few = "one cell that is not a number" if len(read.odd) == 1 else f"{len(read.odd)} cells that are not numbers"
    example = first if len(read.odd) == 1 else f"for example {first}"
    note = f"Column {name!r} has {few}, {example}; {'it counts' if len(read.odd) == 1 else 'they count'} as missing."
    return TableColumn(name, "numbers", read.values, read.whole, read, [note])


def _dates(cells: Sequence[str]) -> Float64Array | None:
    """Seconds, if nearly all cells are dates or times."""
    first = next((cell for cell in cells if not is_missing(cell)), "")
    if not _DATE.fullmatch(first.strip()):
        return None
    present = [cell.strip() for cell in cells if not is_missing(cell)]
    if not all(_DATE.fullmatch(cell) for cell in present):
        return None
    firsts = [int(found[0]) for found in map(_FIRST_OF_DATE.match, present) if found is not None]
    pandas = require("pandas", "table")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        day_first = 12 < max(firsts) <= 31
        found = pandas.to_datetime(pandas.Series(list(cells)), errors="coerce", dayfirst=day_first, utc=True)
    return None if found.notna().sum() < RULES.number_share * len(present) else _seconds(found)


def _seconds(dates: Any) -> Float64Array:
    """Seconds of dates, from 1970, or of differences of times; NaN where there is none."""
    pandas = require("pandas", "table")
    if dates.dtype.kind == "m":
        return np.asarray(dates.dt.total_seconds(), np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stamps = pandas.DatetimeIndex(pandas.to_datetime(dates, errors="coerce", utc=True))
    seconds = stamps.tz_localize(None).to_numpy("datetime64[ms]").astype(np.int64) / 1000.0
    return np.where(stamps.isna(), np.nan, seconds)


def _is_id(column: TableColumn, *, first: bool) -> bool:
    """Whether whole numbers, all different, number the rows instead of measuring something."""
    values = column.values
    if values is None or not column.whole or np.isnan(values).any() or len(np.unique(values)) < len(values):
        return False
    if len(values) > 1 and _ID.fullmatch(column.name.strip().lower()):
        return True
    if len(values) < RULES.min_running_rows:
        return False
    steps = np.diff(values)
    return bool(np.all(steps == 1)) or (first and bool(np.all(steps > 0)))


def different_names(names: Iterable[Any]) -> tuple[list[str], list[str]]:
    """Names that are all different and not blank, and those that were there more than once.

    Examples
    --------
    >>> different_names(["a", "", "a"])
    (['a', 'column 2', 'a (2)'], ['a'])
    """
    given = [" ".join(str(name).split()) for name in names]
    taken: set[str] = set()
    different: list[str] = []
    for place, name in enumerate(given, start=1):
        base = name or f"column {place}"
        count, chosen = 1, base
        while chosen in taken or (count > 1 and chosen in given):
            count += 1
            chosen = f"{base} ({count})"
        taken.add(chosen)
        different.append(chosen)
    return different, sorted({name for name in given if name and given.count(name) > 1})
