"""The page on misaligned faces."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmingle.alignment.learning import align_new, split_without_search
from unmingle.report import pictures as page_pictures
from unmingle.report.pieces import figure, heading, page, paragraph, table

from ._data import FacesApart, shifted
from ._gradients import WITHOUT_TORCH
from ._trials import WITHOUT_OPENCV, learnt_from

Array = NDArray[Any]

SHAKING = (
    "Films of CDnet as they are, and two of them through a window that stands, or walks at random up to four pixels "
    "from its middle. All ways of following take turns, frame by frame; times are medians of CPU time."
)
SHOWN = 4
SHIFT = np.array([2.4, -1.7])


def figure_of(faces: FacesApart) -> str:
    """The paper's figure: some faces as they are, shifted, and aligned again; rebuilt, low rank, outliers, cost."""
    train, test = faces.folds()[0]
    learned, _ = learnt_from(faces, train)
    some = test[np.linspace(0, len(test) - 1, SHOWN).astype(int)]
    plain, starts = [faces.images[number] for number in some], faces.starts[some]
    moved = [shifted(image, SHIFT) for image in plain]
    groups = {
        "original": split_without_search(learned, plain, starts),
        "shifted": split_without_search(learned, moved, starts),
        "aligned again": align_new(learned, moved, starts),
    }
    columns: dict[str, list[str]] = {}
    for title, parts in groups.items():
        for number in range(SHOWN):
            low_rank, outliers = parts.low_rank[number], parts.outliers[number]
            name = f"{title} {number + 1}, cost {parts.cost[number]:.2f}"
            pictures = (low_rank + outliers, low_rank, 0.5 + outliers)
            columns[name] = [page_pictures.image(picture, name) for picture in pictures]
    sheet = page_pictures.picture_rows(columns, ["rebuilt, Us + o", "low rank, Us", "outliers, o"])
    caption = f"{faces.name}: as they are, shifted by {SHIFT[0]:g} and {SHIFT[1]:g} pixels, and aligned again."
    return figure(sheet, caption)


def alignment_page(result: Mapping[str, Any], figures: Sequence[str]) -> str:
    """The whole page.

    Parameters
    ----------
    result : mapping
        From `run`.
    figures : sequence of str
        From `figure_of`.
    """
    from ._run import tables

    parts = [
        "<h1>Faces that are not aligned</h1>",
        paragraph(
            "Faces are shifted by up to 3 pixels along each axis, or otherwise changed, and found again with a model "
            "of other faces. An error is answer(changed) - answer(as it was) - change, each method by its own answers.",
            "lead",
        ),
        *figures,
    ]
    if not result["opencv"]:
        parts.append(paragraph(WITHOUT_OPENCV))
    if not result["torch"]:
        parts.append(paragraph(WITHOUT_TORCH))
    for head, rows in tables(result):
        parts += [heading(head[0]), table(head, rows, chosen=0 if "error" in head[1] else -1)]
    if result["shaking"]:
        parts.append(paragraph(SHAKING))
    return page("Faces that are not aligned", *parts, paragraph("Made by: python -m lab alignment"))
