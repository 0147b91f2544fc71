"""What colour adds to a look at a frame: two planes of half the height and width beside the brightness.

The planes follow the brightness in a frame, one after the other; a place of theirs belongs to four pixels.
"""

import numpy as np

from .compile import piece

WEAK, STRONG = 1, 256
"""Marks of a pixel; strong ones are weak, too. In 16 bits a sum of fewer than 256 of each counts both."""


@piece
def middle_of(white):
    """What stands for no colour, in [0, 1]: 128 of 255, 32768 of 65535, or a half."""
    return np.float32(0.5 if white is None else ((np.int64(white) + 1) // 2) / white)


@piece
def measure_colour(deviation, first, scale, variance, least, colour):
    """The squares of both colour deviations of each place in units of their variances, added up."""
    places = np.uintp(colour.size)
    for j in range(colour.size):
        one = first + np.uintp(j)
        other = one + places
        a, b = deviation[one] * scale, deviation[other] * scale
        v, w = variance[one], variance[other]
        v, w = v if v > least else least, w if w > least else least
        colour[j] = a * a / v + b * b / w


@piece
def _spread(colour, first, row):
    """A row of places as a row of pixels."""
    for j in range(row.size // 2):
        k = np.uintp(2 * j)
        row[k] = row[k + np.uintp(1)] = colour[first + np.uintp(j)]


@piece
def _mark_row(deviation, first, width, scale, variance, factors, least, row, marked):
    """The marks of one row of pixels, whose colour deviations are in ``row``."""
    weak, strong = np.float32(factors[0]), np.float32(factors[1])
    for j in range(width):
        k = first + np.uintp(j)
        e = deviation[k] * scale
        v = variance[k]
        v = v if v > least else least
        square, c = e * e, row[j]
        weakly, strongly = square > (weak - c) * v, square > (strong - c) * v
        marked[k] = np.uint16(WEAK) * np.uint16(weakly) + np.uint16(STRONG) * np.uint16(strongly)


@piece
def mark_coloured(deviation, height, width, scale, variance, factors, least, colour, marked):
    """Marks of pixels by a joint test of brightness and colour: e^2 / v + c above each of the two ``factors``."""
    columns = (width + 1) // 2
    row = np.empty(2 * columns, np.float32)
    for i in range(height):
        if i % 2 == 0:
            _spread(colour, np.uintp(i // 2 * columns), row)
        _mark_row(deviation, np.uintp(i * width), width, scale, variance, factors, least, row, marked)


@piece
def gather_colour(near, height, width):
    """Places of the colour planes, after the pixels, that belong to any pixel near foreground."""
    columns = (width + 1) // 2
    place = height * width
    for i in range(0, height, 2):
        above, below = i * width, (i + 1 if i + 1 < height else i) * width
        for j in range(columns):
            left, right = 2 * j, 2 * j + 1 if 2 * j + 1 < width else 2 * j
            upper = near[above + left] | near[above + right]
            near[place] = upper | near[below + left] | near[below + right]
            place += 1
