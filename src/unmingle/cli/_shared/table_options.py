"""Options of commands that read a table: those whose names or parsers are not those of their fields."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .options import OutlierPenalty, RankPenalty, one_of


def _decimal(mark: str | None) -> str | None:
    return mark if mark is None else one_of((".", ","))(mark)


TableFile = Annotated[
    Path,
    typer.Argument(metavar="TABLE", help="A .csv, .tsv or .txt file (also .gz), Excel (.xlsx), Parquet, .npy or .npz."),
]
READING: dict[str, Any] = {
    "sheet": Annotated[str | None, typer.Option(metavar="NAME", help="Sheet of an Excel file, by name or number.")],
    "header": Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header", help="Whether the first line holds names; by default found from the file."
        ),
    ],
    "decimal": Annotated[
        str | None,
        typer.Option(metavar=".|,", callback=_decimal, help="Decimal mark; by default found from the numbers."),
    ],
    "use": Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Treat this column as data although it was set aside; may be repeated."),
    ],
    "skip": Annotated[
        list[str] | None,
        typer.Option(
            "--aside", metavar="COLUMN", help="Set this column aside, and write it back unchanged; may be repeated."
        ),
    ],
}
"""Those of `unmingle.apps.tables.Reading`."""
LEARNING: dict[str, Any] = {
    "rank_penalty": RankPenalty,
    "outlier_penalty": OutlierPenalty,
    "random_state": Annotated[
        int, typer.Option("--seed", min=0, help="Random seed: the same seed gives the same results.")
    ],
}
"""Those of all that is learnt."""
CLEANING: dict[str, Any] = {
    "fill": Annotated[bool, typer.Option("--fill/--no-fill", help="Fill the gaps of the cleaned table.")],
    "replace": Annotated[
        bool, typer.Option("--replace/--no-replace", help="Replace the cells that stand out in the cleaned table.")
    ],
}
"""Those of what the cleaned table holds."""
