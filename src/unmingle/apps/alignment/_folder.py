"""Images of a folder, of whatever sizes and kinds; those that cannot be read are named and left out."""

from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..._types import AnyArray, Float32Array
from ...media import MediaError
from ...media.images import image_paths, read_pixels

_WHITE = {"uint8": 255.0, "uint16": 65535.0}


class Folder(NamedTuple):
    """What a folder holds."""

    images: list[Float32Array]
    """(height, width) or (height, width, 3), from 0 to 1, in the order of the numbers in their names."""
    names: list[str]
    unread: dict[str, str]
    """Files that are no images after all, and why."""


def read_folder(folder: str | PathLike[str]) -> Folder:
    """Read all images of a folder; photographs are turned upright.

    Memory: 4 bytes for each pixel and colour.

    Parameters
    ----------
    folder : path
        The folder.

    Raises
    ------
    MediaError
        The folder is missing, or holds no image that can be read.
    """
    read: dict[str, Float32Array] = {}
    unread: dict[str, str] = {}
    for path in image_paths(folder):
        try:
            read[path.name] = _in_unit(read_pixels(path, True))
        except MediaError as error:
            unread[path.name] = str(error)
    if not read:
        raise MediaError(f"{folder} contains no images that can be read. {next(iter(unread.values()))}")
    return Folder(list(read.values()), list(read), unread)


def _in_unit(pixels: AnyArray) -> Float32Array:
    return np.asarray(pixels, np.float32) / np.float32(_WHITE.get(pixels.dtype.name, 1.0))


def stems(names: list[str]) -> list[str]:
    """Names without their endings, which stay where two would be alike."""
    plain = [Path(name).stem for name in names]
    return [stem if plain.count(stem) == 1 else name.replace(".", "_") for stem, name in zip(plain, names, strict=True)]
