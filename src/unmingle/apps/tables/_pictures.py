"""Folders of images as tables, a row for each image, and what models make of them as pictures."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..._types import AnyArray
from ...media import SizesDifferError, read_images
from ...report import png
from ...store import write_atomically
from ._apply import AppliedTable
from ._formats import Form, TableError
from ._results import write_row_results

PARTS = ("low_rank", "outliers")


class Pictures(NamedTuple):
    """Images as rows."""

    values: AnyArray
    """(n, height * width): from 0, black, to 1, white."""
    names: Sequence[str]
    size: tuple[int, int]


def read_pictures(folder: str | PathLike[str], n_features: int, size: tuple[int, int] | None = None) -> Pictures:
    """Read a folder of images for a model of images.

    Parameters
    ----------
    folder : path
        The folder.
    n_features : int
        Pixels that the model was fitted to.
    size : pair of int, optional
        Height and width to bring images to.

    Raises
    ------
    TableError, MediaError
        There are no images, or not of the size of the model's.
    """
    try:
        pixels, names = read_images(folder, size)
    except SizesDifferError as error:
        raise TableError(f"{str(error).removesuffix('.')}; --size HxW brings all images to one size.") from None
    count, height, width = pixels.shape
    if height * width != n_features:
        raise TableError(
            f"{folder} has images of {height} x {width} pixels, but the model was fitted to samples of {n_features}; "
            "--size HxW brings them to the size of the model."
        )
    return Pictures(pixels.reshape(count, -1), names, (height, width))


def write_pictures(pictures: Pictures, done: AppliedTable, out: Path) -> dict[str, Path]:
    """Write the low-rank parts and the outliers, on grey, into folders; codes and scores as tables."""
    names = [Path(name).stem for name in pictures.names]
    stems = [
        stem if names.count(stem) == 1 else name.replace(".", "_")
        for stem, name in zip(names, pictures.names, strict=True)
    ]
    shown = {"low_rank": np.asarray(done.low_rank), "outliers": 0.5 + 0.5 * np.asarray(done.outliers)}
    places = {part: out / part for part in PARTS}
    for part, place in places.items():
        place.mkdir(exist_ok=True)
        for stem, row in zip(stems, shown[part], strict=True):
            with write_atomically(place / f"{stem}.png") as temporary:
                temporary.write_bytes(png(row.reshape(pictures.size)))
    lists = {"codes": out / "codes.csv"} | ({} if done.scores is None else {"scores": out / "scores.csv"})
    write_row_results(pictures.names, Form(".csv"), done, lists)
    return places | lists
