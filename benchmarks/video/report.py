"""Comparison "video" in the report."""

from collections.abc import Iterator
from typing import Any

from .._shared.bar import Bar
from .._shared.tables import as_table
from .compare import OURS, OURS_SUBSET, REFERENCE, SIZES
from .memory import CHECKPOINTS

Results = dict[str, Any]

PLACE = 80
NOTES = """\
`Stream.push` from frame to mask, background and regions, with all learning and cleaning, against `apply` of OpenCV
{opencv} at its defaults, whose masks are left as they are. Grey frames of {source}, brought to each size before the
clock runs. Blocks of frames in turns; CPU time, the mean over all frames after the first {start}; medians over the
rounds. *Times {reference}*: its CPU time over that of the contender in the same round.
"""


def section(comparison: Results) -> list[str]:
    lines = ["## Video: background, foreground and mask of every frame", ""]
    if "skipped" in comparison:
        return [*lines, f"Speed not measured: {comparison['skipped']}.", "", *_memory(comparison["memory"])]
    facts = {name: comparison[name] for name in ("opencv", "source", "start")}
    lines += [NOTES.format(**facts, reference=REFERENCE)]
    head = ("size", "method", "ms a frame", "frames/s", f"times {REFERENCE}", "frames", "rounds")
    rows = [
        (
            table["size"],
            row["contender"],
            f"{1000 * row['cpu']:.3f}",
            f"{1 / row['cpu']:.0f}",
            f"{row['ratio']:.2f}",
            str(table["frames"]),
            str(table["rounds"]),
        )
        for table in comparison["tables"]
        for row in table["rows"]
    ]
    return [*lines, *as_table(head, rows), "", *_memory(comparison["memory"])]


def _memory(part: Results) -> list[str]:
    size = f"{part['width']}x{part['height']}"
    lines = [f"### Memory over time: grey frames of {size}, {part['components']} components", ""]
    if part["peaks"] is None:
        return [*lines, "Not measured."]
    baseline = part["baseline"]
    note = "Resident memory of a fresh process that pushes one frame after the other. After imports, compilation and "
    note += f"the making of frames {baseline / 2**20:.1f} MiB were resident. "
    note += f"1.5 m (2q + 6) floats are {part['bar'] / 2**20:.1f} MiB."
    rows = [
        (f"{n}", f"{(peak - baseline) / 2**20:.2f}", f"{(now - baseline) / 2**20:.2f}")
        for n, peak, now in zip(part["checkpoints"], part["peaks"], part["resident"], strict=True)
    ]
    return [*lines, note, "", *as_table(("frames", "peak above the baseline, MiB", "then resident, MiB"), rows)]


def bars(comparison: Results) -> Iterator[Bar]:
    """Set for the full sizes; a quick run has other counts of frames."""
    tables = {table["size"]: table for table in comparison.get("tables", ())}
    for size, wanted in zip(SIZES, (2.0, 2.0, 1.5), strict=True):
        table = tables.get(size.label, {})
        if table.get("frames") != size.frames:
            continue
        rows = {row["contender"]: row["ratio"] for row in table["rows"]}
        for name, least in ((OURS, wanted), (OURS_SUBSET, 3.0)):
            aim = ", aim 5" if name == OURS_SUBSET else ""
            what = f"video, {size.label}: {name} against {REFERENCE}, grey"
            yield Bar(what, f"≥ {least:g} times{aim}", f"{rows[name]:.2f} times", rows[name] >= least)
    yield from _memory_bars(comparison["memory"])


def _memory_bars(memory: Results) -> Iterator[Bar]:
    if not memory["peaks"] or tuple(memory["checkpoints"]) != CHECKPOINTS:
        return
    size, least, most = f"{memory['width']}x{memory['height']}", *CHECKPOINTS
    above = memory["peaks"][-1] - memory["baseline"]
    wanted = f"≤ 1.5 m (2q + 6) floats, {memory['bar'] / 2**20:.1f} MiB"
    yield Bar(f"video: peak memory, {size}, {most} frames", wanted, f"{above / 2**20:.1f} MiB", above <= memory["bar"])
    growth = memory["resident"][-1] / memory["resident"][0] - 1
    what = f"video: resident memory after {most} frames against {least}"
    yield Bar(what, "≤ 1 % more", f"{growth:.2%} more", growth <= 0.01)
