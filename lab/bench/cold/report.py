"""Comparison "cold" in the report."""

from collections.abc import Iterator
from typing import Any

from ..shared.bar import Bar
from ..shared.tables import as_table
from .compare import FILM, FIT

Results = dict[str, Any]

PLACE = 100
NOTES = """\
CPU seconds of a whole process, imports included, one thread, with an empty compile cache (*first*) and with the one
that the first process left (*second*); medians over the rounds.
"""
MOST = 8


def section(comparison: Results) -> list[str]:
    lines = ["## The first call", "", NOTES]
    rows = [(row["task"], f"{row['cold']:.2f}", f"{row['warm']:.2f}", str(row["rounds"])) for row in comparison["rows"]]
    lines += as_table(("task", "first, s", "second, s", "rounds"), rows)
    lines += ["", "What compiling takes, by function, those it calls not included (the slowest round):", ""]
    for row in comparison["rows"]:
        if row["functions"]:
            slowest = sorted(row["functions"].items(), key=lambda item: -item[1])
            total, listed = sum(row["functions"].values()), [f"{name} {taken:.2f}" for name, taken in slowest[:MOST]]
            lines += [f"- {row['task']}: {total:.2f} s for {len(slowest)} functions; {', '.join(listed)}"]
    return lines


def bars(comparison: Results) -> Iterator[Bar]:
    first = {row["task"]: row["cold"] for row in comparison["rows"]}
    for task, most, aim in ((FIT, 4, 2), (FILM, 7, 4)):
        reached = f"{first[task]:.1f} s"
        yield Bar(
            f"first call, nothing compiled: {task}", f"≤ {most} s of CPU, aim {aim}", reached, first[task] <= most
        )
