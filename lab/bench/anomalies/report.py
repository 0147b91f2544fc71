"""Comparison "anomalies" in the report."""

from collections.abc import Iterator
from statistics import mean
from typing import Any

from ..shared.bar import Bar
from ..shared.tables import as_table
from .compare import OURS, SEEDS

Results = dict[str, Any]

PLACE = 38


def section(comparison: Results) -> list[str]:
    rows = comparison["rows"]
    return [
        "## Bad rows",
        "",
        "Area under the curve (AUC) of scores of the rows of made low-rank tables, of which 8 % are bad, mean over "
        f"{comparison['seeds']} seeds: 0.5 is chance, 1 is perfect. All columns were brought to one scale first; PCA "
        "was told the true rank, the others nothing. Rows marked * are kinds of faults that the score of `RobustPCA` "
        "was chosen on, on the first three shapes.",
        "",
        *_table("fault", "kind", rows),
        "",
        *_table("shape", "shape", rows),
        "",
        "False alarms among 5000 new ordinary rows, over the rate asked for, after training on clean rows.",
        "",
        *as_table(
            ("training table", *(f"rate {rate}" for rate in comparison["rates"][0]["ratios"])),
            [(row["shape"], *(f"{ratio:.2f}" for ratio in row["ratios"].values())) for row in comparison["rates"]],
        ),
        "",
        "CPU seconds for a table, fit and scores.",
        "",
        *_table("shape", "shape", rows, "seconds", overall=False),
    ]


def _table(head: str, key: str, rows: list[Results], what: str = "auc", *, overall: bool = True) -> list[str]:
    names = list(rows[0]["auc"])
    groups = {row[key]: [one for one in rows if one[key] == row[key]] for row in rows}
    lines = [
        (f"{group}{' *' if key == 'kind' and some[0]['chosen_on'] else ''}", *_means(some, names, what))
        for group, some in groups.items()
    ]
    return as_table((head, *names), [*lines, ("mean", *_means(rows, names, what))] if overall else lines)


def _means(rows: list[Results], names: list[str], what: str) -> list[str]:
    return [f"{mean(row[what][name] for row in rows):.3f}" for name in names]


def bars(comparison: Results) -> Iterator[Bar]:
    if comparison["seeds"] != SEEDS:
        return
    for told, rows in (
        ("all kinds", comparison["rows"]),
        ("kinds kept for checking", [row for row in comparison["rows"] if not row["chosen_on"]]),
    ):
        means = {name: mean(row["auc"][name] for row in rows) for name in rows[0]["auc"]}
        ours = means.pop(OURS)
        for name, theirs in means.items():
            yield Bar(f"bad rows, {told}: AUC beside {name}", f"≥ {theirs:.3f}", f"{ours:.3f}", ours >= theirs)
        others = mean(means.values())
        yield Bar(f"bad rows, {told}: AUC beside the mean of others", f"> {others:.3f}", f"{ours:.3f}", ours > others)
