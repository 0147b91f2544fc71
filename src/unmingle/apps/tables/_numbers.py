"""Numbers as people write them: decimal commas, thousands marks, percent signs, and words for what is missing."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._types import Float64Array

_ERRORS = frozenset({"#n/a", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!"})
MISSING = _ERRORS | {"", "na", "n/a", "n.a.", "nan", "null", "none", "missing", "-", "--", "?", "<na>", "nat"}
"""How a missing cell may be written, in small letters."""
_GROUPS = re.compile(r"[+-]?\d{1,3}(?:([.,' \u00a0\u202f\u2019])\d{3})(?:\1\d{3})*(?:[.,]\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?(?:\d{1,3}(?:\.\d{3})+,\d+|\d*,(?:\d{1,2}|\d{4,})|\d{4,},\d+|0,\d+|\d+,\d+[eE]\S+)")
_DECIMAL_POINT = re.compile(
    r"[+-]?(?:\d{1,3}(?:,\d{3})+\.\d+|\d*\.(?:\d{1,2}|\d{4,})|\d{4,}\.\d+|0\.\d+|\d+\.\d+[eE]\S+)"
)
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_CURRENCY = r"(?:[$€£¥₹₽₩]|USD|EUR|GBP|CHF|JPY)"
_MONEY = re.compile(rf"[-+(]?\s*{_CURRENCY}\s*[-+]?[\d.,]|[-+(]?\d[\d.,\s]*{_CURRENCY}\)?\s*$")


class Written(NamedTuple):
    """A column of text, read as numbers."""

    values: Float64Array
    """NaN where missing or no number."""
    odd: list[int]
    """Places of cells that are neither missing nor numbers."""
    whole: bool
    """Whether all numbers are written as whole ones."""
    decimals: int | None
    """Most decimals; None where some numbers have exponents."""
    percent: bool
    """Whether numbers have percent signs."""


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
    commas = points = 0
    doubtful = None
    for cell in cells:
        text = cell.strip().rstrip("% ")
        if "," in text or "." in text:
            commas += _DECIMAL_COMMA.fullmatch(text) is not None
            points += _DECIMAL_POINT.fullmatch(text) is not None
            if doubtful is None and _EITHER.fullmatch(text):
                doubtful = text
    if commas != points:
        return ("," if commas > points else "."), None
    return (otherwise if doubtful else "."), doubtful


def plain(cell: str, decimal: str) -> str:
    """The number as Python reads it: without percent sign and thousands marks, with a decimal point."""
    text = cell.strip().removesuffix("%").rstrip().replace("\N{MINUS SIGN}", "-")
    grouped = _GROUPS.fullmatch(text)
    if grouped is not None and grouped[1] != decimal:
        text = text.replace(grouped[1], "")
    elif decimal == "," and "." in text:
        return "no number"
    return text.replace(",", ".") if decimal == "," else text


def numbers(cells: Sequence[str], decimal: str = ".") -> Written:
    """Read a column.

    Examples
    --------
    >>> numbers(["1,5", "", "2 000", "x"], ",").values.tolist()
    [1.5, nan, 2000.0, nan]
    """
    values = np.full(len(cells), np.nan)
    odd: list[int] = []
    whole, percent, decimals, exponent = True, 0, 0, False
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
        if not text.lstrip("+-").isdigit():
            whole = False
            exponent |= "e" in text or "E" in text
            decimals = max(decimals, len(text.partition(".")[2]))
    known = int(np.count_nonzero(~np.isnan(values)))
    return Written(values, odd, whole and known > 0, None if exponent else decimals, 2 * percent > known)


def _number(text: str) -> float | None:
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def written(value: float, like: Any, decimal: str = ".") -> str:
    """Write a number as the others of its column are written.

    Parameters
    ----------
    value : float
        NaN for an empty cell.
    like : Written or None
        The column; None for as many digits as the number has.
    decimal : str
        The decimal mark.
    """
    if np.isnan(value):
        return ""
    if like is None:
        text = repr(float(value))
    elif like.whole:
        text = str(round(value))
    elif like.decimals is None:
        text = repr(float(value))
    else:
        text = f"{value:.{like.decimals}f}"
    return text.replace(".", decimal) + ("%" if like is not None and like.percent else "")
