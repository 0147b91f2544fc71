"""The command `unmingle decompose`."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..apps.tables import Outputs, Reading, Settings
from ._shared import console
from ._shared.declare import with_options
from ._shared.options import Json, Quiet, above_zero
from ._shared.paths import named_as_options
from ._shared.table_options import CLEANING, LEARNING, READING, TableFile


def column_scale(word: str | None) -> str | None:
    """Read the scale of columns."""
    if word not in ("columns", "none", None):
        raise typer.BadParameter(f"{word!r} is not one of 'columns', 'none'.")
    return None if word == "none" else word


_OPTIONS: dict[str, Any] = {
    **READING,
    **LEARNING,
    **CLEANING,
    "out": Annotated[Path | None, typer.Option("-o", "--out", metavar="PATH")],
    "report": Annotated[bool, typer.Option("--report")],
    "parts": Annotated[bool, typer.Option("--parts")],
    "nonnegative": Annotated[bool, typer.Option("--nonnegative")],
    "n_components": Annotated[int | None, typer.Option("--components", min=1)],
    "scale": Annotated[str | None, typer.Option(metavar="columns|none", callback=column_scale)],
    "false_share": Annotated[float, typer.Option(callback=above_zero(most=1.0))],
}
"""Options with names, parsers or checks of their own; their help is that of their fields."""


@partial(with_options, given=_OPTIONS, without=["reading"])
def run(
    table: TableFile,
    outputs: Outputs,
    reading: Reading,
    settings: Settings,
    top: Annotated[int, typer.Option(min=0, help="How many outliers to print.")] = 10,
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
    with (
        console.progress(f"Separating {table.name}", quiet=quiet) as advance,
        named_as_options({"the source": "TABLE"}),
    ):
        from ..apps.tables import separate

        result = separate(table, outputs.beside(table), replace(settings, reading=reading), progress=advance)
    console.say_remarks([] if quiet else result.notes, result.warnings)
    if as_json:
        console.print_json({"table": table, **result.summary(n_outliers=top)})
    elif not quiet:
        console.show(
            console.facts(result.summary_text()), *console.outlier_table(result.outliers[:top]), **result.written
        )
