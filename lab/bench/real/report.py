"""Comparison "real" in the report."""

from collections.abc import Callable, Iterator
from typing import Any

from ..shared.bar import Bar
from ..shared.tables import as_table

Results = dict[str, Any]

PLACE = 25
NOTES = """\
Matrices as they are read, float64, one thread, in turns. The reference is the plain full-SVD ALM for (1), to a relative
residual of 1e-7. *To equal cost*: until ||L||_* + lam ||X - L||_1 of the own L is that of its L. *(2)*: at automatic
penalties, found before; *auto*: with finding them. *To 1e-04*: to a certified relative gap, certificates inside the
clock. *To a cost within 1e-04*: until the cost is so near to the minimum, which our certificates tell; what tells the
cost is off the clock. Plain ADMM has a full SVD in each step, and residuals balanced by the usual rule. Packages run to
their own tolerance. A run is given up after {patience:g} s: "not reached". Slow contenders are in the first round only;
rounds: {rounds}.
"""
TIMES = "CPU seconds, in brackets iterations:"
RATIOS = "CPU time of the reference over that of the contender, so more is better:"
COSTS = "Cost of the low-rank part in (1), relative to the certified minimum, above it by at most:"
SHARES = "Share of the time that certificates take:"
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
CERTIFYING = ("(1) to 1e-04", "(2) to 1e-04")
LARGEST_SHARE = 0.1


def section(comparison: Results) -> list[str]:
    lines, rows = ["## Real matrices: answers that are not of very low rank", ""], comparison["rows"]
    if not rows:
        return [*lines, comparison["remark"]]
    names = [key for row in rows for key in (*row["figures"], *row["left_out"])]
    keys = list(dict.fromkeys(names))
    with_cost = [key for key in keys if any(row["figures"].get(key, {}).get("excess") is not None for row in rows)]
    rounds = ", ".join(f"{row['rounds']} of {row['name']}" for row in rows)
    return [
        *lines,
        NOTES.format(rounds=rounds, patience=comparison["patience"]),
        *_table(RATIOS, rows, keys, _ratio),
        *_table(TIMES, rows, keys, _seconds),
        *_table(COSTS, rows, with_cost, lambda figures: f"{figures['excess']:.1e}"),
        *_table(SHARES, rows, CERTIFYING, lambda figures: f"{figures['certifying']:.2f}"),
    ]


def _ratio(figures: Results) -> str:
    return f"{'' if figures['reached'] else 'below '}{figures['ratio']:.2g}"


def _seconds(figures: Results) -> str:
    return f"{figures['seconds']:.2f} ({figures['iterations']})"


def _table(title: str, rows: list[Results], keys: Any, cell: Callable[[Results], str]) -> list[str]:
    """One line for each contender, one column for each matrix."""
    head = ("", *(f"{row['name']}, {' x '.join(map(str, row['shape']))}" for row in rows))
    return [title, "", *as_table(head, [(key, *(_cell(row, key, cell) for row in rows)) for key in keys]), ""]


def _cell(row: Results, key: str, cell: Callable[[Results], str]) -> str:
    if key not in row["figures"]:
        return f"not run: {row['left_out'][key]}"
    figures = row["figures"][key]
    return cell(figures) if figures["reached"] else f"not reached: {cell(figures)}"


def bars(comparison: Results) -> Iterator[Bar]:
    for row in comparison["rows"]:
        name, figures = row["name"], row["figures"]
        for key, demands in DEMANDS.items():
            wanted = demands.get(name)
            if wanted is not None:
                ratio, reached = figures[key]["ratio"], figures[key]["reached"]
                what, times = f"{key} against the plain ALM, {name}", f"{ratio:.1f} times"
                met = reached and ratio >= wanted
                yield Bar(what, f"≥ {wanted:g} times", times if reached else f"below {times}", met)
        for key in CERTIFYING:
            share = figures[key]["certifying"]
            what = f"share of certificates in {key}, {name}"
            yield Bar(what, f"≤ {LARGEST_SHARE:g}", f"{share:.2f}", share <= LARGEST_SHARE)
