"""Comparison "nmf" in the report."""

from collections.abc import Iterator
from typing import Any

from ..shared.bar import Bar
from ..shared.tables import as_table, numbers
from .compare import ROWS, SAMPLES, SIZES

Results = dict[str, Any]

PLACE = 35
_OURS = "unmingle nmf"


def section(comparison: Results) -> list[str]:
    projection, certified = comparison["projection"], comparison["certified"]
    lines = [
        "## Nonnegative factors",
        "",
        f"Projection of {projection['rows']} rows with 10 % outliers, m=513, q=25: {1e6 * projection['ours']:.0f} µs a "
        f"row to a gap of {projection['gap']:.0e}; `scipy.optimize.nnls` on the same rows without outliers: "
        f"{1e6 * projection['nnls']:.0f} µs, ratio {projection['ratio']:.2f}. Largest gap of {certified['samples']} "
        f"samples of all kinds: {certified['gap']:.0e}.",
        "",
        "Factorisation of exponential factors with noise, cut at zero, and 10 % outliers, from three starts to a "
        "stationary point. *Rise*: the largest relative rise of the objective in a sweep.",
        "",
        *_stationary(comparison["stationary"]),
        "",
        "The same data beside other packages, all told q; ours to a stationarity of 1e-4. *Times ours*: the error, at "
        "least. *At its error*: how many times faster our sweeps, of which none is certified, get as near.",
        "",
        *_outliers(comparison["outliers"]),
        "",
        "Without outliers and with a huge outlier penalty, beside scikit-learn's coordinate descent with the same "
        "penalties, from the same start, with its defaults: CPU time until 0.1 % above its last value.",
        "",
        *_clean(comparison["clean"]),
    ]
    return lines


def _size(entry: Results) -> str:
    n, m, q = entry["size"]
    return f"{n}x{m}, q={q}"


def _stationary(entries: list[Results]) -> list[str]:
    forms = {"sweeps": "d", "cpu": ".2f", "measure": ".1e", "rise": ".0e", "error": ".4f"}
    rows = [
        (_size(entry), entry["dtype"], row["start"], *numbers(row, **forms))
        for entry in entries
        for row in entry["rows"]
    ]
    return as_table(("size", "type", "start", "sweeps", "CPU s", "stationarity", "rise", "error"), rows)


def _outliers(entries: list[Results]) -> list[str]:
    forms = {"error": ".4f", "times_ours": ".1f", "cpu": ".2f", "at_its_error": ".1f", "rounds": "d"}
    rows = [(_size(entry), row["contender"], *numbers(row, **forms)) for entry in entries for row in entry["rows"]]
    return as_table(("size", "method", "error of SU", "times ours", "CPU s", "at its error", "rounds"), rows)


def _clean(entries: list[Results]) -> list[str]:
    rows = [(_size(entry), *numbers(entry, ours=".2f", sklearn=".2f", ratio=".2f", excess="+.1e")) for entry in entries]
    return as_table(("size", "ours, CPU s", "scikit-learn's", "ratio", "our objective in the end, relative"), rows)


def bars(comparison: Results) -> Iterator[Bar]:
    if comparison["projection"]["rows"] == ROWS:
        ratio = comparison["projection"]["ratio"]
        yield Bar("nonnegative projection beside nnls", "≤ 2.5 times", f"{ratio:.2f} times", ratio <= 2.5)
    if comparison["certified"]["samples"] == SAMPLES:
        gap = comparison["certified"]["gap"]
        yield Bar("nonnegative projection, largest gap of 10 000 samples", "≤ 1e-8", f"{gap:.0e}", gap <= 1e-8)
    if len(comparison["clean"]) == len(SIZES):
        yield from _bars_of_factors(comparison)


def _bars_of_factors(comparison: Results) -> Iterator[Bar]:
    for entry in comparison["stationary"]:
        worst = max(row["measure"] for row in entry["rows"])
        what = f"nmf {_size(entry)}, {entry['dtype']}: stationarity from every start"
        yield Bar(what, f"≤ {entry['tol']:.0e}", f"{worst:.1e}", worst <= entry["tol"])
    for entry in comparison["outliers"]:
        rows = {row["contender"]: row for row in entry["rows"]}
        for name, row in rows.items():
            what = f"nmf {_size(entry)}: error of {name}"
            if name.startswith("sklearn"):
                yield Bar(what, "≥ 5 times ours", f"{row['times_ours']:.1f} times", row["times_ours"] >= 5)
            elif name != _OURS:
                fast, near = row["at_its_error"], row["times_ours"]
                reached = f"{near:.1f} times, {fast:.0f} times its speed"
                yield Bar(what, "≥ ours, ≥ 10 times its speed", reached, near >= 1 and fast >= 10)
    for entry in comparison["clean"]:
        reached, met = f"{entry['ratio']:.2f} times, {entry['excess']:+.1e}", entry["ratio"] <= 1
        what = f"nmf {_size(entry)} without outliers: time to 0.1 % above scikit-learn's objective"
        yield Bar(what, "≤ its time", reached, met and entry["excess"] <= 1e-3)
