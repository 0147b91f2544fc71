"""Light that falls on a place, or is taken from it, leaves its texture: shadows, lamps and the edges of clouds."""

import numpy as np

from ._compile import piece

CELL = 8
"""Side of the squares in which textures are compared."""


@piece
def _find_touched(mask, words, i, rows, width, touched):
    """Which cells of a row of cells have pixels in a mask; words are eight pixels each, see `keep_regions`."""
    for k in range(touched.size):
        touched[k] = np.uint64(0)
    if words.size:
        for y in range(i, i + rows):
            row = np.uintp(y * touched.size)
            for k in range(touched.size):
                touched[k] |= words[row + np.uintp(k)]
    else:
        for y in range(i, i + rows):
            for x in range(width):
                touched[x // CELL] |= np.uint64(mask[y * width + x])


@piece
def _count_in(mask, i, j, rows, columns, width):
    """Pixels of a cell that are in a mask."""
    count = 0
    for y in range(i, i + rows):
        for x in range(j, j + columns):
            count += mask[y * width + x]
    return count


@piece
def _moments(frame, background, i, j, rows, columns, width, scale):
    """Means, variances and covariance of background and frame in a cell."""
    none = np.float32(0.0)
    d, x, dd, xx, dx = none, none, none, none, none
    for y in range(i, i + rows):
        row = np.uintp(y * width + j)
        for k in range(columns):
            a, b = background[row + np.uintp(k)] * scale, frame[row + np.uintp(k)] * scale
            d += a
            x += b
            dd += a * a
            xx += b * b
            dx += a * b
    n = np.float32(rows * columns)
    d, x = d / n, x / n
    return d, x, dd / n - d * d, xx / n - x * x, dx / n - d * x


@piece
def _clear(mask, i, j, rows, columns, width):
    for y in range(i, i + rows):
        for x in range(j, j + columns):
            mask[y * width + x] = False


@piece
def drop_relit(frame, background, height, width, scale, light, mask, words, strong):
    """Take out of a mask the cells whose texture stayed while their light changed.

    With variances and covariance over a cell of background d and frame x, its texture stayed, with a gain above 1 / 4,
    if ::

        var d > texture,   cov > var d / 4,   cov^2 > likeness var d var x

    ``light`` = (texture, likeness, darker): cells that became darker are dropped only if ``darker``. Cells without
    texture, or of which less than half is in the mask, are left as they are. Returns how many cells of the mask have
    texture, and in how many of them it stayed.
    """
    texture, likeness = np.float32(light[0]), np.float32(light[1])
    textured = stayed = 0
    touched = np.empty((width + CELL - 1) // CELL, np.uint64)
    for i in range(0, height, CELL):
        rows = CELL if i + CELL <= height else height - i
        _find_touched(mask, words, i, rows, width, touched)
        for k in range(touched.size):
            if touched[k] == 0:
                continue
            j = CELL * k
            columns = CELL if j + CELL <= width else width - j
            if 2 * _count_in(mask, i, j, rows, columns, width) < rows * columns:
                continue
            d, x, v, w, c = _moments(frame, background, i, j, rows, columns, width, scale)
            if v <= texture:
                continue
            textured += 1
            if np.float32(4.0) * c > v and c * c > likeness * v * w:
                stayed += 1
                if light[2] or x > d:
                    _clear(mask, i, j, rows, columns, width)
                    _clear(strong, i, j, rows, columns, width)
    return textured, stayed
