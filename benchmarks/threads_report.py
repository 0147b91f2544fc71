"""Comparison "threads" in the report."""

from typing import Any

from compare_threads import DEFAULT, PINNED
from tables import as_table

Results = dict[str, Any]

NOTES = """\
Time on the wall with no variable of the environment set, over that with OMP_NUM_THREADS=1: two processes that do every
task in turns, medians over the rounds. *Busy*: with a process in an endless loop on each of the {cores} cores.
"""


def threads(comparison: Results) -> list[str]:
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
