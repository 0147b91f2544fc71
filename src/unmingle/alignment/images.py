"""Images as users have them: arrays of one or of many sizes, grey or in colour, of bytes or of numbers."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..media.pixels import LUMA_WEIGHTS
from .pyramid import Image

_LUMA = np.array(LUMA_WEIGHTS, dtype=np.float32)
_WHITE = {"uint8": 255.0, "uint16": 65535.0, "bool": 1.0}
"""The largest number of each type of pixels."""


class Picture(NamedTuple):
    """An image to align: what is aligned is its grey, and what is cut out has its colours."""

    grey: Image
    """(height, width); NaN where nothing is known."""
    colours: Image | None
    """(height, width, 3), if it has such."""


def read_pictures(images: ArrayLike) -> list[Picture | str]:
    """Every image as a `Picture`, or the sentence that tells what is wrong with it.

    Bytes and numbers of 16 bits are divided by their white, other numbers stay what they are. Infinities count as not
    known.

    Parameters
    ----------
    images : array of shape (n, height, width) or (n, height, width, 3), or iterable of arrays
        The images; in a list they may be of several sizes.

    Raises
    ------
    ValueError
        There are no images, or it is only one.
    """
    if isinstance(images, np.ndarray) and images.dtype != object and images.ndim not in (3, 4):
        raise ValueError(
            f"images must have shape (n, height, width) or (n, height, width, 3), or be a list of images; "
            f"got shape {images.shape}."
        )
    if not isinstance(images, Iterable) or isinstance(images, str | bytes):
        raise ValueError(f"images must be a list or an array of images; got {type(images).__name__}.")
    read = [_picture(image) for image in images]
    if not read:
        raise ValueError("images contains no images.")
    return read


def _picture(image: Any) -> Picture | str:
    try:
        array = np.asarray(image)
    except ValueError:
        return "It is not an image: its rows have different lengths."
    if array.ndim == 3 and array.shape[2] in (1, 2):
        array = array[..., 0]
    if array.ndim == 3 and array.shape[2] == 4:
        array = array[..., :3]
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] != 3) or array.size == 0:
        return f"It has shape {array.shape}; expected (height, width) or (height, width, 3)."
    if array.dtype.kind not in "buif":
        return f"It holds {array.dtype}; expected numbers."
    values = np.asarray(array, np.float32)
    if array.dtype.name in _WHITE:
        values = values / np.float32(_WHITE[array.dtype.name])
    if not np.isfinite(np.sum(values)):
        values = np.where(np.isfinite(values), values, np.float32(np.nan))
    if values.ndim == 2:
        return Picture(np.ascontiguousarray(values), None)
    return Picture(np.ascontiguousarray(values @ _LUMA), values)


def estimate_white(pictures: Iterable[Picture]) -> float:
    """The white of images: 1 where their values are as from 0 to 1, however dark, else nearly the largest of them."""
    values = np.concatenate([_sample_pixels(picture.grey) for picture in pictures])
    size = np.abs(values[~np.isnan(values)])
    largest = float(size.max(initial=0.0))
    if 1 / 255 <= largest <= 1.0:
        return 1.0
    return float(np.quantile(size, 0.999)) if largest else 1.0


def _sample_pixels(grey: Image) -> Image:
    flat = grey.ravel()
    return flat[:: max(1, flat.size // 1000)]
