"""Comparison "distributed" in the report."""

from typing import Any

from tables import as_table

Results = dict[str, Any]

NOTES = """\
One pass of `distributed.fit` over a zarr array of float32 without compression, by processes with one thread each; runs
in turns with {turns} workers. *CPU*: process time of all workers together. *Predicted*: wall time by the cost
model of benchmarks/cost_model.py, from the speed at which one process encoded and read one chunk just before
({flops:.1f} GFLOP/s, {read:.1f} GB/s), 1 GB/s between workers and 2 ms a task. *Load*: largest load average after a
run; client, scheduler and whatever else the machine does share its cores with the workers.
"""


def distributed(comparison: Results) -> list[str]:
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
