"""Films for the video experiment."""

import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmingle import synth
from unmingle.metrics.masks import Labels

from ...data import DataMissing

Advance = Callable[[int], None]
"""Told how many frames, or steps of training, were done since it was told last."""
Bytes = NDArray[np.uint8]

HALL, LOBBY, HIGHWAY = "i2r_hall.npz", "i2r_lobby.npz", "cdnet_highway_470_969.zip"
LABELLED = "cdnet_*.zip"
"""Films of CDnet with truth, "cdnet_NAME_FIRST_LAST.zip"."""
SCENES: dict[str, Callable[..., synth.Scene]] = {
    "water": synth.water_scene,
    "shaking": synth.shaking_scene,
    "crowd": synth.crowd_scene,
}


class Film(NamedTuple):
    """Frames with the true masks."""

    frames: Bytes
    """(n, height, width): grey."""
    truth: NDArray[Any]
    """(n, height, width)."""
    labels: Labels
    """How to read the truth, see `unmingle.metrics.f_measure`."""
    colours: Bytes | None = None
    """(n, height, width, 3): red, green and blue, if there are."""

    def busiest(self, first: int) -> int:
        """The frame with most foreground, from some frame on."""
        return first + int(np.argmax(np.count_nonzero(self.truth[first:] == self.truth.max(), axis=(1, 2))))


def find_film(folder: str | Path, name: str) -> Path | None:
    """Where a file is: in the folder, or in its sub-folder ``video``; None if it is in neither."""
    places = (Path(folder) / "video" / name, Path(folder) / name)
    return next((place for place in places if place.is_file()), None)


def labelled_films(folder: str | Path) -> dict[str, Path]:
    """Where the films with truth are, by name; those of the sub-folder ``video`` come first."""
    places = [*sorted((Path(folder) / "video").glob(LABELLED)), *sorted(Path(folder).glob(LABELLED))]
    return {path.stem.split("_")[1]: path for path in reversed(places)}


def read_hall(path: Path) -> Bytes:
    """Frames of "Hall of a business building", (100, 144, 176)."""
    return _arrays(path, "frames")[0]


def read_lobby(path: Path) -> Bytes:
    """Frames of "Lobby", (1546, 128, 160); the file contains their differences modulo 256."""
    return np.cumsum(_arrays(path, "tdiff")[0], axis=0, dtype=np.uint8)


def read_labelled(path: Path) -> Film:
    """Frames and masks of a film of CDnet, as an archive of pictures."""
    from PIL import Image

    try:
        with zipfile.ZipFile(path) as archive:
            names = sorted(archive.namelist())

            def pictures(folder: str, mode: str) -> Bytes:
                chosen = [name for name in names if f"{folder}/" in name and name.endswith((".jpg", ".png"))]
                return np.stack([np.asarray(Image.open(BytesIO(archive.read(name))).convert(mode)) for name in chosen])

            colours, truth = pictures("input", "RGB"), pictures("groundtruth", "L")
            return Film(pictures("input", "L"), truth, "cdnet", colours)
    except (OSError, ValueError, zipfile.BadZipFile):
        raise DataMissing(f"{path} is damaged: expected pictures in input/ and groundtruth/.") from None


def n_labelled(path: Path) -> int:
    """How many frames it has."""
    with zipfile.ZipFile(path) as archive:
        return sum("groundtruth/" in name and name.endswith(".png") for name in archive.namelist())


def make_scene(name: str, seed: int, n_frames: int = 300, height: int = 240, width: int = 320) -> Film:
    """A made film as a camera would give it, in bytes."""
    scene = SCENES[name](n_frames, height, width, random_state=seed)
    frames = np.rint(255.0 * np.clip(scene.frames, 0.0, 1.0)).astype(np.uint8)
    return Film(frames, scene.masks, "binary")


def _arrays(path: Path, *names: str) -> list[Any]:
    try:
        with np.load(path, allow_pickle=False) as stored:
            return [stored[name] for name in names]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        raise DataMissing(f"{path} is damaged: expected the array {', '.join(names)}.") from None
