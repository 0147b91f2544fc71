"""Tables of a race, one for each size of the matrices."""

from typing import Any

from ..shared.tables import as_table, number

Results = dict[str, Any]
Row = dict[str, Any]


def rows_that_ran(comparison: Results) -> dict[str, dict[str, Row]]:
    """By size and contender."""
    return {
        table["size"]: {row["contender"]: row for row in table["rows"] if "cpu" in row}
        for table in comparison["tables"]
    }


def races(comparison: Results, to_error: str) -> list[str]:
    lines = []
    head = ("method", "problem", "CPU s", "times faster", "iterations", "error of L", "rank", "gap", to_error, "memory")
    for table in comparison["tables"]:
        lines += [f"### {table['size']}, rank {table['rank']}, {table['rounds']} rounds", ""]
        lines += [*as_table((*head, "rounds"), [_race_row(row) for row in table["rows"]]), ""]
    settings = {row["contender"]: row for table in comparison["tables"] for row in table["rows"]}
    lines += ["Settings:", ""]
    lines += [f"- {name}: {row['settings']} ({row['package']} {row['version']})" for name, row in settings.items()]
    return [*lines, "", f"Memory: {comparison['memory']}; the reference and the peers for 3 iterations only."]


def _race_row(row: Row) -> list[str]:
    if "not_run" in row:
        return [row["contender"], row["problem"], f"not run: {row['not_run']}", *[""] * 8]
    return [
        row["contender"] + ("" if row["converged"] else " (not converged)"),
        row["problem"],
        number(row["cpu"], ".3f" if row["cpu"] < 1 else ".2f"),
        number(row["ratio"], ".1f" if row["ratio"] >= 1 else ".2f"),
        number(row["n_iter"], "d"),
        number(row["error"], ".1e"),
        number(row["rank"], "d"),
        number(row["gap"], ".1e"),
        "never" if row.get("watched") and row["cpu_to_error"] is None else number(row["cpu_to_error"], ".3f"),
        number(row.get("memory"), ".1f"),
        number(row["rounds"], "d"),
    ]
