"""Comparison "video" in the report."""

from typing import Any

from compare_video import REFERENCE
from tables import as_table

Results = dict[str, Any]

NOTES = """\
`Stream.push` from frame to mask, background and regions, with all learning and cleaning, against `apply` of OpenCV
{opencv} at its defaults, whose masks are left as they are. Grey frames of {source}, brought to each size before the
clock runs. Blocks of frames in turns; CPU time, the mean over all frames after the first {start}; medians over the
rounds. *Times {reference}*: its CPU time over that of the contender in the same round.
"""


def video(comparison: Results) -> list[str]:
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
