"""Comparison "projection" in the report."""

from collections.abc import Iterator
from typing import Any

from ..shared.bar import Bar
from ..shared.tables import as_table, numbers
from .compare import FRAMES, LEAVING, STAYING

Results = dict[str, Any]

PLACE = 30


def section(comparison: Results) -> list[str]:
    lines = ["## Robust projection (5) of video frames", ""]
    if "skipped" in comparison:
        return [*lines, f"Not run: {comparison['skipped']}."]
    fit = comparison["fit"]
    end = "converged" if fit["converged"] else "stopped without convergence"
    lines += [
        f"{comparison['frames']} frames of Lobby at 88x72, float64, onto the {fit['n_components']} components of "
        f"RobustPCA(5), lam_* = 0.1, lam = 1e-3 ({end} after {fit['n_iter']} iterations, {fit['cpu']:.0f} CPU s). "
        f"Every sample to a relative gap of {comparison['tol']:.0e}. Both methods are compiled, and Algorithm 1 finds "
        "the gap within its pass. *Passes*: over a sample, on average and at most; for Newton, steps.",
        "",
    ]
    rows = [
        (row["contender"], *numbers(row, cpu=".3f", ratio=".1f", passes=".1f", slowest="d", gap=".1e", rounds="d"))
        for row in comparison["rows"]
    ]
    head = ("method", "CPU s", "times Newton's", "passes", "at most", "largest gap", "rounds")
    return [*lines, *as_table(head, rows)]


def bars(comparison: Results) -> Iterator[Bar]:
    if comparison.get("frames") != FRAMES:
        return
    rows = {row["contender"]: row for row in comparison["rows"]}
    for name in (STAYING, LEAVING):
        ratio, gap = rows[name]["ratio"], max(rows[name]["gap"], rows["Newton"]["gap"])
        met = ratio >= 5 and gap <= comparison["tol"]
        yield Bar(f"Newton projection against {name}", "≥ 5 times", f"{ratio:.1f} times", met)
