"""Checks and conversions of pixels: numbers of one of three types, from black to white."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import AnyArray, ByteArray
from .errors import MediaError

if TYPE_CHECKING:
    from .planes import Planes

Pixels = AnyArray

LUMA_WEIGHTS = (0.299, 0.587, 0.114)
"""How much red, green and blue add to the brightness of a colour, as in films of standard definition (BT.601)."""
_WHOLE_LUMA_WEIGHTS = (19595, 38470, 7471)
"""The same in units of 1 / 65536; they add up to one."""

MOST_NUMBERS = 2**27
"""Of a picture, with all its channels, that comes from a file: 134 million."""


def check_extent(name: str, height: int, width: int, channels: int = 1) -> None:
    """Raise an error if a picture is so large that reading it would take all memory."""
    if height * width * channels > MOST_NUMBERS:
        most = MOST_NUMBERS // channels
        raise MediaError(f"{name} has {width} x {height} pixels; at most {most} pixels are read: make it smaller.")


def check_pixels(pixels: Any, name: str) -> Pixels:
    """Return a picture of shape (height, width) or (height, width, 3), or say what is wrong with it.

    Booleans become 0 and 255, floating-point numbers float32; transparency is dropped. The array is C-contiguous and
    may be the given one.
    """
    array = _to_array(pixels, name)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim == 3 and array.shape[2] == 4:
        array = array[:, :, :3]
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] != 3) or array.size == 0:
        raise MediaError(
            f"{name} has shape {array.shape}; expected (height, width) for grey or (height, width, 3) for colours."
        )
    return np.ascontiguousarray(_check_numbers(array, name))


def _to_array(pixels: Any, name: str) -> Pixels:
    kind = type(pixels).__name__
    if hasattr(pixels, "pixels"):
        raise MediaError(f"{name} is a {kind}; give its .pixels.")
    try:
        return np.asarray(pixels)
    except ValueError as error:
        raise MediaError(f"{name} is a {kind} that is no array; expected numbers in rows of equal length.") from error


def _check_numbers(array: Pixels, name: str) -> Pixels:
    match array.dtype.kind, array.dtype.itemsize:
        case "b", _:
            return array.astype(np.uint8) * np.uint8(255)
        case "u", (1 | 2):
            return array.astype(array.dtype.newbyteorder("="), copy=False)
        case "f", _:
            return _check_floats(array, name)
        case "i" | "u", _:
            raise MediaError(_sentence_on_integers(array, name))
        case _:
            raise MediaError(f"{name} contains {array.dtype}; expected uint8, uint16 or numbers from 0 to 1.")


def _check_floats(array: Pixels, name: str) -> Pixels:
    low, high = float(array.min()), float(array.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise MediaError(f"{name} contains NaN or infinity; expected numbers from 0, black, to 1, white.")
    if low < 0.0 or high > 1.0:
        whites = [white for white in (255, 65535) if low >= 0.0 and high <= white]
        hint = f"; divide it by {whites[0]}" if whites else ""
        raise MediaError(f"{name} contains values from {low:g} to {high:g}; expected 0, black, to 1, white{hint}.")
    return array.astype(np.float32, copy=False)


def _sentence_on_integers(array: Pixels, name: str) -> str:
    low, high = int(array.min()), int(array.max())
    sentence = f"{name} contains {array.dtype} from {low} to {high}; expected uint8, uint16 or numbers from 0 to 1"
    if low >= 0 and high <= 65535:
        sentence += f"; convert it with .astype(numpy.{'uint8' if high <= 255 else 'uint16'})"
    return f"{sentence}."


def to_grey(pixels: Pixels) -> Pixels:
    """The luma 0.299 R + 0.587 G + 0.114 B of colours, of their type; grey is handed through."""
    if pixels.ndim == 2:
        return pixels
    if pixels.dtype == np.float32:
        return np.minimum(pixels @ np.array(LUMA_WEIGHTS, dtype=np.float32), np.float32(1.0))
    total = np.full(pixels.shape[:2], 32768, dtype=np.uint32)
    for channel, weight in enumerate(_WHOLE_LUMA_WEIGHTS):
        total += np.multiply(pixels[:, :, channel], np.uint32(weight), dtype=np.uint32)
    return (total >> np.uint32(16)).astype(pixels.dtype)


def to_bytes(pixels: Pixels) -> ByteArray:
    """The same picture in 8 bits: of 16 bits the upper ones, of floating-point numbers the nearest."""
    if pixels.dtype == np.uint8:
        return pixels
    if pixels.dtype == np.uint16:
        return (pixels >> np.uint16(8)).astype(np.uint8)
    return np.rint(pixels * np.float32(255.0)).astype(np.uint8)


def describe_pixels(pixels: "Pixels | Planes") -> str:
    """Size and kind in words, such as "320 x 240 grey pixels of uint8"."""
    height, width = pixels.shape[:2]
    return f"{width} x {height} {'grey' if pixels.ndim == 2 else 'colour'} pixels of {pixels.dtype}"
