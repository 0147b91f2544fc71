"""Films of a camera that shakes: masks with and without following it, and what that costs.

A window of each film of CDnet walks over it, up to four pixels from its middle, so that what comes into sight at its
edges is real. The truth goes with it, by whole pixels.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from unmingle.apps.video import Stream
from unmingle.media import Planes
from unmingle.metrics import MaskCounts

from ..results import Table
from ..video import Film, labelled_films, read_labelled

Array = NDArray[Any]

MOST, STEP, MARGIN = 4.0, 1.5, 6
"""Pixels from the middle, from frame to frame, and around the window."""
FIRST_SCORED = 100
FAMILIES = ("translation", "similarity", "projective")
SHAKES_ITSELF = "badminton"
SHAKEN = ("highway", "pedestrians")
"""Films that are shaken: the two of CDnet's baseline."""


def films_in(folder: Path) -> list[tuple[str, Path]]:
    """The films with truth in a folder, by name."""
    return sorted(labelled_films(folder).items())


def walk(n: int, seed: int = 0) -> Array:
    """A random walk that stays within four pixels, (n, 2)."""
    rng, places = np.random.default_rng(seed), np.zeros((n, 2))
    for i in range(1, n):
        places[i] = np.clip(places[i - 1] + rng.uniform(-STEP, STEP, 2), -MOST, MOST)
    return places


def window(film: Film, places: Array) -> Film:
    """The film through a window whose middle is at these places, x and y; between pixels by cubic splines."""
    assert film.colours is not None
    height, width = (side - 2 * MARGIN for side in film.truth.shape[1:])
    frames, truths = [], []
    for picture, truth, (x, y) in zip(film.colours, film.truth, places, strict=True):
        if x or y:
            moved = ndimage.shift(picture.astype(np.float32), (-y, -x, 0), order=3, mode="mirror")
            picture = np.rint(np.clip(moved, 0, 255)).astype(np.uint8)
        frames.append(picture[MARGIN : MARGIN + height, MARGIN : MARGIN + width])
        top, left = MARGIN + round(float(y)), MARGIN + round(float(x))
        truths.append(truth[top : top + height, left : left + width])
    colours = np.stack(frames)
    return Film(np.stack([Planes.from_rgb(frame).luma for frame in colours]), np.stack(truths), film.labels, colours)


def separated(film: Film, ways: Sequence[str | None], *, grey: bool = False) -> dict[str, dict[str, float]]:
    """F over the frames after the first hundred, and CPU milliseconds for each, by how a camera is followed.

    All ways take turns, frame by frame.
    """
    assert film.colours is not None
    frames = film.frames if grey else [Planes.from_rgb(picture) for picture in film.colours]
    streams = {way: Stream(stabilise=way) for way in ways}
    counts = dict.fromkeys(ways, MaskCounts())
    taken: dict[str | None, list[float]] = {way: [] for way in ways}
    for number, (frame, truth) in enumerate(zip(frames, film.truth, strict=True)):
        for way, stream in streams.items():
            begun = process_time()
            found = stream.push(frame)
            if number >= FIRST_SCORED:
                taken[way].append(process_time() - begun)
                counts[way] += MaskCounts.of(found.mask, truth, labels=film.labels)
    return {way or "none": {"f": counts[way].f_measure.f, "ms": 1e3 * median(taken[way])} for way in ways}


def shaking_trials(name: str, path: Path) -> list[dict[str, Any]]:
    """A film as it is, without and with shifts followed; some also shaken, in colour and in grey."""
    film = read_labelled(path)
    n = len(film.truth)
    rest: tuple[str | None, ...] = (None, "translation")
    every = (None, *FAMILIES)
    rows = [_row(name, film, every if name == SHAKES_ITSELF else rest)]
    if name not in SHAKEN:
        return rows
    still, shaken = window(film, np.zeros((n, 2))), window(film, walk(n))
    for grey in (False, True):
        kind = ", grey" if grey else ""
        rows.append(_row(f"{name}{kind}, at rest", still, rest, grey=grey))
        rows.append(_row(f"{name}{kind}, shaken", shaken, every, grey=grey))
    return rows


def _row(name: str, film: Film, ways: Sequence[str | None], *, grey: bool = False) -> dict[str, Any]:
    return {"film": name, "ways": separated(film, ways, grey=grey)}


def shaking_tables(rows: list[dict[str, Any]]) -> list[Table]:
    """F of all ways, and their times over that without following."""
    if not rows:
        return []
    scores, times = [], []
    for row in rows:
        ways, plain = row["ways"], row["ways"]["none"]["ms"]
        scores.append([row["film"], *(f"{ways[way]['f']:.3f}" if way in ways else "" for way in ("none", *FAMILIES))])
        shares = [f"{ways[way]['ms'] / plain:.2f}" if way in ways else "" for way in FAMILIES]
        times.append([row["film"], f"{plain:.2f}", *shares])
    return [
        (["a shaking camera, F", "not followed", *FAMILIES], scores),
        (["time of a frame", "not followed, ms", *(f"{one}, times" for one in FAMILIES)], times),
    ]
