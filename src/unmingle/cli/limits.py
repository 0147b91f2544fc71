"""What the options of `unmingle video` may be; each check is the callback of an option."""

from collections.abc import Callable
from pathlib import Path

import typer


def suffixed(*suffixes: str) -> Callable[[Path | None], Path | None]:
    """Return a check that a file has one of the suffixes."""

    def check(path: Path | None) -> Path | None:
        if path is not None and path.suffix.lower() not in suffixes:
            raise typer.BadParameter(f"the name must end in {' or '.join(suffixes)}; got {str(path)!r}.")
        return path

    return check


def film(path: Path | None) -> Path | None:
    """Check that a film is not to go to standard output."""
    if path == Path("-"):
        raise typer.BadParameter("films cannot be written to standard output; give a file or a folder.")
    return path


def above_zero(unit: str = "", *, most: float = float("inf"), closed: bool = False) -> Callable[..., float | None]:
    """Return a check that a number is above 0, and below (or, if closed, at most) another one."""
    upper = "" if most == float("inf") else f" and {'at most' if closed else 'below'} {most:g}"

    def check(value: float | None) -> float | None:
        if value is not None and not (0.0 < value < most or (closed and value == most)):
            raise typer.BadParameter(f"expected a number{unit and ' of '}{unit} above 0{upper}; got {value:g}.")
        return value

    return check


def odd(value: int | None) -> int | None:
    """Check that the side of a square is odd, so that it has a pixel in its middle."""
    if value is not None and value % 2 == 0:
        raise typer.BadParameter(f"expected an odd number from 1 to 15; got {value}.")
    return value
