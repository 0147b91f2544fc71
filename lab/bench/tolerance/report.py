"""Comparison "tolerance" in the report."""

from collections.abc import Iterator
from typing import Any

from ..shared.bar import Bar
from ..shared.tables import as_table

Results = dict[str, Any]

PLACE = 26
NOTES = """\
What an answer is worth that is stopped at a larger gap: in brackets rank and iterations, of the last clip for songs.
Songs: the voice of training clips of MIR-1K, by a Wiener mask from both parts, against the mixture.
"""
LEAST = 0.05
"""dB that somebody could hear, or tell from the noise of an experiment."""


def section(comparison: Results) -> list[str]:
    head = ("figure", "problem", *(f"{tol:.0e}" for tol in comparison["tolerances"]))
    rows = [(row["what"], row["problem"], *_cells(row)) for row in comparison["rows"]]
    left_out = [] if comparison["with_songs"] else ["", "Songs are left out: no folder of data is named."]
    return ["## What a tolerance changes", "", NOTES, *as_table(head, rows), *left_out]


def _cells(row: Results) -> Iterator[str]:
    for value, rank, iterations in zip(row["values"], row["ranks"], row["iterations"], strict=True):
        yield f"{value:.4g} ({rank}, {iterations})"


def bars(comparison: Results) -> Iterator[Bar]:
    for row in comparison["rows"]:
        if row["what"].startswith("NSDR"):
            _, default, fine = row["values"]
            apart = abs(default - fine)
            yield Bar(
                f"NSDR at 1e-4 against 1e-6, {row['problem']}", f"≤ {LEAST} dB apart", f"{apart:.3f}", apart <= LEAST
            )
