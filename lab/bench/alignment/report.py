"""Comparison "alignment" in the report."""

from collections.abc import Iterator
from typing import Any

from ..shared.bar import Bar
from ..shared.tables import as_table
from .compare import ECC, OURS, RASL, SEARCH

Results = dict[str, Any]

PLACE = 82
NOTES = """\
{test} drawn faces shifted by up to 3 pixels, in a frame of {height} x {width}, found with a model of {train} others.
CPU time of one thread for each face, methods in turns, medians of {rounds} rounds; errors against the shift, each by
its own answer for the face at rest. `Aligner.align` also cuts out the frame and takes it apart exactly. Real
faces: `python -m lab alignment`.
"""


def section(comparison: Results) -> list[str]:
    height, width = comparison["shape"]
    facts = {name: comparison[name] for name in ("train", "test", "rounds")}
    rows = [
        (name, row["package"], f"{1e3 * row['cpu']:.3f}", f"{row['error']:.4f}")
        for name, row in comparison["rows"].items()
    ]
    head = ("method", "package", "ms a face", "mean error, px")
    return [
        "## Alignment: a face found again",
        "",
        NOTES.format(**facts, height=height, width=width),
        *as_table(head, rows),
    ]


def bars(comparison: Results) -> Iterator[Bar]:
    rows = comparison["rows"]
    times = rows[RASL]["cpu"] / rows[OURS]["cpu"]
    yield Bar("aligning a new face, times faster than plain RASL", ">= 20", f"{times:.0f}", times >= 20)
    if ECC in rows:
        share = rows[SEARCH]["cpu"] / rows[ECC]["cpu"]
        yield Bar("time of the search over that of ECC", "<= 1", f"{share:.2f}", share <= 1)
