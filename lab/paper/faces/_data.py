"""Sets of faces, and how they are split."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmingle.media import read_images
from unmingle.media.images import IMAGE_SUFFIXES

from ...data import DataMissing

Array = NDArray[np.float32]
Rows = NDArray[np.intp]

TRAINING_SHARE = 5 / 8

_KNOWN = {
    "Frey": ("frey_0000_1499.npz", "frames", None, 20),
    "ORL": ("orl_s01_s25.npz", "images", "subject", 10),
    "Yale": ("yaleB_half_8subjects.npz", "images", "subject", 10),
}
"""File, name of the images, name of the persons, and number of components of each set."""
_OWN_COMPONENTS = 10
"""Components for pictures of one's own."""


@dataclass(frozen=True)
class FaceSet:
    """Aligned grey pictures of faces, brightness in [0, 1]."""

    name: str
    images: Array
    """(n, height, width)."""
    person: NDArray[Any] | None
    """(n,): who it is; None for one person in the order of time."""
    n_components: int

    @property
    def X(self) -> Array:
        """(n, pixels)."""
        return self.images.reshape(len(self.images), -1)

    @property
    def digest(self) -> str:
        """What tells these pictures from others of the same name."""
        return sha256(np.ascontiguousarray(self.images).tobytes()).hexdigest()

    def splits(self, seed: int = 0) -> dict[str, tuple[Rows, Rows]]:
        """Rows for training and for testing: at random within every person, and by person or time."""
        order = np.random.default_rng(seed).permutation(len(self.images))
        person = np.zeros(len(self.images), int) if self.person is None else self.person
        groups = [order[person[order] == one] for one in np.unique(person)]
        halves = [(group[: _share(group)], group[_share(group) :]) for group in groups]
        at_random = tuple(np.concatenate(parts) for parts in zip(*halves, strict=True))
        if self.person is None:
            first = _share(self.images)
            return {"random": at_random, "time": (np.arange(first), np.arange(first, len(self.images)))}  # type: ignore[dict-item]
        people = np.unique(person)
        chosen = np.isin(person, people[: _share(people)])
        return {"random": at_random, "person": (np.flatnonzero(chosen), np.flatnonzero(~chosen))}  # type: ignore[dict-item]


def read_faces(folder: str | Path) -> list[FaceSet]:
    """The sets of faces in a folder.

    Parameters
    ----------
    folder : path
        With the files of the known sets, in it or in its sub-folder ``faces``; or with pictures of one's own, all of
        one size: either in the order of time, or in one sub-folder for each person.
    """
    folder = Path(folder)
    places = [place for place in (folder / "faces", folder) if place.is_dir()]
    sets = [
        _read_known(place / entry[0], name, *entry[1:])
        for place in places
        for name, entry in _KNOWN.items()
        if (place / entry[0]).is_file()
    ]
    if not sets and places:
        sets = _read_pictures(folder)
    if not sets:
        names = ", ".join(entry[0] for entry in _KNOWN.values())
        raise DataMissing(
            f"{folder} contains no faces: expected {names}, or pictures of one size, in one sub-folder for each person "
            "or in the order of time; name such a folder with --data or UNMINGLE_DATA."
        )
    return sets


def _share(items: Any) -> int:
    return round(TRAINING_SHARE * len(items))


def _read_known(path: Path, name: str, images: str, person: str | None, n_components: int) -> FaceSet:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            pictures, people = arrays[images], None if person is None else arrays[person]
    except (OSError, ValueError, KeyError):
        raise DataMissing(
            f"{path} is damaged: expected arrays {images!r}{f' and {person!r}' if person else ''}."
        ) from None
    return FaceSet(name, pictures.astype(np.float32) / 255, people, n_components)


def _read_pictures(folder: Path) -> list[FaceSet]:
    people = [place for place in sorted(folder.iterdir()) if place.is_dir() and _has_pictures(place)]
    if people:
        images = [read_images(place).pixels for place in people]
        if len({pictures.shape[1:] for pictures in images}) > 1:
            raise DataMissing(f"{folder} contains pictures of several sizes; resize them to one size.")
        person = np.repeat([place.name for place in people], [len(pictures) for pictures in images])
        return [FaceSet(folder.name, np.concatenate(images), person, _OWN_COMPONENTS)]
    if _has_pictures(folder):
        return [FaceSet(folder.name, read_images(folder).pixels, None, _OWN_COMPONENTS)]
    return []


def _has_pictures(folder: Path) -> bool:
    return any(file.suffix.lower() in IMAGE_SUFFIXES for file in folder.iterdir() if file.is_file())
