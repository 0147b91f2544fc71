"""Faces that are not aligned, where their frame starts, and faces displaced by known amounts."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from ...data import DataMissing

Array = NDArray[Any]

GORE, DUMMY = "rasl_gore_000_069.npz", "rasl_dummy.npz"
FOLDS = 4
COVER = 0.1
"""Share of the frame that a square covers."""
EYES = (23.5, 22.0)
"""Where the middle of the eyes of Gore is in the frame."""


@dataclass(frozen=True)
class FacesApart:
    """Faces of one person, or of a dummy's head, each a little displaced."""

    name: str
    images: list[Array]
    shape: tuple[int, int]
    starts: Array
    """(n, 3, 3): where the frame starts in each."""
    n_components: int

    def folds(self) -> list[tuple[Array, Array]]:
        """Numbers of the images to learn from and to test, four times, each image tested once."""
        numbers = np.arange(len(self.images))
        return [(numbers[numbers % FOLDS != fold], numbers[numbers % FOLDS == fold]) for fold in range(FOLDS)]


def read_sets(folder: Path) -> list[FacesApart]:
    """The two sets of RASL's authors in a folder, or in its sub-folder ``faces``.

    Parameters
    ----------
    folder : path
        Where they are.
    """
    places = [place for place in (folder / "faces", folder) if (place / GORE).is_file() and (place / DUMMY).is_file()]
    if not places:
        raise DataMissing(
            f"{folder} contains no faces to align: expected {GORE} and {DUMMY}, see --data or UNMINGLE_DATA."
        )
    try:
        with (
            np.load(places[0] / GORE, allow_pickle=False) as gore,
            np.load(places[0] / DUMMY, allow_pickle=False) as dummy,
        ):
            sizes, eyes = gore["size"], gore["points"].mean(axis=2) - 1
            images = [image[:h, :w] for image, (h, w) in zip(gore["images"], sizes, strict=True)]
            heads = list(dummy["images"])
    except (OSError, ValueError, KeyError):
        raise DataMissing(f"{places[0]} contains a damaged {GORE} or {DUMMY}.") from None
    middle = np.tile([(heads[0].shape[1] - 45) / 2, (heads[0].shape[0] - 45) / 2], (len(heads), 1))
    return [
        FacesApart("Gore", [_light(image) for image in images], (66, 48), _shifts(eyes - EYES), 8),
        FacesApart("dummy", [_light(head) for head in heads], (45, 45), _shifts(middle), 10),
    ]


def _light(image: Array) -> Array:
    return np.asarray(image, np.float32) / np.float32(255)


def _shifts(places: Array) -> Array:
    matrices = np.tile(np.eye(3), (len(places), 1, 1))
    matrices[:, :2, 2] = places
    return matrices


def shifted(image: Array, shift: Array) -> Array:
    """An image whose content has moved by (x, y), by splines of degree 5, which no method here uses."""
    return ndimage.shift(image.astype(np.float64), shift[::-1], order=5, mode="mirror").astype(np.float32)


def warped(image: Array, change: Array) -> Array:
    """An image whose pixel p shows what was at the place ``change`` maps p to, by splines of degree 5."""
    height, width = image.shape
    y, x = np.mgrid[:height, :width]
    places = change @ np.stack([x.ravel(), y.ravel(), np.ones(x.size)])
    read = ndimage.map_coordinates(image.astype(np.float64), (places[:2] / places[2])[::-1], order=5, mode="mirror")
    return read.reshape(height, width).astype(np.float32)


def covered(image: Array, matrix: Array, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """An image with a grey square over a tenth of the frame, somewhere in it."""
    side = int(np.sqrt(COVER * shape[0] * shape[1]))
    corner = [rng.integers(0, length - side) for length in (shape[1], shape[0])] + np.rint(matrix[:2, 2])
    left, top = np.maximum(corner, 0).astype(int)
    hidden = image.copy()
    hidden[top : top + side, left : left + side] = 0.5
    return hidden


def random_change(rng: np.random.Generator, family: str, corners: Array) -> Array:
    """A change of the family: up to 15 degrees and 15 %, or corners (4, 2) moved by up to 4 pixels."""
    if family == "similarity":
        angle, scale = np.deg2rad(rng.uniform(-15, 15)), rng.uniform(0.85, 1.15)
        turn = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        change, middle = np.eye(3), corners.mean(axis=0)
        change[:2, :2], change[:2, 2] = turn, middle - turn @ middle
        return change
    moves = rng.uniform(-4, 4, (4, 2))
    if family == "affine":
        moves[3] = moves[1] + moves[2] - moves[0]
        moves *= 4 / max(4, np.abs(moves).max())
    return _through(corners, corners + moves)


def _through(points: Array, images: Array) -> Array:
    """The projective map that takes four points to four others."""
    rows, values = [], []
    for (x, y), (u, v) in zip(points, images, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    return np.append(np.linalg.solve(rows, values), 1.0).reshape(3, 3)
