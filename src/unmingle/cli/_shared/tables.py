"""Samples in rows: from arrays and tables in files, or from a folder of images."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..._types import AnyArray
from ...apps.tables import TableError, read_table
from ...apps.tables.table import framed
from ...media import read_images
from ...media.errors import SizesDifferError


class Samples(NamedTuple):
    """Samples in rows."""

    X: Any
    """(n, m): NaN where missing; a data frame where features have names."""
    told: str
    """What they are, in a few words."""
    notes: Sequence[str] = ()
    """How they were read, as far as that is worth a note."""


def read_samples(path: Path, size: tuple[int, int] | None = None, *, nonnegative: bool = False) -> Samples:
    """Read a table or an array, or a folder of images, one image for each row.

    Parameters
    ----------
    path : Path
        The file or folder.
    size : pair of int, optional
        Height and width to bring images to.
    nonnegative : bool
        Whether to refuse negative numbers.

    Raises
    ------
    TableError, MediaError
        There are no samples, or not of one form.
    """
    if not path.is_dir():
        table = read_table(path, nonnegative=nonnegative)
        return Samples(framed(table.values, table.columns) if table.named else table.values, path.name, table.notes)
    try:
        pixels = read_images(path, size).pixels
    except SizesDifferError as error:
        raise TableError(f"{str(error).removesuffix('.')}; --size HxW brings all images to one size.") from None
    count, height, width = pixels.shape
    told = f"{path.resolve().name}, {count} images of {height} x {width} pixels"
    return Samples(pixels.reshape(count, height * width), told)


def read_parts(
    background: Path, foreground: Path, shape: tuple[int, ...], size: tuple[int, int] | None = None
) -> AnyArray:
    """Read the true parts of samples, an array of shape (n, 2, m).

    Parameters
    ----------
    background, foreground : Path
        Files or folders, as the samples.
    shape : tuple of int
        That of the samples.
    size : pair of int, optional
        Height and width to bring images to.

    Raises
    ------
    TableError, MediaError
        A part is not readable, not complete or of another shape.
    """
    parts = []
    for path in (background, foreground):
        part = np.asarray(read_samples(path, size).X)
        if part.shape != shape:
            raise TableError(f"{path} has {_form(part.shape)}, but the samples have {_form(shape)}.")
        if not np.isfinite(part).all():
            raise TableError(f"{path} has missing entries; the true parts must be complete.")
        parts.append(part)
    return np.stack(parts, axis=1)


def _form(shape: tuple[int, ...]) -> str:
    return f"{shape[0]} rows and {shape[1]} columns"
