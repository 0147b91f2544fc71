"""Comparison "encoder" in the report."""

from collections.abc import Iterator
from typing import Any

from ..shared.bar import Bar
from ..shared.tables import as_table, numbers
from .compare import AUDIO, ROWS, VIDEO

Results = dict[str, Any]

PLACE = 60
_SIGNS = 0.9
"""Rate of the nonnegative layer, that of the signed one being 1."""
NOTES = """\
Algorithm 1 as an encoder through `Encoder.encode`, float32, batches of {rows} samples or one sample a call, {rounds}
rounds. *Of sgemm*: 4 m q flops for each sample and layer over the CPU time, relative to the same of a product of two
{side}x{side} matrices in the same round; the readout, 2 m q flops a sample, is not counted. *Times NumPy*: CPU time of
`backend="numpy"` over ours. *µs*: CPU time for each sample and layer; the authors of the method report 92 µs for 88x72
pixels and 5 components on their GPU of 2012. *{jobs} threads*: wall time of one over that of `n_jobs={jobs}` for four
batches at once, whatever else the machine does included. *Difference*: of the compiled from the plain answer, relative.
"""


def section(comparison: Results) -> list[str]:
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
            *numbers(row, features="d", atoms="d", layers="d", gflops=".1f", rate=".2f", times_numpy=".1f"),
            *numbers(row, times_numpy_single=".1f", us_per_layer=".2f", us_per_layer_single=".2f"),
            *numbers(row, times_two_jobs=".2f", difference=".0e"),
        )
        for row in comparison["rows"]
    ]
    return ["## Encoders: a fixed number of layers", "", notes, *as_table(head, rows), *_signs(comparison)]


def _signs(comparison: Results) -> list[str]:
    """Nonnegative codes and outliers beside signed ones."""
    if "signs" not in comparison:
        return []
    head = ("data", "features", "components", "layers", "µs", "rate of the signed layer", "difference")
    rows = [
        (row["name"], *numbers(row, features="d", atoms="d", layers="d", us_per_layer=".2f", rate=".2f"),
         *numbers(row, difference=".0e"))
        for row in comparison["signs"]
    ]  # fmt: skip
    note = (
        "Nonnegative codes and outliers, batches as above. *Rate of the signed layer*: CPU time of the signed network "
        "of this size over that of the nonnegative one, median of the ratios within a round.\n"
    )
    return ["", note, *as_table(head, rows)]


def bars(comparison: Results) -> Iterator[Bar]:
    if comparison["rows_per_batch"] != ROWS:
        return
    rows = {row["name"]: row for row in comparison["rows"]}
    for row in comparison.get("signs", ()):
        what, good = f"encoder, {row['name']}, q = {row['atoms']}: nonnegative", row["rate"] >= _SIGNS
        yield Bar(f"{what}: rate against signed", f"≥ {_SIGNS}", f"{row['rate']:.2f}", good)
    for shape, rate, aim, batch, single in (
        (VIDEO, 0.25, 0.5, 5, 3),
        (AUDIO, 0.45, 0.6, 2.5, 2),
    ):
        row, what = rows[shape.name], f"encoder, {shape.name}, q = {shape.atoms}"
        yield Bar(f"{what}: rate against sgemm", f"≥ {rate}, aim {aim}", f"{row['rate']:.2f}", row["rate"] >= rate)
        for key, wanted, kind in (("times_numpy", batch, "batch"), ("times_numpy_single", single, "one sample")):
            yield Bar(f"{what}: {kind} against NumPy", f"≥ {wanted} times", f"{row[key]:.1f} times", row[key] >= wanted)
