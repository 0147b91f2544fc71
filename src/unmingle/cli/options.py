"""Options that several commands share."""

from typing import Annotated

import typer


def penalty(text: str) -> float | str:
    """Read a penalty: a positive number, or "auto"."""
    if text == "auto":
        return text
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < float("inf"):
        raise typer.BadParameter(f"expected a positive number or 'auto'; got {text!r}.")
    return value


Seed = Annotated[int, typer.Option(min=0, help="Seed of whatever is random; the same seed gives the same numbers.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print no results and no progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]
