"""Comparison "cells" in the report."""

from collections.abc import Iterator
from statistics import mean, median
from typing import Any

from ..shared.bar import Bar
from ..shared.tables import as_table, numbers
from .compare import SEEDS
from .data import N_TABLES

Results = dict[str, Any]

PLACE = 37


def section(comparison: Results) -> list[str]:
    return [
        "## Single cells",
        "",
        "Made tables with faults of 6 to 40 standard deviations of the noise and with gaps; "
        '`decompose(..., debias=True).flags()`, with `scale="columns"` where columns span four decades, pooled over '
        f"{comparison['seeds']} seeds. *Error*: of the low-rank part, over that of least squares of the true rank on "
        "good cells. *Sigma*: noise level found over the true one, root mean square over columns.",
        "",
        *_made(comparison["made"]),
        "",
        "Real tables of scikit-learn with 1 % of the cells moved: by 8 robust standard deviations of their column, by "
        "8 of the noise that the low-rank model of the untouched table has in that column, and by 8 robust standard "
        "deviations of what that model leaves there, which is less where a few cells fix it. *MAD*: a rule of 5 "
        "median deviations for each column alone. *Untouched*: cells of the table itself that are flagged; *new*: "
        "further ones.",
        "",
        *_real(comparison["real"]),
        "",
        "Imputation of 10 % removed cells with faults present: errors over those of scikit-learn's imputers, and CPU "
        "time.",
        "",
        *_imputed(comparison["real"]),
    ]


def _made(rows: list[Results]) -> list[str]:
    forms = {"faults": "d", "precision": ".3f", "recall": ".3f", "rank": ".1f", "error": ".2f", "sigma": ".2f"}
    head = ("table", "faults", "precision", "recall", "rank right", "error", "sigma")
    return as_table(head, [(row["told"], *numbers(row, **forms)) for row in rows])


def _real(rows: list[Results]) -> list[str]:
    kinds = ("column", "noise", "residual")
    forms = {f"{what}_{kind}": ".2f" for kind in kinds for what in ("recall", "mad")} | {"untouched": ".2%"}
    forms |= {"new": ".2%"}
    head = ("table", "rank", *(name for kind in kinds for name in (f"{kind}: recall", "MAD")), "untouched", "new")
    return as_table(head, [(row["name"], str(row["rank"]), *numbers(row | _newly(row), **forms)) for row in rows])


def _newly(row: Results) -> Results:
    return {"new": max(row[f"new_{kind}"] for kind in ("column", "noise", "residual"))}


def _imputed(rows: list[Results]) -> list[str]:
    forms = {f"{what}_{peer}": ".2f" for peer in ("IterativeImputer", "KNNImputer") for what in ("over", "time")}
    head = ("table", "over IterativeImputer", "its time", "over KNNImputer", "its time")
    return as_table(head, [(row["name"], *numbers(row, **forms)) for row in rows])


def bars(comparison: Results) -> Iterator[Bar]:
    if comparison["seeds"] == SEEDS and len(comparison["made"]) == N_TABLES:
        yield from _bars_of_made(comparison["made"])
        yield from _bars_of_real(comparison["real"])


def _at_least(what: str, wanted: float, reached: float) -> Bar:
    return Bar(what, f"≥ {wanted:g}", f"{reached:.3f}", reached >= wanted)


def _at_most(what: str, wanted: float, reached: float) -> Bar:
    return Bar(what, f"≤ {wanted:g}", f"{reached:.3f}", reached <= wanted)


def _bars_of_made(rows: list[Results]) -> Iterator[Bar]:
    student = [row for row in rows if row["kind"]["student"]]
    normal = [row for row in rows if not row["kind"]["student"]]
    for name in ("precision", "recall"):
        yield _at_least(f"cells, made tables: median {name}", 0.95, median(row[name] for row in rows))
        yield _at_least(f"cells, normal noise: worst {name}", 0.88, min(row[name] for row in normal))
    yield _at_least("cells, Student noise: worst precision", 0.85, min(row["precision"] for row in student))
    yield _at_least("cells, Student noise: worst recall", 0.65, min(row["recall"] for row in student))
    yield _at_least("cells: rank right", 0.9, mean(row["rank"] for row in rows))
    yield _at_most("cells: median error over least squares", 1.1, median(row["error"] for row in rows))
    wide = [row["worst_error"] for row in rows if row["kind"]["m"] >= 20]
    yield _at_most("cells: worst error, m ≥ 20", 1.3, max(wide))
    yield _at_most("cells: largest gap", 1e-4, max(row["gap"] for row in rows))


def _bars_of_real(rows: list[Results]) -> Iterator[Bar]:
    for row in rows:
        name = row["name"]
        yield _at_least(f"cells, {name}: recall of column faults", 0.85, row["recall_column"])
        yield _at_least(f"cells, {name}: recall of faults beside the noise", 0.7, row["recall_noise"])
        yield _at_least(f"cells, {name}: recall of faults beside the residual", 0.7, row["recall_residual"])
        yield _at_most(f"cells, {name}: newly flagged", 0.003, _newly(row)["new"])
        yield _at_most(f"cells, {name}: untouched flagged", 0.01, row["untouched"])
    for peer in ("IterativeImputer", "KNNImputer"):
        ratios = [row[f"over_{peer}"] for row in rows]
        yield _at_most(f"cells, imputation over {peer}: mean", 1.0, mean(ratios))
        yield _at_most(f"cells, imputation over {peer}: worst", 1.1, max(ratios))
    yield _at_most("cells: time over IterativeImputer's, worst", 1.0, max(row["time_IterativeImputer"] for row in rows))
