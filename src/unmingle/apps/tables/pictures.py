"""Folders of images as tables, a row for each image, and what models make of them as pictures."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..._types import AnyArray
from ...media import read_images
from ...media.errors import SizesDifferError
from ...report.pictures import png
from ...store import write_atomically
from ..jobs import make_folder
from ._applied import AppliedParts, decompose_by_model, n_features
from ._apply import load_model, rows_in_words
from ._formats import Form, TableError
from ._outputs import write_row_results

PARTS = ("low_rank", "outliers")


class Pictures(NamedTuple):
    """Images as rows."""

    values: AnyArray
    """(n, height * width): from 0, black, to 1, white."""
    names: Sequence[str]
    size: tuple[int, int]


@dataclass(frozen=True, eq=False)
class PicturesResult:
    """Images by a model of images.

    Attributes
    ----------
    pictures : Pictures
        The images as rows.
    parts : AppliedParts
        Their low-rank parts, outliers and scores.
    warnings : tuple of str
        What to beware of, a sentence each.
    written : dict of str to Path
        The files and folders that were written, by what they hold.
    """

    pictures: Pictures
    parts: AppliedParts
    warnings: tuple[str, ...]
    written: dict[str, Path]

    def summary(self) -> dict[str, Any]:
        """Figures of the result, as plain values."""
        height, width = self.pictures.size
        figures = {"images": len(self.pictures.names), "height": height, "width": width}
        written = {name: str(path) for name, path in self.written.items()}
        return {**figures, "components": self.parts.part.rank, "written": written}

    def summary_text(self) -> dict[str, str]:
        """The figures that people read first, in words."""
        height, width = self.pictures.size
        return {
            "images": f"{len(self.pictures.names)} of {height} x {width} pixels",
            "components": str(self.parts.part.rank),
            **rows_in_words(self.parts),
        }


def apply_to_images(
    model: Any, source: str | PathLike[str], folder: str | PathLike[str] | None, size: tuple[int, int] | None = None
) -> PicturesResult:
    """Take the images of a folder apart by a model of images, each on its own.

    Parameters
    ----------
    model : estimator, Encoder or path
        A fitted model, or its file.
    source : path
        The folder of images.
    folder : path, optional
        Where pictures, codes and scores go; without it nothing is written.
    size : pair of int, optional
        Height and width to bring images to.
    """
    fitted = load_model(model)
    pictures = read_pictures(source, n_features(fitted), size)
    parts = decompose_by_model(fitted, pictures.values)
    written = {} if folder is None else write_pictures(pictures, parts, make_folder(Path(folder), "out"))
    return PicturesResult(pictures, parts, (), written)


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


def write_pictures(pictures: Pictures, parts: AppliedParts, out: Path) -> dict[str, Path]:
    """Write the low-rank parts and the outliers, on grey, into folders; codes and scores as tables."""
    names = [Path(name).stem for name in pictures.names]
    stems = [
        stem if names.count(stem) == 1 else name.replace(".", "_")
        for stem, name in zip(names, pictures.names, strict=True)
    ]
    shown = {"low_rank": np.asarray(parts.low_rank), "outliers": 0.5 + 0.5 * np.asarray(parts.outliers)}
    places = {part: out / part for part in PARTS}
    for part, place in places.items():
        place.mkdir(exist_ok=True)
        for stem, row in zip(stems, shown[part], strict=True):
            with write_atomically(place / f"{stem}.png") as temporary:
                temporary.write_bytes(png(row.reshape(pictures.size)))
    lists = {"codes": out / "codes.csv"} | ({} if parts.scores is None else {"scores": out / "scores.csv"})
    write_row_results(pictures.names, Form(".csv"), parts, lists)
    return places | lists
