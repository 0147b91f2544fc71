"""How soon a camera that moves is noticed: `python -m lab camera-moves --data FOLDER`.

Windows of four fifths of the sides of labelled films. After 150 frames the film is cut (another film follows), the
window pans by two pixels a frame, zooms in by 2 % a frame, or jumps by a twentieth of the width, like a tripod that was
kicked.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from unmingle.apps.video import Stream

from ..bench.shared.tables import as_table
from ..paper.video import labelled_films, read_labelled

KINDS = ("cut", "pan", "zoom", "kick")
START, AFTER = 150, 40
MARGIN, SIDE = 0.1, 0.8
SOON = 10

Array = NDArray[Any]


def film_of(kind: str, frames: Array, others: Array) -> Iterator[Array]:
    """Frames of a camera that stands for a while and then moves in one of the ways."""
    rows, columns = frames.shape[1:3]
    height, width = (int(SIDE * size) // 2 * 2 for size in (rows, columns))
    for number in range(min(START + AFTER, len(frames))):
        gone = max(0, number - START + 1)
        top, left, frame, zoom = int(MARGIN * rows), int(MARGIN * columns), frames[number], 1.0
        if kind == "cut" and gone:
            frame = np.asarray(Image.fromarray(others[number % len(others)]).resize((columns, rows)))
        elif kind == "pan":
            left += min(2 * gone, columns - width - left)
        elif kind == "zoom":
            zoom += 0.02 * min(gone, 15)
        elif kind == "kick" and gone:
            top, left = top + int(0.03 * rows), left + int(0.05 * columns)
        high, wide = int(height / zoom), int(width / zoom)
        top, left = top + (height - high) // 2, left + (width - wide) // 2
        window = np.ascontiguousarray(frame[top : top + high, left : left + wide])
        yield window if zoom == 1.0 else np.asarray(Image.fromarray(window).resize((width, height)))


def noticed(frames: Iterator[Array]) -> str:
    """How many frames after the move it was noticed."""
    stream = Stream()
    for number, frame in enumerate(frames):
        stream.push(frame)
        if stream.card_["camera_moves"]:
            return "false" if number < START else str(number - START + 1)
    return "–"


def first_colours(path: Path) -> Array:
    """As many frames of a film as are needed, in colours."""
    colours = read_labelled(path).colours
    assert colours is not None
    return colours[: START + AFTER]


def run(folder: Path) -> None:
    """Print after how many frames each move of each film was noticed."""
    paths = labelled_films(folder)
    names, rows, soon = list(paths), [], 0
    colours = {name: first_colours(path) for name, path in paths.items()}
    for place, name in enumerate(names):
        others = colours[names[place - 1]]
        found = [noticed(film_of(kind, colours[name], others)) for kind in KINDS]
        soon += sum(cell.isdigit() and int(cell) <= SOON for cell in found)
        rows.append((name, *found))
    print("\n".join(as_table(("film", *KINDS), rows)))
    print(f"{soon} of {len(names) * len(KINDS)} within {SOON} frames, in colour")
