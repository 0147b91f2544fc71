"""Files of one kind in a folder."""

import re
from os import PathLike
from pathlib import Path

from .._validation import is_missing
from ._errors import MediaError


def files_of(folder: str | PathLike[str], suffixes: frozenset[str], what: str) -> list[Path]:
    """The files with these suffixes, in the order of the numbers in their names: img2 before img10.

    Hidden files and folders within are passed over. `what` names the kind and examples for the sentence that tells
    that there are none: "images; expected files such as .png".
    """
    place = Path(folder)
    if not place.is_dir():
        raise MediaError(f"{folder} {'is not a folder' if place.exists() else is_missing(place)}.")
    paths = [path for path in place.iterdir() if path.suffix.lower() in suffixes and path.is_file()]
    paths = [path for path in paths if not path.name.startswith(".")]
    if not paths:
        raise MediaError(f"{folder} contains no {what}.")
    return sorted(paths, key=_natural)


def _natural(path: Path) -> tuple[list[tuple[int, str]], str]:
    parts = re.split(r"([0-9]+)", path.name)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts], path.name
