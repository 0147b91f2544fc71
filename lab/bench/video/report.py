"""Comparison "video" in the report."""

from collections.abc import Iterator
from typing import Any

from ..shared.bar import Bar
from ..shared.tables import as_table
from .compare import COLOUR_REFERENCE, OURS, OURS_COLOUR, OURS_SUBSET, REFERENCE, SIZES
from .memory import CHECKPOINTS

Results = dict[str, Any]

PLACE = 80
NOTES = """\
`Stream.push` from frame to mask, background and regions, with all learning and cleaning, against `apply` of OpenCV
{opencv} at its defaults, whose masks are left as they are. Frames of {source}, brought to each size before the
clock runs: grey, or, for "{colour}", as brightness and half-sized planes of colour; OpenCV gets blue, green and red.
Blocks of frames in turns; CPU time, the mean over all frames after the first {start}; medians over the rounds.
*Times {reference}*: the CPU time of {reference} on frames of the same kind over the contender's in the same round.
*Of grey*: its CPU time over that of "{ours}" on grey frames.
"""
LEAST_GREY, LEAST_SUBSET, LEAST_COLOUR, MOST_OF_GREY = (2.0, 4.66, 2.7), 3.0, (None, 3.0, 2.0), 1.8
"""Times MOG2 that are demanded at each size, and the time that colour may take."""


def section(comparison: Results) -> list[str]:
    lines = ["## Video: background, foreground and mask of every frame", ""]
    if "skipped" in comparison:
        return [*lines, f"Speed not measured: {comparison['skipped']}.", "", *_memory(comparison["memory"])]
    facts = {name: comparison[name] for name in ("opencv", "source", "start")}
    lines += [NOTES.format(**facts, reference=REFERENCE, ours=OURS, colour=OURS_COLOUR)]
    head = ("size", "method", "ms a frame", "frames/s", f"times {REFERENCE}", "of grey", "frames", "rounds")
    rows = [
        (
            table["size"],
            row["contender"],
            f"{1000 * row['cpu']:.3f}",
            f"{1 / row['cpu']:.0f}",
            f"{row['ratio']:.2f}",
            f"{row['grey']:.2f}",
            str(table["frames"]),
            str(table["rounds"]),
        )
        for table in comparison["tables"]
        for row in table["rows"]
    ]
    return [*lines, *as_table(head, rows), "", *_memory(comparison["memory"])]


def _memory(parts: dict[str, Results]) -> list[str]:
    first = parts["grey"]
    size = f"{first['width']}x{first['height']}"
    lines = [f"### Memory over time: frames of {size}, {first['components']} components", ""]
    if any(part["peaks"] is None for part in parts.values()):
        return [*lines, "Not measured."]
    note = "Resident memory of a fresh process that pushes one frame after the other, above what was resident after "
    note += f"imports, compilation and the making of frames. 1.5 m (2q + 6) floats are {first['bar'] / 2**20:.1f} MiB."
    rows = [
        (kind, f"{n}", f"{(peak - part['baseline']) / 2**20:.2f}", f"{(now - part['baseline']) / 2**20:.2f}")
        for kind, part in parts.items()
        for n, peak, now in zip(part["checkpoints"], part["peaks"], part["resident"], strict=True)
    ]
    head = ("frames are", "frames", "peak above the baseline, MiB", "then resident, MiB")
    return [*lines, note, "", *as_table(head, rows)]


def bars(comparison: Results) -> Iterator[Bar]:
    """Set for the full sizes; a quick run has other counts of frames."""
    tables = {table["size"]: table for table in comparison.get("tables", ())}
    for size, least_grey, least_colour in zip(SIZES, LEAST_GREY, LEAST_COLOUR, strict=True):
        table = tables.get(size.label, {})
        if table.get("frames") != size.frames:
            continue
        rows = {row["contender"]: row for row in table["rows"]}
        wanted = [(OURS, REFERENCE, least_grey), (OURS_SUBSET, REFERENCE, LEAST_SUBSET)]
        wanted += [] if least_colour is None else [(OURS_COLOUR, COLOUR_REFERENCE, least_colour)]
        for name, rival, least in wanted:
            ratio = rows[name]["ratio"]
            yield Bar(
                f"video, {size.label}: {name} against {rival}", f"≥ {least:g} times", f"{ratio:.2f}", ratio >= least
            )
        share = rows[OURS_COLOUR]["grey"]
        what = f"video, {size.label}: time of colour against grey"
        yield Bar(what, f"≤ {MOST_OF_GREY:g} times", f"{share:.2f} times", share <= MOST_OF_GREY)
    yield from _memory_bars(comparison["memory"])


def _memory_bars(parts: dict[str, Results]) -> Iterator[Bar]:
    measured = [part["peaks"] and tuple(part["checkpoints"]) == CHECKPOINTS for part in parts.values()]
    if not all(measured):
        return
    above = {}
    for kind, part in parts.items():
        size, least, most = f"{part['width']}x{part['height']}", *CHECKPOINTS
        above[kind] = part["peaks"][-1] - part["baseline"]
        growth = part["resident"][-1] / part["resident"][0] - 1
        what = f"video, {kind}: resident memory after {most} frames against {least}"
        yield Bar(what, "≤ 1 % more", f"{growth:.2%} more", growth <= 0.01)
    wanted = f"≤ 1.5 m (2q + 6) floats, {part['bar'] / 2**20:.1f} MiB"
    what = f"video, grey: peak memory, {size}, {most} frames"
    yield Bar(what, wanted, f"{above['grey'] / 2**20:.1f} MiB", above["grey"] <= part["bar"])
    share = above["colour"] / above["grey"]
    yield Bar(f"video: peak memory of colour, {size}", "≤ 1.8 times that of grey", f"{share:.2f} times", share <= 1.8)
