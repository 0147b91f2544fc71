"""Options of commands that read a table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import console
from .options import one_of

if TYPE_CHECKING:
    from ...apps.tables import NamedTable


def _decimal(mark: str | None) -> str | None:
    return mark if mark is None else one_of((".", ","))(mark)


TableFile = Annotated[
    Path,
    typer.Argument(metavar="TABLE", help="A .csv, .tsv or .txt file (also .gz), Excel (.xlsx), Parquet, .npy or .npz."),
]
Sheet = Annotated[str | None, typer.Option(metavar="NAME", help="Sheet of an Excel file, by name or number.")]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether the first line holds names; by default found from the file."),
]
Decimal = Annotated[
    str | None,
    typer.Option(metavar=".|,", callback=_decimal, help="Decimal mark; by default found from the numbers."),
]
Use = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Treat this column as data although it was set aside; may be repeated."),
]
Fill = Annotated[bool, typer.Option("--fill/--no-fill", help="Fill the gaps of the cleaned table.")]
Replace = Annotated[
    bool, typer.Option("--replace/--no-replace", help="Replace the cells that stand out in the cleaned table.")
]
Aside = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Set this column aside, and write it back unchanged; may be repeated."),
]


def read(
    path: Path,
    sheet: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    use: list[str] | None = None,
    aside: list[str] | None = None,
    *,
    nonnegative: bool = False,
    min_shape: tuple[int, int] = (1, 1),
    quiet: bool = False,
) -> "NamedTable":
    """Read a table, and say what is to be known of how it was read."""
    from ...apps.tables import read_table

    table = read_table(
        path, nonnegative=nonnegative, sheet=sheet, header=header, decimal=decimal, use=use or (), skip=aside or (),
        min_shape=min_shape,
    )  # fmt: skip
    if not quiet:
        console.say_notes(table.notes)
    return table
