"""The command `unmingle decompose`."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._shared import console
from ._shared.options import Json, OutlierPenalty, Quiet, RankPenalty, Seed
from ._shared.paths import ready_folder

if TYPE_CHECKING:
    from ..apps.tables import NamedTable, SeparatedTable


class ColumnScale(StrEnum):
    """Whether columns are divided by scales of their own."""

    COLUMNS = "columns"
    NONE = "none"


class Solver(StrEnum):
    """The solvers of `unmingle.decompose`."""

    PROXIMAL = "proximal"
    ALTERNATING = "alternating"
    PCP = "pcp"


def run(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="A .csv file with a header, a .npy or a .npz file.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the results; by default that of the table.")] = None,
    components: Annotated[int | None, typer.Option(min=1, help="Largest rank allowed.")] = None,
    rank_penalty: RankPenalty = "auto",
    outlier_penalty: OutlierPenalty = "auto",
    nonnegative: Annotated[
        bool, typer.Option("--nonnegative", help="Parts of at least 0 that add up: for counts, spectra and the like.")
    ] = False,
    scale: Annotated[
        ColumnScale,
        typer.Option(help="Weigh all columns alike, or take them as they are."),
    ] = ColumnScale.COLUMNS,
    debias: Annotated[
        bool, typer.Option("--debias/--no-debias", help="Fit the low-rank table anew without the penalties' shrinkage.")
    ] = True,
    solver: Annotated[
        Solver | None, typer.Option(help="Algorithm; by default proximal, or alternating with --components.")
    ] = None,
    tol: Annotated[
        float, typer.Option(min=0.0, help="Relative duality gap, or stationarity, at which to stop.")
    ] = 1e-4,
    max_iter: Annotated[int, typer.Option(min=1, help="Iterations after which to stop in any case.")] = 500,
    top: Annotated[int, typer.Option(min=0, help="How many outliers to list.")] = 10,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Split a table into a low-rank table and a table of outliers, and list the cells that stand out most.

    Empty cells, NA and NaN are missing: the low-rank table fills them. A first column of text, or without a name, holds
    the names of the rows. With --nonnegative the table is a sum of nonnegative parts, to which outliers only add, and
    negative numbers are refused.
    """
    with console.progress(f"Separating {table.name}", quiet=quiet) as advance, console.warnings_as_sentences():
        from ..apps import tables

        content = tables.read_table(table, nonnegative=nonnegative)
        parts = [f"{table.stem}.{part}{table.suffix}" for part in ("low_rank", "outliers")]
        written = dict(zip(("low_rank", "outliers"), ((out or table.parent) / name for name in parts), strict=True))
        ready_folder(out or table.parent)
        if not quiet and content.header_is_numeric:
            console.say("Note: the first line was read as column names although they are all numbers.")
        done = tables.separate(
            content.values,
            scale=None if scale is ColumnScale.NONE else scale.value,
            debias=debias,
            nonnegative=nonnegative,
            n_components=components,
            rank_penalty=rank_penalty,
            outlier_penalty=outlier_penalty,
            solver=solver and solver.value,
            tol=tol,
            max_iter=max_iter,
            callback=advance,
            random_state=seed,
        )
        for name, path in written.items():
            content.write(path, getattr(done, name))
    strongest = [_cell(content, done, row, column) for row, column in done.strongest(top)]
    if as_json:
        console.print_json({"table": table, **done.card_, "strongest_outliers": strongest, "written": written})
    elif not quiet:
        _show(done.card_, strongest, written)


def _cell(table: "NamedTable", done: "SeparatedTable", row: int, column: int) -> dict[str, Any]:
    value, expected = float(done.values[row, column]), float(done.low_rank[row, column])
    names = {"row": table.rows[row], "column": table.columns[column]}
    found = {"value": value, "expected": expected, "deviation": value - expected}
    return {**names, **found, "significance": float(done.part.significance[row, column])}


def _show(card: dict[str, Any], strongest: list[dict[str, Any]], written: dict[str, Path]) -> None:
    size = f"{card['rows']} x {card['columns']}, {card['missing']} missing"
    share = 100 * card["flagged"] / max(card["rows"] * card["columns"] - card["missing"], 1)
    told = {"typical deviation": f"{card['typical_deviation']:.3g}", "flagged": f"{card['flagged']} ({share:.2g} %)"}
    parts: list[Any] = [console.facts({"table": size, **console.solved(card), **told})]
    if strongest:
        head = ["row", "column", "value", "expected", "deviation", "significance"]
        rows = [[cell["row"], cell["column"], *(f"{cell[name]:.6g}" for name in head[2:])] for cell in strongest]
        parts += ["\nCells that stand out most; significance in standard deviations", console.table(head, rows)]
    console.show(*parts, **written)
