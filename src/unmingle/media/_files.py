"""Files by their names: those of one kind in a folder, and those that are written under a temporary name."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from .._validation import is_missing
from .errors import MediaError, cause


def list_files(folder: str | PathLike[str], suffixes: frozenset[str], what: str) -> list[Path]:
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
    return sorted(paths, key=_natural_order)


def _natural_order(path: Path) -> tuple[list[tuple[int, str]], str]:
    parts = re.split(r"([0-9]+)", path.name)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts], path.name


def temporary_path(path: Path, end: str = "partial") -> Path:
    """The name of a file while it is written."""
    return path.with_name(f".{path.name}.{end}")


def move_into_place(written: Path, path: Path) -> None:
    """Give a file that was written under a temporary name its own."""
    with written.open("rb+") as file:
        os.fsync(file.fileno())
    os.replace(written, path)


def check_parent_folder(path: Path) -> None:
    """Raise an error unless there is a folder for a new file."""
    if not path.parent.is_dir():
        raise MediaError(f"{path} cannot be written: the folder {path.parent} does not exist; create it first.")
    if path.is_dir():
        raise MediaError(f"{path} cannot be written: it is a folder; give it another name.")


@contextmanager
def unwritable_in_words(path: Path) -> Iterator[None]:
    """Turn failures to begin with a file into the sentence that says why it cannot be written."""
    try:
        yield
    except BlockingIOError as error:
        raise MediaError(f"{path} cannot be written: another run is writing it; give it another name.") from error
    except OSError as error:
        raise MediaError(f"{path} cannot be written: {cause(error)}.") from error
