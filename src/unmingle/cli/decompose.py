"""The command `unmingle decompose`."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._shared import console
from ._shared.options import Json, OutlierPenalty, Quiet, RankPenalty, Seed, above_zero
from ._shared.paths import ready_outputs
from ._shared.table_options import Aside, Decimal, Fill, Header, Replace, Sheet, TableFile, Use, read

if TYPE_CHECKING:
    from ..apps.tables import Cleaned


class ColumnScale(StrEnum):
    """Whether columns are divided by scales of their own."""

    COLUMNS = "columns"
    NONE = "none"


class Solver(StrEnum):
    """The solvers of `unmingle.decompose`."""

    PROXIMAL = "proximal"
    ALTERNATING = "alternating"
    PCP = "pcp"


Out = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--out",
        metavar="PATH",
        help="Folder for the results, or name of the cleaned table: its suffix tells the format.",
    ),
]
Report = Annotated[bool, typer.Option("--report", help="Write a page with pictures of the table.")]
Parts = Annotated[
    bool, typer.Option("--parts", help="Write the low-rank table and the sparse outliers of the answer, too.")
]
Components = Annotated[int | None, typer.Option(min=1, help="Largest rank allowed.")]
Nonnegative = Annotated[
    bool,
    typer.Option("--nonnegative", help="Patterns that are never negative and only add up: for counts and spectra."),
]
Scale = Annotated[ColumnScale, typer.Option(help="Weigh all columns alike, or take them as they are.")]
Debias = Annotated[
    bool,
    typer.Option("--debias/--no-debias", help="Fit the low-rank table again, without the shrinkage of the penalties."),
]
SolverName = Annotated[
    Solver | None, typer.Option(help="Algorithm; by default proximal, or alternating with --components.")
]
FalseShare = Annotated[
    float,
    typer.Option(
        callback=above_zero(most=1.0), help="Share of the listed outliers that may be false; smaller lists fewer."
    ),
]
Tolerance = Annotated[float, typer.Option(min=0.0, help="Relative duality gap, or stationarity, at which to stop.")]
MaxIter = Annotated[int, typer.Option(min=1, help="Stop after this many iterations in any case.")]
Top = Annotated[int, typer.Option(min=0, help="How many outliers to print.")]


def run(
    table: TableFile,
    out: Out = None,
    report: Report = False,
    parts: Parts = False,
    fill: Fill = True,
    replace: Replace = True,
    sheet: Sheet = None,
    header: Header = None,
    decimal: Decimal = None,
    use: Use = None,
    aside: Aside = None,
    components: Components = None,
    rank_penalty: RankPenalty = "auto",
    outlier_penalty: OutlierPenalty = "auto",
    nonnegative: Nonnegative = False,
    scale: Scale = ColumnScale.COLUMNS,
    debias: Debias = True,
    solver: SolverName = None,
    false_share: FalseShare = 0.03,
    tol: Tolerance = 1e-4,
    max_iter: MaxIter = 500,
    top: Top = 10,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Clean a table: find cells that do not fit the rest, and estimate what belongs there and in the gaps.

    Writes NAME.cleaned, with gaps filled and outliers replaced, and NAME.outliers, a list of the outliers, both in the
    format of TABLE. Columns of text, dates and row numbers are set aside and written back unchanged. Empty cells, NA
    and NaN are gaps.

    unmingle decompose readings.csv --report

    unmingle decompose readings.xlsx -o cleaned.csv --no-fill
    """
    with console.progress(f"Separating {table.name}", quiet=quiet) as advance, console.warnings_as_sentences():
        from ..apps import tables

        content = read(
            table, sheet, header, decimal, use, aside, nonnegative=nonnegative, min_shape=(2, 2), quiet=quiet
        )
        places = tables.places_for(table, out, content.form, report=report, parts=parts)
        ready_outputs({f"--out ({name})": path for name, path in places.items()}, {"TABLE": table})
        done = tables.separate(
            content.values,
            scale=None if scale is ColumnScale.NONE else scale.value,
            debias=debias,
            nonnegative=nonnegative,
            false_share=false_share,
            n_components=components,
            rank_penalty=rank_penalty,
            outlier_penalty=outlier_penalty,
            solver=solver and solver.value,
            tol=tol,
            max_iter=max_iter,
            callback=advance,
            random_state=seed,
        )
        cleaned = tables.clean(content, done.low_rank, done.flags, fill=fill, replace=replace)
        cells = tables.outlier_rows(content, done)
        tables.write_results(content, done, cleaned, cells, places, name=table.name)
        doubt = tables.too_many(done)
    if doubt:
        console.say(f"Warning: {doubt}")
    if as_json:
        told = {**done.card_, "filled": cleaned.filled, "replaced": cleaned.replaced, "notes": content.notes}
        console.print_json({"table": table, **told, "strongest_outliers": cells[:top], "written": places})
    elif not quiet:
        _show(done.card_, cleaned, cells[:top], places)


def _show(card: dict[str, Any], cleaned: "Cleaned", strongest: list[dict[str, Any]], written: dict[str, Path]) -> None:
    size = f"{card['rows']} x {card['columns']}, {card['missing']} missing"
    share = 100 * card["flagged"] / max(card["rows"] * card["columns"] - card["missing"], 1)
    told = {
        "outliers": f"{card['flagged']} of the cells ({share:.2g} %)",
        "cleaned": f"{cleaned.filled} gaps filled, {cleaned.replaced} outliers replaced",
        "typical deviation": f"{card['typical_deviation']:.3g}",
    }
    facts = console.facts({"table": size, **told, **console.solved(card)})
    console.show(facts, *console.outlier_table(strongest), **written)
