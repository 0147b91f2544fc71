"""The page that shows how images were aligned."""

from html import escape

import numpy as np

from ... import __version__, report
from ..._types import Float32Array, IndexArray
from ...alignment.result import Alignment
from ...report import counted
from ._folder import Folder
from ._outputs import pictures_of

MOST_ROWS = 40
"""Images on a page that can still be looked through."""


def report_page(name: str, folder: Folder, done: Alignment, before: Float32Array, motion: str) -> str:
    """The whole page: mean images before and after, and a row for each image.

    Parameters
    ----------
    name : str
        What the images are.
    folder : Folder
        The images.
    done : Alignment
        What came of them.
    before : array of shape (n, height, width) or (n, height, width, 3)
        The frames where the search started.
    transform : str
        The family of transformations.
    """
    good = np.flatnonzero(done.ok)
    bad = {**{folder.names[i]: done.notes[i] for i in np.flatnonzero(~done.ok)}, **folder.unread}
    parts = [
        f"<h1>{escape(name)}</h1>",
        report.paragraph(
            f"{counted(len(good), 'image')} aligned by {motion}, each taken apart into what all have in common "
            "and what stands out.",
            "lead",
        ),
    ]
    if len(good):
        parts += [*_means(done, before, good), *_sheet(folder, done, before, good)]
    if bad:
        rows = [[file, note] for file, note in bad.items()]
        parts += [report.heading("Not aligned"), report.table(["file", "why"], rows, chosen=-1)]
    return report.page(f"{name}: aligned", *parts, f"<footer>Made by unmingle {__version__}.</footer>")


def _means(done: Alignment, before: Float32Array, good: IndexArray) -> list[str]:
    pictures = {"mean before": _mean(_grey(before[good])), "mean after": _mean(_grey(done.images[good]))}
    pictures["mean of the low-rank parts"] = done.low_rank[good].mean(axis=0)
    rows = report.picture_rows({title: [report.image(picture, title)] for title, picture in pictures.items()})
    figures = {
        "aligned": str(len(good)),
        "mean cost": f"{done.cost[good].mean():.3f}",
        "components": str(done.codes.shape[1]),
    }
    return [report.key_figures(figures), report.figure(rows, "The sharper the mean, the better the alignment.")]


def _sheet(folder: Folder, done: Alignment, before: Float32Array, good: IndexArray) -> list[str]:
    shown = good[np.unique(np.linspace(0, len(good) - 1, min(len(good), MOST_ROWS)).astype(int))]
    columns: dict[str, list[str]] = {title: [] for title in ("before", "after", "low rank", "outliers")}
    for number in shown:
        pictures = (np.nan_to_num(before[number]), *pictures_of(done, number))
        for title, picture in zip(columns, pictures, strict=True):
            columns[title].append(report.image(picture, f"{folder.names[number]}, {title}"))
    labels = [f"{folder.names[number]}, cost {done.cost[number]:.3f}" for number in shown]
    every = "" if len(shown) == len(good) else f" {len(shown)} of {len(good)} images."
    caption = f"Outliers on grey: white is brighter than expected.{every}"
    return [report.heading("Images"), report.figure(report.picture_rows(columns, labels), caption)]


def _grey(images: Float32Array) -> Float32Array:
    return images if images.ndim == 3 else images.mean(axis=3)


def _mean(frames: Float32Array) -> Float32Array:
    known = ~np.isnan(frames)
    return np.asarray(np.nan_to_num(frames).sum(axis=0) / np.maximum(known.sum(axis=0), 1), np.float32)
