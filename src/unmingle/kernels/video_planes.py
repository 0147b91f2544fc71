"""Red, green and blue to brightness and two half-sized planes of colour, and back; see `unmingle.media.Planes`."""

import numpy as np

from .compile import compiled, piece
from .video_colour import middle_of

_BLUE, _RED = 0.5 / (1.0 - 0.114), 0.5 / (1.0 - 0.299)
"""What brings blue - y and red - y to [-1/2, 1/2] (BT.601)."""


@piece
def _stored(value, white):
    """A number of the camera that is nearest to a value."""
    most = np.float32(1.0 if white is None else white)
    value = value if value > np.float32(0.0) else np.float32(0.0)
    value = value if value < most else most
    return value if white is None else np.int32(value + np.float32(0.5))


@piece
def _luma_of_row(pixels, first, width, white, planes, place):
    """The brightness of a row; whole numbers by weights of 16 bits, rounded."""
    if white is None:
        for j in range(width):
            k = first + np.uintp(3 * j)
            red, green, blue = pixels[k], pixels[k + np.uintp(1)], pixels[k + np.uintp(2)]
            y = np.float32(0.299) * red + np.float32(0.587) * green + np.float32(0.114) * blue
            planes[place + np.uintp(j)] = y if y < np.float32(1.0) else np.float32(1.0)
    else:
        for j in range(width):
            k = first + np.uintp(3 * j)
            red, green, blue = (
                np.uint32(pixels[k]),
                np.uint32(pixels[k + np.uintp(1)]),
                np.uint32(pixels[k + np.uintp(2)]),
            )
            total = np.uint32(19595) * red + np.uint32(38470) * green + np.uint32(7471) * blue + np.uint32(32768)
            planes[place + np.uintp(j)] = total >> np.uint32(16)


@piece
def _chroma_of_rows(pixels, upper, lower, columns, last, white, planes, place, places):
    """The colours of two rows, each from a mean of four pixels."""
    quarter, middle = np.float32(0.25), middle_of(white) * np.float32(1.0 if white is None else white)
    for j in range(columns):
        left = 3 * (2 * j)
        right = 3 * (2 * j + 1 if 2 * j + 1 < last else last)
        a, b, c, d = upper + left, upper + right, lower + left, lower + right
        red = np.float32(pixels[a]) + np.float32(pixels[b]) + np.float32(pixels[c]) + np.float32(pixels[d])
        a, b, c, d = a + 1, b + 1, c + 1, d + 1
        green = np.float32(pixels[a]) + np.float32(pixels[b]) + np.float32(pixels[c]) + np.float32(pixels[d])
        a, b, c, d = a + 1, b + 1, c + 1, d + 1
        blue = np.float32(pixels[a]) + np.float32(pixels[b]) + np.float32(pixels[c]) + np.float32(pixels[d])
        y = np.float32(0.299) * red + np.float32(0.587) * green + np.float32(0.114) * blue
        planes[place + j] = _stored(middle + np.float32(_BLUE) * quarter * (blue - y), white)
        planes[place + places + j] = _stored(middle + np.float32(_RED) * quarter * (red - y), white)


@compiled
def planes_from_rgb(pixels, height, width, white, planes):
    """The planes of a picture whose red, green and blue lie end to end, ``white`` None for fractions."""
    rows, columns = (height + 1) // 2, (width + 1) // 2
    for i in range(height):
        _luma_of_row(pixels, np.uintp(3 * i * width), width, white, planes, np.uintp(i * width))
    for i in range(rows):
        upper, lower = 2 * i, 2 * i + 1 if 2 * i + 1 < height else 2 * i
        place = height * width + i * columns
        _chroma_of_rows(
            pixels, 3 * upper * width, 3 * lower * width, columns, width - 1, white, planes, place, rows * columns
        )


@compiled
def rgb_from_planes(planes, height, width, white, pixels):
    """Red, green and blue, end to end, of a picture."""
    rows, columns = (height + 1) // 2, (width + 1) // 2
    places, middle = rows * columns, middle_of(white) * np.float32(1.0 if white is None else white)
    for i in range(height):
        for j in range(width):
            k = height * width + i // 2 * columns + j // 2
            blue = (np.float32(planes[k]) - middle) * np.float32(1.0 / _BLUE)
            red = (np.float32(planes[k + places]) - middle) * np.float32(1.0 / _RED)
            y, p = np.float32(planes[i * width + j]), 3 * (i * width + j)
            pixels[p] = _stored(y + red, white)
            pixels[p + 1] = _stored(y - np.float32(0.114 / 0.587) * blue - np.float32(0.299 / 0.587) * red, white)
            pixels[p + 2] = _stored(y + blue, white)
