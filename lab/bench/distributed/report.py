"""Comparison "distributed" in the report."""

from collections.abc import Iterator
from typing import Any

from ..shared.bar import Bar
from ..shared.tables import as_table
from .compare import WORK

Results = dict[str, Any]

PLACE = 70
NOTES = """\
One pass of `distributed.fit` over a zarr array of float32 without compression, by processes with one thread each; runs
in turns with {turns} workers. *CPU*: process time of all workers together. *Predicted*: wall time by the cost
model of lab/bench/distributed/cost_model.py, from the speed at which one process encoded and read one chunk just
before ({flops:.1f} GFLOP/s, {read:.1f} GB/s), 1 GB/s between workers and 2 ms a task. *Load*: largest load average
after a run; client, scheduler and whatever else the machine does share its cores with the workers.
"""


def section(comparison: Results) -> list[str]:
    work, machine = comparison["work"], comparison["machine"]
    gigabytes = work["n"] * work["m"] * work["itemsize"] / 1e9
    chunks = -(-work["n"] // work["rows_per_chunk"])
    turns = ", ".join(str(run["workers"]) for run in comparison["runs"])
    notes = NOTES.format(
        turns=turns, flops=machine["flops_per_second"] / 1e9, read=machine["bytes_read_per_second"] / 1e9
    )
    head = ("workers", "wall s", "predicted s", "CPU s", "load")
    rows = [
        (f"{r['workers']}", f"{r['wall']:.1f}", f"{r['predicted_wall']:.1f}", f"{r['cpu']:.1f}", f"{r['load']:.1f}")
        for r in comparison["rows"]
    ]
    title = f"## A cluster: {gigabytes:.1f} GB, {work['n']} samples of {work['m']} features in {chunks} chunks"
    return [title, "", notes, *as_table(head, rows)]


def bars(comparison: Results) -> Iterator[Bar]:
    if comparison["work"] != vars(WORK):
        return
    one, two = comparison["rows"]
    ratio = two["cpu"] / one["cpu"]
    reached = f"{ratio:.2f} times; wall {two['wall'] / one['wall']:.2f} times, load {two['load']:.1f}"
    yield Bar("distributed: CPU time of two workers against one, 4 GB of zarr", "≤ 1.15 times", reached, ratio <= 1.15)
