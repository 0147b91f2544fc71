"""Comparison "pcp" in the report."""

from collections.abc import Iterator
from typing import Any

from ..matrices.contender import OWN, REFERENCE
from ..matrices.racing import RANK_FLOOR
from ..matrices.tables import races, rows_that_ran
from ..matrices.tasks import LARGE, MEDIUM
from ..shared.bar import Bar

Results = dict[str, Any]
Row = dict[str, Any]

PLACE = 10
PURSUIT, PURSUIT_32 = "unmingle pcp, float64, 1e-05", "unmingle pcp, float32, 1e-04"
NOTES = f"""\
X = A B + outliers, entries of A B of standard deviation 1, outliers uniform in [-3, 3] on 10 % of the entries, no dense
noise; problem (1) with lam = 1/√max(n, m). hyperspy's methods solve problems of their own and are judged by the same
measures. *Gap*: (objective of (1) at L and O = X - L, minus our certified lower bound) / objective, for every method,
so that those without a certificate get one. *To 1e-6*: CPU seconds until the relative error of L is at most 1e-6, where
the iterates can be watched. *Rank*: singular values above {RANK_FLOOR:.0e} of the largest. *Memory*: peak in copies of
X, X included; at the small sizes the work space of BLAS counts for much of it.
"""


def section(comparison: Results) -> list[str]:
    return ["## Clean data: principal component pursuit (1)", "", NOTES, *races(comparison, "to 1e-6")]


def bars(comparison: Results) -> Iterator[Bar]:
    by_size = rows_that_ran(comparison)
    for size, wanted, certified in ((MEDIUM.label, 40, 25), (LARGE.label, 73, 50)):
        if PURSUIT not in by_size.get(size, {}):
            continue
        ours, narrow = by_size[size][PURSUIT]["ratio"], by_size[size][PURSUIT_32]["ratio"]
        as_good = by_size[size][PURSUIT]["ratio_to_error"]
        what = f"pcp until its error is that of {REFERENCE}, certificates included, {size}"
        yield Bar(what, f"≥ {wanted} times", f"{as_good:.1f} times", as_good >= wanted)
        what = f"pcp until it is certified against {REFERENCE}, {size}, float64"
        yield Bar(what, f"≥ {certified} times", f"{ours:.1f} times", ours >= certified)
        yield Bar(f"pcp in float32, {size}", "more than in float64", f"{narrow:.1f} times", narrow > ours)
    excess = {n: rows[PURSUIT]["error"] / rows[REFERENCE]["error"] for n, rows in by_size.items() if PURSUIT in rows}
    if excess:
        worst = max(excess, key=excess.__getitem__)
        reached = f"at most {excess[worst]:.2f} times the reference's ({worst})"
        yield Bar("error of L from pcp, float64", "that of the reference", reached, excess[worst] <= 1)
    yield from _ahead_of_peers(by_size)


def _ahead_of_peers(by_size: dict[str, dict[str, Row]]) -> Iterator[Bar]:
    """Against each peer, our fastest run whose error is equal or better."""
    margins: dict[str, tuple[float, str]] = {}
    for size, rows in by_size.items():
        for peer in (row for row in rows.values() if row["package"] not in OWN):
            ours = [row for row in rows.values() if row["package"] == "unmingle" and row["error"] <= peer["error"]]
            fastest = min((row["cpu"] for row in ours), default=float("inf"))
            margin = (peer["cpu"] / fastest, size)
            margins[peer["contender"]] = min(margin, margins.get(peer["contender"], margin))
    for peer, (margin, size) in sorted(margins.items()):
        reached = f"{margin:.1f} times faster at least ({size})" if margin else "its error is not reached"
        yield Bar(f"pcp ahead of {peer} at equal or better error", "faster", reached, margin > 1)
