"""Options that several commands share, and checks of what options may be."""

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

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


def date(text: str) -> datetime:
    """Read a date with its time."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"expected a date such as 2026-05-01T08:30:00; got {text!r}.") from None


def suffixed(*suffixes: str) -> Callable[[Path | None], Path | None]:
    """Return a check that a file has one of the suffixes."""

    def check(path: Path | None) -> Path | None:
        if path is not None and path.suffix.lower() not in suffixes:
            raise typer.BadParameter(f"the name must end in {' or '.join(suffixes)}; got {str(path)!r}.")
        return path

    return check


def one_of(names: Iterable[str]) -> Callable[[str], str]:
    """Return a check that a word is one of those that are known."""

    def check(name: str) -> str:
        if name not in names:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, names))}.")
        return name

    return check


def above_zero(unit: str = "", *, most: float = float("inf"), closed: bool = False) -> Callable[..., float | None]:
    """Return a check that a number is above 0, and below (or, if closed, at most) another one."""
    upper = "" if most == float("inf") else f" and {'at most' if closed else 'below'} {most:g}"

    def check(value: float | None) -> float | None:
        if value is not None and not (0.0 < value < most or (closed and value == most)):
            raise typer.BadParameter(f"expected a number{unit and ' of '}{unit} above 0{upper}; got {value:g}.")
        return value

    return check


Seed = Annotated[int, typer.Option(min=0, help="Random seed: the same seed gives the same results.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print no results and no progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]
RankWeight = Annotated[Any, typer.Option(parser=penalty, metavar="X|auto")]
OutlierWeight = Annotated[Any, typer.Option(parser=penalty, metavar="X|auto")]
"""Both have the help of the field that they are given for."""
