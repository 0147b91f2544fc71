"""Comparison "threads" in the report."""

from collections.abc import Iterator
from typing import Any

from ..shared.bar import Bar
from ..shared.tables import as_table
from .compare import DEFAULT, PINNED

Results = dict[str, Any]

PLACE = 90
NOTES = """\
Time on the wall with no variable of the environment set, over that with OMP_NUM_THREADS=1: two processes that do every
task in turns, medians over the rounds. *Busy*: with a process in an endless loop on each of the {cores} cores.
"""


def section(comparison: Results) -> list[str]:
    lines = ["## Threads: the defaults against one thread", "", NOTES.format(**comparison)]
    head = ("data", "task", "state", "default, s", "one thread, s", "default / one thread", "rounds")
    rows = [
        (
            row["what"],
            row["task"],
            state,
            f"{row['seconds'][DEFAULT]:.4f}",
            f"{row['seconds'][PINNED]:.4f}",
            f"{row['ratio']:.2f}",
            str(row["rounds"]),
        )
        for state, rows in comparison["rows"].items()
        for row in rows
    ]
    return [*lines, *as_table(head, rows)]


def bars(comparison: Results) -> Iterator[Bar]:
    if comparison["quick"]:
        return
    for state, most in (("idle", 1.1), ("busy", 1.5)):
        worst = max(comparison["rows"][state], key=lambda row: row["ratio"])
        reached = f"{worst['ratio']:.2f} times at worst ({worst['what']}, {worst['task']})"
        what = f"threads, machine {state}: default against OMP_NUM_THREADS=1, time on the wall"
        yield Bar(what, f"≤ {most} times", reached, worst["ratio"] <= most)
