"""Comparison "stream" in the report."""

from typing import Any

from stream_contenders import HYPERSPY, OURS
from stream_race import SEGMENTS, complete, median_ratio
from tables import as_table, number

Results = dict[str, Any]

RACE_NOTES = f"""\
A planted subspace that turns evenly; outliers uniform in [-3, 3] on 10 % of the entries, low-rank entries of standard
deviation 1. Every contender gets a block of 100 samples before any gets the next one. *Times ours*: CPU time over that
of *{OURS}*, the median over {SEGMENTS} parts of the stream. *Angle*: the largest principal angle between the learnt and
the true subspace, in degrees, after the last sample; *later*: its mean over the second half of the parts. Making the
blocks, compilation and angles are outside the clock. Our start, the robust solution for the first 100 samples, is in
*CPU s* and *samples/s*, but falls out of the median. *Samples*: fewer for slow contenders, whose angles are those of an
earlier, not comparable, time.
"""


def stream(comparison: Results) -> list[str]:
    lines = ["## A stream: online robust PCA", ""]
    for part in (_race, _stationary, _rotation, _memory):
        lines += [*part(comparison[part.__name__[1:]]), ""]
    return lines[:-1]


def _race(part: Results) -> list[str]:
    title = f"### Drifting: {part['samples']} samples, {part['features']} features, rank 10, "
    title += f"{part['rotation']:.0f}°, noise {part['noise']}"
    head = ("method", "samples", "CPU s", "samples/s", "times ours", "angle", "later", "components")
    ran = sorted((row for row in part["rows"] if "cpu" in row), key=lambda row: -row["speed"])
    cells = [
        (
            row["contender"],
            number(row["seen"], "d"),
            number(row["cpu"], ".2f"),
            number(row["speed"], ".0f"),
            number(row["ratio"], ".2f"),
            number(row["angle"], ".2f"),
            number(row["mean_angle"], ".2f"),
            number(row["rank"], "d"),
        )
        for row in ran
    ]
    cells += [(row["contender"], f"not run: {row['not_run']}", *[""] * 6) for row in part["rows"] if "not_run" in row]
    settings = [f"- {row['contender']}: {row['settings']} ({row['package']} {row['version']})" for row in part["rows"]]
    return [title, "", RACE_NOTES, *as_table(head, cells), *_finest(part["rows"]), "", "Settings:", "", *settings]


def _finest(rows: list[Results]) -> list[str]:
    """The most accurate variants of hyperspy, which are not the fastest, beside ours."""
    peers = complete(rows, HYPERSPY)
    if not peers:
        return []
    peer, ours = min(peers, key=lambda row: row["angle"]), next(row for row in rows if row["contender"] == OURS)
    speed = f"{median_ratio(peer, ours):.1f} times as fast ({peer['cpu'] / ours['cpu']:.1f} over all)"
    ends = f"ends at {peer['angle']:.2f}°; *{OURS}* at {ours['angle']:.2f}°, {speed}"
    text = f"The most accurate of hyperspy's variants, *{peer['contender']}*, {ends}. "
    text += "hyperspy's learning rates and our forgetting 0.995 were chosen after a look at this stream."
    return ["", text]


def _stationary(part: Results) -> list[str]:
    title = f"### Stationary: {part['samples']} samples, {part['features']} features, rank 10, no noise"
    note = "Relative error of the low-rank part on the last tenth, every block decomposed before it is learnt; "
    note += f"{part['seeds']} seeds. Settings as above; *unmingle, defaults* has nothing set."
    rows = [
        (row["contender"], _percent(row["worst"]), _percent(row["median"]), number(row["rank"], "d"))
        for row in sorted(part["rows"], key=lambda row: row["worst"])
    ]
    return [title, "", note, "", *as_table(("method", "worst seed", "median", "components"), rows)]


def _percent(error: float) -> str:
    return f"{100 * error:.2g} %"


def _rotation(part: Results) -> list[str]:
    title = f"### Rotation by {part['rotation']:.0f}°: {part['samples']} samples, {part['features']} features, rank 10"
    note = f"Largest angle, in degrees, seen at every {part['every']} samples from {part['learnt']} on; "
    note += f"seeds: {part['seeds']}, the worst counts. *Components*: at most; with more than 10 the angle only "
    note += "tells how far the true subspace sticks out of the learnt one."
    rows = [
        (row["contender"], f"{row['noise']:g}", f"{row['angle']:.2f}", number(row["rank"], "d")) for row in part["rows"]
    ]
    return [title, "", note, "", *as_table(("method", "noise", "largest angle", "components"), rows)]


def _memory(part: Results) -> list[str]:
    lines = [f"### Memory over time: {part['features']} features, rank {part['rank']}", ""]
    if part["peaks"] is None:
        return [*lines, "Not measured."]
    baseline = part["baseline"]
    note = "High-water mark of resident memory of a fresh process that makes and learns blocks of "
    note += f"{part['block_size']} samples. After imports and compilation {baseline / 2**20:.1f} MiB were resident."
    pairs = zip(part["checkpoints"], part["peaks"], strict=True)
    rows = [(f"{n}", f"{peak / 2**20:.2f}", f"{(peak - baseline) / 2**20:.2f}") for n, peak in pairs]
    return [*lines, note, "", *as_table(("samples", "peak, MiB", "above the baseline"), rows)]
