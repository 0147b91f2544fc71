"""Comparison "real" in the report."""

from collections.abc import Iterator
from typing import Any

from .._shared.bar import Bar
from .._shared.tables import as_table

Results = dict[str, Any]

PLACE = 25
NOTES = """\
Matrices as they are read, float64, one thread, {rounds} rounds in turns. The reference is the plain full-SVD method for
(1), to a relative residual of 1e-7; all other figures are its CPU time over ours, so more is better. *(1), equal cost*:
until ||L||_* + lam ||X - L||_1 of our L is that of its L. *(2)*: at the automatic penalties, found before, to a
certified relative gap; *auto*: with finding them. Certificates are inside the clock. In brackets: iterations.
"""
EQUAL_COST = {"Hall": 4.0, "Escalator": 4.0, "Yale": 4.0, "planted, noisy": 3.0, "Frey": 1.5, "spectrogram": 1.0}
CERTIFIED = dict.fromkeys(("Hall", "Escalator", "Yale", "Frey"), 1.0)
UNCONSTRAINED = {"Hall": 5.0, "Escalator": 5.0, "Yale": 5.0, "Frey": 2.5, "spectrogram": 1.5}
AUTOMATIC = {"Hall": 3.0, "Escalator": 3.0, "Yale": 2.5, "Frey": 2.0, "spectrogram": 1.0}
DEMANDS = {
    "(1) to equal cost": EQUAL_COST,
    "(1) to 1e-04": CERTIFIED,
    "(2) to 1e-04": UNCONSTRAINED,
    "(2) to 1e-04, auto": AUTOMATIC,
}


def section(comparison: Results) -> list[str]:
    lines = ["## Real matrices: answers that are not of very low rank", ""]
    if not comparison["rows"]:
        return [*lines, comparison["remark"]]
    keys = list(comparison["rows"][0]["ratios"])
    head = ("matrix", "size", "reference, s", *keys)
    rows = [
        (
            row["name"],
            " x ".join(map(str, row["shape"])),
            f"{row['reference']['seconds']:.2f} ({row['reference']['iterations']})",
            *(_cell(row, key) for key in keys),
        )
        for row in comparison["rows"]
    ]
    return [*lines, NOTES.format(rounds=comparison["rounds"]), *as_table(head, rows)]


def _cell(row: Results, key: str) -> str:
    answer = row["answers"].get(key)
    ratio = f"{row['ratios'][key]:.1f}"
    if answer is None:
        return ratio
    return f"{ratio} ({answer['iterations']}{'' if answer['converged'] else ', not converged'})"


def bars(comparison: Results) -> Iterator[Bar]:
    for row in comparison["rows"]:
        for key, demands in DEMANDS.items():
            wanted = demands.get(row["name"])
            if wanted is not None:
                ratio = row["ratios"][key]
                what = f"{key} against the plain ALM, {row['name']}"
                yield Bar(what, f"≥ {wanted:g} times", f"{ratio:.1f} times", ratio >= wanted)
