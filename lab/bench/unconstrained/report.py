"""Comparison "unconstrained" in the report."""

from collections.abc import Iterator
from typing import Any

from ..matrices.contender import REFERENCE
from ..matrices.tables import races, rows_that_ran
from ..matrices.tasks import LARGE, MEDIUM
from ..shared.bar import Bar

Results = dict[str, Any]
Row = dict[str, Any]

PLACE = 20
MINIMISERS = ("unmingle proximal, float64, 1e-06", "unmingle alternating, float64, 1e-06")
MINIMISERS_32 = ("unmingle proximal, float32, 1e-04", "unmingle alternating, float32, 1e-04")
NOTES = """\
The same with dense noise of standard deviation 0.05; problem (2) with lam_* = 0.05 (√n + √m), lam = lam_*/√max(n, m),
stopped at a certified gap, all certificates inside the clock. Beside it problem (1) on the same X: the reference, and
our pcp with and without room for the noise (eps). *Gap*: of the problem solved; of (2) evaluated once more, in float64,
from the answer alone; of (1) as above, where pcp gave a bound. *To error*: CPU seconds until the relative error of L is
for the first time within 1 % of that of the reference's answer.
"""


def section(comparison: Results) -> list[str]:
    return ["## Noisy data: the unconstrained problem (2)", "", NOTES, *races(comparison, "to error")]


def bars(comparison: Results) -> Iterator[Bar]:
    by_size = rows_that_ran(comparison)
    for size, wanted, aim in ((MEDIUM.label, 12.7, 40), (LARGE.label, 15.8, 80)):
        if size in by_size:
            best = max(MINIMISERS, key=lambda name: by_size[size][name]["ratio"])
            ratio = by_size[size][best]["ratio"]
            what = f"proximal or alternating to a certified gap 1e-6 against {REFERENCE}, {size}"
            yield Bar(
                what, f"≥ {wanted} times, aim {aim}", f"{ratio:.1f} times ({best.split()[1][:-1]})", ratio >= wanted
            )
    for names, tol, dtype in ((MINIMISERS, 1e-6, "float64"), (MINIMISERS_32, 1e-4, "float32")):
        ran = [(rows[name], size) for size, rows in by_size.items() for name in names]
        worst, size = max(ran, key=lambda pair: pair[0]["gap"])
        met = worst["gap"] <= tol and all(row["converged"] for row, _ in ran)
        what = f"certified gap of (2), {dtype}, all sizes, checked again from the answer in float64"
        yield Bar(what, f"≤ {tol:.0e}", f"{worst['gap']:.1e} at most ({size})", met)
    spread = max(_spread(rows) for rows in by_size.values())
    yield Bar("solvers of (2), float64 and float32, agree on the objective", "to 1e-5", f"{spread:.1e}", spread <= 1e-5)
    growth = comparison.get("growth")
    if growth:
        what = "growth of (2) to 1e-6 from {} to {}".format(*growth["sides"])
        seconds = "{:.1f} s, {:.1f} s".format(*growth["seconds"])
        yield Bar(what, "at most as n^2.3", f"n^{growth['power']:.2f} ({seconds})", growth["power"] <= 2.3)


def _spread(rows: dict[str, Row]) -> float:
    """Largest relative difference of objectives (2) in a round."""
    objectives = [[turn["objective"] for turn in rows[name]["turns"]] for name in MINIMISERS + MINIMISERS_32]
    return max((max(values) - min(values)) / min(values) for values in zip(*objectives, strict=True))
