"""Options of commands that read a table: those whose names or parsers are not those of their fields.

Their help is the sentence of their field, see `declare`.
"""

from pathlib import Path
from typing import Annotated, Any

import typer

from .options import OutlierWeight, RankWeight, one_of


def _decimal(mark: str | None) -> str | None:
    return mark if mark is None else one_of((".", ","))(mark)


TableFile = Annotated[
    Path,
    typer.Argument(metavar="TABLE", help="A .csv, .tsv or .txt file (also .gz), Excel (.xlsx), Parquet, .npy or .npz."),
]
READING: dict[str, Any] = {
    "sheet": Annotated[str | None, typer.Option(metavar="NAME")],
    "header": Annotated[bool | None, typer.Option("--header/--no-header")],
    "decimal": Annotated[str | None, typer.Option(metavar=".|,", callback=_decimal)],
    "use": Annotated[list[str] | None, typer.Option(metavar="COLUMN")],
    "skip": Annotated[list[str] | None, typer.Option("--aside", metavar="COLUMN")],
}
"""Those of `unmingle.apps.tables.Reading`."""
LEARNING: dict[str, Any] = {
    "rank_penalty": RankWeight,
    "outlier_penalty": OutlierWeight,
    "random_state": Annotated[int, typer.Option("--seed", min=0)],
}
"""Those of all that is learnt."""
CLEANING: dict[str, Any] = {
    "fill": Annotated[bool, typer.Option("--fill/--no-fill")],
    "replace": Annotated[bool, typer.Option("--replace/--no-replace")],
}
"""Those of what the cleaned table holds."""
