"""The page that shows how images were aligned."""

from html import escape

import numpy as np

from ... import __version__
from ..._types import Float32Array, IndexArray
from ...alignment.result import Alignment
from ...report.numbers_in_words import counted
from ...report.pictures import image, picture_rows
from ...report.pieces import figure, heading, key_figures, page, paragraph, table
from ._images import SourceImages
from ._outputs import pictures_of

MOST_ROWS = 40
"""Images on a page that can still be looked through."""


def report_page(images: SourceImages, done: Alignment, before: Float32Array, motion: str) -> str:
    """The whole page: mean images before and after, and a row for each image.

    Parameters
    ----------
    images : SourceImages
        The images.
    done : Alignment
        What came of them.
    before : array of shape (n, height, width) or (n, height, width, 3)
        The frames where the search started.
    motion : str
        The family of transformations.
    """
    name, good = images.title, np.flatnonzero(done.ok)
    bad = {**{images.names[i]: done.notes[i] for i in np.flatnonzero(~done.ok)}, **images.unread}
    parts = [
        f"<h1>{escape(name)}</h1>",
        paragraph(
            f"{counted(len(good), 'image')} aligned by {motion}, each separated into what all have in common "
            "and what stands out.",
            "lead",
        ),
    ]
    if len(good):
        parts += [*_mean_pictures(done, before, good), *_sheet(images, done, before, good)]
    if bad:
        rows = [[file, note] for file, note in bad.items()]
        parts += [heading("Not aligned"), table(["file", "why"], rows, chosen=-1)]
    return page(f"{name}: aligned", *parts, f"<footer>Made by unmingle {__version__}.</footer>")


def _mean_pictures(done: Alignment, before: Float32Array, good: IndexArray) -> list[str]:
    pictures = {"mean before": _mean_of(_grey(before[good])), "mean after": _mean_of(_grey(done.images[good]))}
    pictures["mean of the low-rank parts"] = done.low_rank[good].mean(axis=0)
    rows = picture_rows({title: [image(picture, title)] for title, picture in pictures.items()})
    figures = {
        "aligned": str(len(good)),
        "mean cost": f"{done.cost[good].mean():.3f}",
        "components": str(done.codes.shape[1]),
    }
    return [key_figures(figures), figure(rows, "The sharper the mean, the better the alignment.")]


def _sheet(images: SourceImages, done: Alignment, before: Float32Array, good: IndexArray) -> list[str]:
    shown = good[np.unique(np.linspace(0, len(good) - 1, min(len(good), MOST_ROWS)).astype(int))]
    columns: dict[str, list[str]] = {title: [] for title in ("before", "after", "low rank", "outliers")}
    for number in shown:
        pictures = (np.nan_to_num(before[number]), *pictures_of(done, number))
        for title, picture in zip(columns, pictures, strict=True):
            columns[title].append(image(picture, f"{images.names[number]}, {title}"))
    labels = [f"{images.names[number]}, cost {done.cost[number]:.3f}" for number in shown]
    every = "" if len(shown) == len(good) else f" {len(shown)} of {len(good)} images."
    caption = f"Outliers on grey: white is brighter than expected.{every}"
    return [heading("Images"), figure(picture_rows(columns, labels), caption)]


def _grey(frames: Float32Array) -> Float32Array:
    return frames if frames.ndim == 3 else frames.mean(axis=3)


def _mean_of(frames: Float32Array) -> Float32Array:
    known = ~np.isnan(frames)
    return np.asarray(np.nan_to_num(frames).sum(axis=0) / np.maximum(known.sum(axis=0), 1), np.float32)
