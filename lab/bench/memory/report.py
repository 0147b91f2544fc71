"""Comparison "memory" in the report."""

from collections.abc import Iterator
from typing import Any

from ..shared.bar import Bar
from ..shared.tables import as_table, number
from .compare import SIZE

Results = dict[str, Any]

PLACE = 40


def section(comparison: Results) -> list[str]:
    rows = [(row["size"], row["contender"], number(row["memory"], ".1f")) for row in comparison["rows"]]
    note = f"Problem (2), noise {comparison['noise']}: {comparison['memory']}. Cut after {comparison['iterations']} "
    note += "iterations with their certificates; until convergence the peak grows a little more, with the rank."
    return ["## Memory", "", note, "", *as_table(("size", "method", "copies of X, X included"), rows)]


def bars(comparison: Results) -> Iterator[Bar]:
    """The bar is set for one size and the solver itself, which comes first."""
    row = next((row for row in comparison["rows"] if row["size"] == SIZE.label), {})
    if row.get("memory") is not None:
        what = f"peak memory of proximal, {row['size']}, float32"
        yield Bar(what, "≤ 6 copies of X", f"{row['memory']:.1f}", row["memory"] <= 6)
