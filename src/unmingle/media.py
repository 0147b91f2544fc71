"""Image files to arrays: the only place where files of media are read."""

from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._validation import require

Image = NDArray[np.float32]

SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"})
"""Names of files that count as images when a folder is read."""
_WHITE = {"I": 65535.0, "I;16": 65535.0, "I;16B": 65535.0, "I;16L": 65535.0, "F": 1.0}
"""What is white in the modes of Pillow that have more than 8 bits; integers of 32 bits hold 16."""


class MediaError(ValueError):
    """A file that holds no usable picture, with the reason in one sentence."""


class SizesDifferError(MediaError):
    """Images that are to become one array but are of several sizes."""


class Images(NamedTuple):
    """Images of one size."""

    pixels: NDArray[np.float32]
    """(n, height, width), from 0, black, to 1, white."""
    names: tuple[str, ...]
    """The files they come from."""


def read_image(path: str | PathLike[str], size: tuple[int, int] | None = None) -> Image:
    """Read an image file as grey values from 0, black, to 1, white.

    Colours become their luma 0.299 R + 0.587 G + 0.114 B. Photographs are turned upright; transparency is ignored, and
    of a film the first picture is taken. An image is made smaller by means over the pixels that become one.

    Parameters
    ----------
    path : path
        The file.
    size : pair of int, optional
        Height and width to bring the image to; its own by default.

    Returns
    -------
    array of shape (height, width), float32

    Raises
    ------
    MediaError
        The file is missing or no readable image.
    """
    pillow, turning = require("PIL.Image", "media"), require("PIL.ImageOps", "media")
    try:
        with pillow.open(path) as file:
            grey = _grey(pillow, turning.exif_transpose(file))
    except (OSError, SyntaxError, ValueError, pillow.DecompressionBombError) as error:
        reason = getattr(error, "strerror", None)
        raise MediaError(
            f"{path} cannot be read: {reason}." if reason else f"{path} is damaged or no image."
        ) from error
    if size is not None and (grey.height, grey.width) != size:
        grey = grey.resize(size[::-1], pillow.Resampling.BILINEAR)
    values = np.array(grey, dtype=np.float32)
    if not (np.isfinite(values).all() and values.min() >= 0.0 and values.max() <= 1.0):
        raise MediaError(f"{path} holds values from {values.min():g} to {values.max():g}; expected 0 to 1.")
    return values


def _grey(pillow: Any, image: Any) -> Any:
    """Grey values as floating-point numbers, 1 for white."""
    white = _WHITE.get(image.mode)
    if image.mode in ("P", "PA"):  # colours in a table, one of which may be transparent
        image = image.convert("RGBA")
    values = np.asarray(image if white else image.convert("L"), dtype=np.float32)
    return pillow.fromarray(values / np.float32(white or 255.0))


def read_images(folder: str | PathLike[str], size: tuple[int, int] | None = None) -> Images:
    """Read all images of a folder, sorted by name; files of other kinds and folders within are passed over.

    Memory: 4 n h w bytes for n images of h x w pixels.

    Parameters
    ----------
    folder : path
        The folder.
    size : pair of int, optional
        Height and width to bring all images to; by default they must be of one size.

    Returns
    -------
    Images
        The pixels as one float32 array, and the names of the files.

    Raises
    ------
    MediaError
        The folder is missing or without images, a file cannot be read, or sizes differ.
    """
    place = Path(folder)
    if not place.is_dir():
        raise MediaError(f"{folder} is not a folder.")
    paths = sorted(path for path in place.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file())
    paths = [path for path in paths if not path.name.startswith(".")]
    if not paths:
        raise MediaError(f"{folder} holds no images; expected files such as .png, .jpg or .tif.")
    first = read_image(paths[0], size)
    pixels = np.empty((len(paths), *first.shape), dtype=np.float32)
    pixels[0] = first
    for number, path in enumerate(paths[1:], start=1):
        image = read_image(path, size)
        if image.shape != first.shape:
            sizes = ["{} x {} pixels".format(*picture.shape) for picture in (image, first)]
            raise SizesDifferError(f"{path} has {sizes[0]}, but {paths[0].name} has {sizes[1]}.")
        pixels[number] = image
    return Images(pixels, tuple(path.name for path in paths))
