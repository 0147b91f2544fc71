"""Comparison "tables" in the report."""

from collections.abc import Iterator
from typing import Any

from ..shared.bar import Bar
from ..shared.tables import as_table, numbers
from .compare import ROWS

PLACE = 65
NOTES = """\
A text file of {n} rows and {m} columns of numbers with four decimals, read by `apps.tables.read_table`, which finds out
what stands between cells, the decimal mark, the header, dates and row names, and keeps every cell to write it back to
the letter; and by `pandas.read_csv`, which is told the delimiter and the decimal mark. CPU times, {rounds} rounds in
turns, medians of the ratios within a round.
"""
LIMITS = {"plain": 8.0, "European, with dates": 15.0}
"""At most this many times the CPU time of pandas."""


def section(comparison: dict[str, Any]) -> list[str]:
    head = ("file", "times pandas", "ms", "difference")
    rows = [(row["name"], *numbers(row, times_pandas=".1f", ms=".0f", difference=".0e")) for row in comparison["rows"]]
    notes = NOTES.format(n=comparison["n"], m=comparison["m"], rounds=comparison["rounds"])
    return ["## Tables: text files read", "", notes, *as_table(head, rows)]


def bars(comparison: dict[str, Any]) -> Iterator[Bar]:
    if comparison["n"] != ROWS:
        return
    for row in comparison["rows"]:
        ratio, limit = row["times_pandas"], LIMITS[row["name"]]
        yield Bar(
            f"tables, {row['name']}: CPU time of read_csv", f"≤ {limit:g} times", f"{ratio:.1f} times", ratio <= limit
        )
