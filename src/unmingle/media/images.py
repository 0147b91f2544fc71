"""Image files to arrays, and pictures to JPEG."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._types import AnyArray, Float32Array
from .._validation import require
from ._files import list_files
from .errors import MediaError, SizesDifferError
from .frames import Colour
from .pixels import Pixels, check_extent, check_pixels, to_bytes, to_grey

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage

IMAGE_SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"})
"""Names of files that count as images when a folder is read."""
_FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
"""How Pillow calls them; others, for which it may run other programs, are no images here."""
_WHITE = {"I": 65535.0, "I;16": 65535.0, "I;16B": 65535.0, "I;16L": 65535.0, "F": 1.0}
"""What is white in the modes of Pillow that have more than 8 bits; integers of 32 bits hold 16."""


class Images(NamedTuple):
    """Images of one size."""

    pixels: Float32Array
    """(n, height, width), from 0, black, to 1, white."""
    names: tuple[str, ...]
    """The files they come from."""


def read_image(path: str | PathLike[str], size: tuple[int, int] | None = None) -> Float32Array:
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
    pillow = require("PIL.Image", "media")
    with _open_image(path) as image:
        grey = _to_grey_image(pillow, image)
    if size is not None and (grey.height, grey.width) != size:
        grey = grey.resize(size[::-1], pillow.Resampling.BILINEAR)
    values = np.array(grey, dtype=np.float32)
    if not (np.isfinite(values).all() and values.min() >= 0.0 and values.max() <= 1.0):
        raise MediaError(f"{path} contains values from {values.min():g} to {values.max():g}; expected 0 to 1.")
    return values


@contextmanager
def _open_image(path: str | PathLike[str]) -> Iterator["PillowImage"]:
    """An image of Pillow, turned upright; whatever fails until it is closed becomes one sentence."""
    pillow, turning = require("PIL.Image", "media"), require("PIL.ImageOps", "media")
    if Path(path).exists() and not Path(path).is_file():
        raise MediaError(f"{path} is not a file; expected an image.")
    try:
        with pillow.open(path, formats=_FORMATS) as file:
            check_extent(str(path), file.height, file.width)
            yield turning.exif_transpose(file)
    except (MemoryError, MediaError, ImportError):
        raise
    except (pillow.DecompressionBombError, pillow.DecompressionBombWarning) as error:
        raise MediaError(f"{path} has too many pixels to be read; make it smaller.") from error
    except Exception as error:
        reason = getattr(error, "strerror", None)
        raise MediaError(
            f"{path} cannot be read: {reason}." if reason else f"{path} is damaged or not an image."
        ) from error


def _to_grey_image(pillow: ModuleType, image: "PillowImage") -> "PillowImage":
    """Grey values as floating-point numbers, 1 for white."""
    white = _WHITE.get(image.mode)
    if image.mode in ("P", "PA"):  # colours in a table, one of which may be transparent
        image = image.convert("RGBA")
    values = np.array(image if white else image.convert("L"), dtype=np.float32)
    values /= np.float32(white or 255.0)
    return pillow.fromarray(values)


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
    paths = sorted(image_paths(folder))
    first = read_image(paths[0], size)
    pixels = np.empty((len(paths), *first.shape), dtype=np.float32)
    pixels[0] = first
    for number, path in enumerate(paths[1:], start=1):
        image = read_image(path, size)
        _check_size(image, path, first, paths[0])
        pixels[number] = image
    return Images(pixels, tuple(path.name for path in paths))


def image_paths(folder: str | PathLike[str]) -> list[Path]:
    """The images of a folder, in the order of the numbers in their names."""
    return list_files(folder, IMAGE_SUFFIXES, "images; expected files such as .png, .jpg or .tif")


def read_pixels(path: Path, colour: Colour) -> Pixels:
    """An image as it is stored, in 8 or 16 bits or as float32, grey unless colours are wanted and there."""
    with _open_image(path) as image:
        if image.mode in ("P", "PA"):
            image = image.convert("RGBA")
        if _has_wide_colours(path):
            stored = _read_wide_colours(path)
        elif image.mode in _WHITE:
            stored = _narrow_integers(np.array(image))
        else:
            stored = np.array(image.convert("L" if image.mode in ("1", "L", "LA") else "RGB"))
    pixels = check_pixels(stored, str(path))
    return pixels if colour else to_grey(pixels)


def _has_wide_colours(path: Path) -> bool:
    """Whether a file is a PNG with colours of 16 bits, of which Pillow drops the lower ones."""
    with path.open("rb") as file:
        start = file.read(26)
    return start.startswith(b"\x89PNG") and start[24:25] == b"\x10" and start[25:26] in (b"\x02", b"\x06")


def _read_wide_colours(path: Path) -> AnyArray:
    av = require("av", "media")
    try:
        with av.open(f"file:{path}") as container:
            frame = next(container.decode(video=0))
            return np.array(frame.to_ndarray(format="rgb48le"))
    except (av.error.FFmpegError, StopIteration) as error:
        raise MediaError(f"{path} is damaged or not an image.") from error


def _narrow_integers(values: AnyArray) -> AnyArray:
    """Pillow's integers of 32 bits hold 16."""
    fits = values.dtype == np.int32 and values.min() >= 0 and values.max() <= 65535
    return values.astype(np.uint16) if fits else values


def iterate_images(paths: Sequence[Path], colour: Colour) -> Iterator[Pixels]:
    """The images one by one, or the sentence that names the first of another size."""
    first: Pixels | None = None
    for path in paths:
        image = read_pixels(path, colour)
        if first is None:
            first = image
        _check_size(image, path, first, paths[0])
        yield image


def _check_size(image: Pixels, path: Path, first: Pixels, first_path: Path) -> None:
    if image.shape[:2] != first.shape[:2]:
        sizes = [f"{picture.shape[1]} x {picture.shape[0]} pixels" for picture in (image, first)]
        raise SizesDifferError(f"{path} has {sizes[0]}, but {first_path.name} has {sizes[1]}.")


def encode_jpeg(pixels: ArrayLike, quality: int = 80) -> bytes:
    """A picture as the content of a JPEG file, for previews.

    Parameters
    ----------
    pixels : array of shape (height, width) or (height, width, 3)
        Booleans, uint8, uint16 or numbers from 0 to 1.
    quality : int, default=80
        From 1 to 95.

    Returns
    -------
    bytes
    """
    content = BytesIO()
    picture = to_bytes(check_pixels(pixels, "The picture"))
    require("PIL.Image", "media").fromarray(picture).save(content, "JPEG", quality=quality)
    return content.getvalue()
