"""What came of a folder of images, as files."""

import csv
import io
from pathlib import Path

import numpy as np

from ..._types import Float32Array
from ...alignment.result import Alignment
from ...report.pictures import png
from ...store import write_atomically
from ..tables.writing import escape_formula
from ._images import SourceImages, unique_stems

PARTS = ("aligned", "low_rank", "outliers")
"""The folders of pictures."""
HEAD = ["file", "ok", "cost", "valid", *(f"m{row}{column}" for row in range(3) for column in range(3)), "note"]
"""The columns of the table."""


def write_results(images: SourceImages, done: Alignment, out: Path) -> dict[str, Path]:
    """Write pictures of the three parts into folders of their own, and the transformations as a table.

    Outliers are shown on grey: what is darker than it should be is darker. Images that could not be aligned have no
    pictures.

    Parameters
    ----------
    images : SourceImages
        What was read.
    done : Alignment
        What came of it.
    out : path
        A folder that is there.

    Returns
    -------
    dict of str to Path
        What was written.
    """
    places = {part: out / part for part in PARTS}
    for place in places.values():
        place.mkdir(exist_ok=True)
    for number, stem in enumerate(unique_stems(images.names)):
        if done.ok[number]:
            for part, picture in zip(PARTS, pictures_of(done, number), strict=True):
                with write_atomically(places[part] / f"{stem}.png") as temporary:
                    temporary.write_bytes(png(picture))
    table = out / "transformations.csv"
    with write_atomically(table) as temporary:
        temporary.write_text(_table(images, done), encoding="utf-8")
    return {**places, "transformations": table}


def pictures_of(done: Alignment, number: int) -> tuple[Float32Array, ...]:
    """The aligned image, its low-rank part and its outliers, as pictures from 0 to 1; black is what is not known."""
    return np.nan_to_num(done.images[number]), done.low_rank[number], 0.5 + 0.5 * done.outliers[number]


def _table(images: SourceImages, done: Alignment) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    for number, name in enumerate(images.names):
        figures = [done.cost[number], done.valid[number], *done.matrices[number].ravel()]
        shown = ["" if np.isnan(figure) else f"{figure:.9g}" for figure in figures]
        writer.writerow([escape_formula(name), "yes" if done.ok[number] else "no", *shown, done.notes[number]])
    for name, note in images.unread.items():
        writer.writerow([escape_formula(name), "no", *[""] * 11, note])
    return text.getvalue()
