"""Images of a folder, or in arrays, of whatever sizes and kinds; those that cannot be read are named and left out."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..._types import AnyArray, Float32Array
from ...media import MediaError
from ...media.images import image_paths, read_pixels

_WHITE = {"uint8": 255.0, "uint16": 65535.0}
"""The largest number of each type of pixels."""

Source = str | PathLike[str] | AnyArray | Sequence[ArrayLike]
"""A folder of images, an array of images, or a list of images of several sizes."""


class SourceImages(NamedTuple):
    """Images with their names."""

    title: str
    """What the images are, together."""
    images: Sequence[AnyArray]
    """(height, width) or (height, width, 3) each, in the order of the numbers in their names."""
    names: list[str]
    unread: dict[str, str]
    """Files that are no images after all, and why."""

    @property
    def differ_in_size(self) -> bool:
        """Whether images have several sizes."""
        return len({np.shape(image)[:2] for image in self.images}) > 1


def read_source(source: Source) -> SourceImages:
    """Images as they are given, or all images of a folder; photographs are turned upright.

    Memory: 4 bytes for each pixel and colour of a folder.

    Parameters
    ----------
    source : path, array or list of arrays
        The folder, or the images.

    Raises
    ------
    MediaError
        The folder is missing, or holds no image that can be read.
    """
    if isinstance(source, str | PathLike):
        return _read_folder(Path(source))
    images = [np.asarray(image) for image in source]
    digits = len(str(len(images) - 1))
    return SourceImages("Images", images, [f"image{number:0{digits}}" for number in range(len(images))], {})


def _read_folder(folder: Path) -> SourceImages:
    read: dict[str, Float32Array] = {}
    unread: dict[str, str] = {}
    for path in image_paths(folder):
        try:
            read[path.name] = _in_unit(read_pixels(path, True))
        except MediaError as error:
            unread[path.name] = str(error)
    if not read:
        raise MediaError(f"{folder} contains no images that can be read. {next(iter(unread.values()))}")
    return SourceImages(folder.resolve().name, list(read.values()), list(read), unread)


def _in_unit(pixels: AnyArray) -> Float32Array:
    """Pixels from 0 to 1."""
    return np.asarray(pixels, np.float32) / np.float32(_WHITE.get(pixels.dtype.name, 1.0))


def unique_stems(names: list[str]) -> list[str]:
    """Names without their endings, which stay where two would be alike."""
    plain = [Path(name).stem for name in names]
    return [stem if plain.count(stem) == 1 else name.replace(".", "_") for stem, name in zip(plain, names, strict=True)]
