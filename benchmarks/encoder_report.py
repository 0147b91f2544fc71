"""Comparison "encoder" in the report."""

from typing import Any

from tables import as_table

Results = dict[str, Any]

NOTES = """\
Algorithm 1 as an encoder through `Encoder.encode`, float32, batches of {rows} samples or one sample a call, {rounds}
rounds. *Of sgemm*: 4 m q flops for each sample and layer over the CPU time, relative to the same of a product of two
{side}x{side} matrices in the same round; the readout, 2 m q flops a sample, is not counted. *Times NumPy*: CPU time of
`backend="numpy"` over ours. *µs*: CPU time for each sample and layer; the authors of the method report 92 µs for 88x72
pixels and 5 components on their GPU of 2012. *{jobs} threads*: wall time of one over that of `n_jobs={jobs}` for four
batches at once, whatever else the machine does included. *Difference*: of the compiled from the plain answer, relative.
"""


def encoder(comparison: Results) -> list[str]:
    notes = NOTES.format(
        rows=comparison["rows_per_batch"], rounds=comparison["rounds"], side=comparison["side"], jobs=comparison["jobs"]
    )
    head = (
        "data", "features", "components", "layers", "GFLOP/s", "of sgemm", "times NumPy", "one sample", "µs",
        "µs, one sample", f"{comparison['jobs']} threads", "difference",
    )  # fmt: skip
    rows = [
        (
            row["name"],
            str(row["features"]),
            str(row["atoms"]),
            str(row["layers"]),
            f"{row['gflops']:.1f}",
            f"{row['rate']:.2f}",
            f"{row['times_numpy']:.1f}",
            f"{row['times_numpy_single']:.1f}",
            f"{row['us_per_layer']:.2f}",
            f"{row['us_per_layer_single']:.2f}",
            f"{row['times_two_jobs']:.2f}",
            f"{row['difference']:.0e}",
        )
        for row in comparison["rows"]
    ]
    return ["## Encoders: a fixed number of layers", "", notes, *as_table(head, rows)]
