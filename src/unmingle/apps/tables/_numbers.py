"""Numbers as people write them: decimal commas, thousands marks, percent signs, and words for what is missing."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._types import Float64Array
from ..._validation import is_installed, require

_ERRORS = frozenset({"#n/a", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!"})
MISSING = frozenset(
    {*_ERRORS, "", "na", "n/a", "n.a.", "nan", "null", "none", "missing", "-", "--", "?", "<na>", "nat"}
)
"""How a missing cell may be written, in small letters."""
_GROUPS = re.compile(r"[+-]?\d{1,3}(?:([.,' \u00a0\u202f\u2019])\d{3})(?:\1\d{3})*(?:[.,]\d+)?")
_DECIMAL_COMMA = re.compile(
    r"^[+-]?(?:\d{1,3}(?:\.\d{3})+,\d+|\d*,(?:\d{1,2}|\d{4,})|\d{4,},\d+|0,\d+|\d+,\d+[eE]\S+)$", re.MULTILINE
)
_DECIMAL_POINT = re.compile(
    r"^[+-]?(?:\d{1,3}(?:,\d{3})+\.\d+|\d*\.(?:\d{1,2}|\d{4,})|\d{4,}\.\d+|0\.\d+|\d+\.\d+[eE]\S+)$", re.MULTILINE
)
_EITHER = re.compile(r"^[+-]?[1-9]\d{0,2},\d{3}$", re.MULTILINE)
_CURRENCY = r"(?:[$€£¥₹₽₩]|USD|EUR|GBP|CHF|JPY)"
_MONEY = re.compile(rf"[-+(]?\s*{_CURRENCY}\s*[-+]?[\d.,]|[-+(]?\d[\d.,\s]*{_CURRENCY}\)?\s*$")


@dataclass(frozen=True, eq=False)
class ParsedColumn:
    """A column of text, read as numbers."""

    values: Float64Array
    """NaN where missing or no number."""
    odd: list[int]
    """Places of cells that are neither missing nor numbers."""
    whole: bool
    """Whether all numbers are written as whole ones."""
    percent: bool
    """Whether numbers have percent signs."""
    cells: Sequence[str]
    """The text."""
    decimal: str
    """The decimal mark."""

    @cached_property
    def decimals(self) -> int | None:
        """Most decimals; None where some numbers have exponents."""
        known = ~np.isnan(self.values)
        texts = [plain(cell, self.decimal) for cell in np.asarray(self.cells, object)[known]]
        if any("e" in text or "E" in text for text in texts):
            return None
        return max((len(text.partition(".")[2]) for text in texts), default=0)


def is_missing(cell: str) -> bool:
    """Whether a cell is one of the words for nothing."""
    return cell.strip().lower() in MISSING


def is_money(cell: str) -> bool:
    """Whether a cell is an amount of money, with the sign of its currency."""
    return _MONEY.match(cell.strip()) is not None


def decimal_mark(cells: Iterable[str], otherwise: str = ".") -> tuple[str, str | None]:
    """Tell whether numbers have decimal points or commas.

    Parameters
    ----------
    cells : iterable of str
        Cells, numbers or not.
    otherwise : str
        What a comma is where 1,234 could be either: "," for a decimal comma, "." for thousands.

    Returns
    -------
    mark : "." or ","
    doubtful : str or None
        A cell that could be read either way, if nothing else decided.

    Examples
    --------
    >>> decimal_mark(["1.234,5", "7"]), decimal_mark(["1,234.5"]), decimal_mark(["1,234"])
    ((',', None), ('.', None), ('.', '1,234'))
    """
    cells = list(cells)
    if "," not in "".join(cells):
        return ".", None
    texts = [cell.strip().rstrip("% ") for cell in cells if "," in cell or "." in cell]
    lines = "\n".join(text for text in texts if "\n" not in text)
    commas, points = len(_DECIMAL_COMMA.findall(lines)), len(_DECIMAL_POINT.findall(lines))
    if commas != points:
        return ("," if commas > points else "."), None
    doubtful = _EITHER.search(lines)
    return (".", None) if doubtful is None else (otherwise, doubtful[0])


def plain(cell: str, decimal: str) -> str:
    """The number as Python reads it: without percent sign and thousands marks, with a decimal point."""
    text = cell.strip().removesuffix("%").rstrip().replace("\N{MINUS SIGN}", "-")
    grouped = _GROUPS.fullmatch(text)
    if grouped is not None and grouped[1] != decimal:
        text = text.replace(grouped[1], "")
    elif decimal == "," and "." in text:
        return "no number"
    return text.replace(",", ".") if decimal == "," else text


def parse_numbers(cells: Sequence[str], decimal: str = ".") -> ParsedColumn:
    """Read a column, cell by cell, by all rules.

    Examples
    --------
    >>> parse_numbers(["1,5", "", "2 000", "x"], ",").values.tolist()
    [1.5, nan, 2000.0, nan]
    """
    values = np.full(len(cells), np.nan)
    odd: list[int] = []
    whole, percent = True, 0
    for place, cell in enumerate(cells):
        if is_missing(cell):
            continue
        text = plain(cell, decimal)
        number = _number(text)
        if number is None:
            odd.append(place)
            continue
        values[place] = number
        percent += "%" in cell
        whole = whole and text.lstrip("+-").isdigit()
    known = int(np.count_nonzero(~np.isnan(values)))
    return ParsedColumn(values, odd, whole and known > 0, 2 * percent > known, cells, decimal)


def parse_plain_numbers(cells: Any, decimal: str = ".") -> ParsedColumn | None:
    """Read a column of text at once if every cell is empty or a plain number; the answer is that of `parse_numbers`.

    Parameters
    ----------
    cells : Series
        Text. Where pyarrow is installed, words for missing cells count as empty, too.
    decimal : str
        The decimal mark.

    Returns
    -------
    ParsedColumn or None
        None where a cell is something else, such as a number with thousands marks.
    """
    if not len(cells):
        return None
    values, unlike_whole = (_cast_by_pyarrow if is_installed("pyarrow") else _cast_by_numpy)(cells, decimal)
    if values is None:
        return None
    known = values[~np.isnan(values)]
    whole = len(known) > 0 and bool((known == np.rint(known)).all()) and not unlike_whole()
    return ParsedColumn(values, [], whole, False, cells, decimal)


def _cast_by_pyarrow(cells: Any, decimal: str) -> tuple[Float64Array | None, Callable[[], bool]]:
    """Numbers of plain text, and what tells whether any is written with a point or an exponent."""
    pyarrow = require("pyarrow", "table")
    compute = require("pyarrow.compute", "table")
    text = compute.ascii_lower(compute.ascii_trim_whitespace(pyarrow.array(cells)))
    missing = compute.is_in(text, value_set=pyarrow.array(sorted(MISSING), text.type))
    text = compute.if_else(missing, None, text)
    if decimal == ",":
        if compute.any(compute.match_substring(text, ".")).as_py():
            return None, bool
        text = compute.replace_substring(text, ",", ".")
    try:
        values = compute.cast(text, pyarrow.float64()).to_numpy(zero_copy_only=False)
    except pyarrow.ArrowInvalid:
        return None, bool
    if np.count_nonzero(np.isfinite(values)) != len(values) - (compute.sum(missing).as_py() or 0):
        return None, bool
    return values, lambda: bool(compute.any(compute.match_substring_regex(text, "[.e]")).as_py())


def _cast_by_numpy(cells: Any, decimal: str) -> tuple[Float64Array | None, Callable[[], bool]]:
    """The same by the `float` of Python, for text without words for missing cells."""
    text = cells.to_numpy(object)
    lines = "\n".join(text)
    if "_" in lines or (decimal == "," and "." in lines):
        return None, bool
    if decimal == ",":
        text = np.array([cell.replace(",", ".") for cell in text], object)
    empty = text == ""
    try:
        values = np.where(empty, "nan", text).astype(np.float64)
    except ValueError:
        return None, bool
    if np.count_nonzero(np.isfinite(values)) != np.count_nonzero(~empty):
        return None, bool
    return values, lambda: any(mark in lines for mark in (decimal, "e", "E"))


def _number(text: str) -> float | None:
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def format_number(value: float, like: ParsedColumn | None, decimal: str = ".") -> str:
    """Write a number as the others of its column are written.

    Parameters
    ----------
    value : float
        NaN for an empty cell.
    like : ParsedColumn or None
        The column; None for as many digits as the number has.
    decimal : str
        The decimal mark.
    """
    if np.isnan(value):
        return ""
    if like is not None and like.whole:
        text = str(round(value))
    elif like is None or like.decimals is None:
        text = repr(float(value))
    else:
        text = f"{value:.{like.decimals}f}"
    return text.replace(".", decimal) + ("%" if like is not None and like.percent else "")
