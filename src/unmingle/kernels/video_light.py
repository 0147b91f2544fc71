"""Light that falls on a place, or is taken from it, leaves its texture: shadows, lamps and the edges of clouds."""

import numpy as np

from .compile import announced, compiled, piece

CELL = 8
"""Side of the squares in which textures are compared."""


@piece
def _count_touched(mask, words, i, rows, width, touched):
    """Pixels in a mask, for each cell of a row of cells; words are eight pixels each, see `keep_regions`.

    The bytes of a sum of eight words hold up to 8, and the highest byte of ones times the sum holds their total.
    """
    for k in range(touched.size):
        touched[k] = np.uint64(0)
    if words.size:
        for y in range(i, i + rows):
            row = np.uintp(y * touched.size)
            for k in range(touched.size):
                touched[k] += words[row + np.uintp(k)]
        for k in range(touched.size):
            touched[k] = (touched[k] * np.uint64(0x0101010101010101)) >> np.uint64(56)
    else:
        for y in range(i, i + rows):
            for x in range(width):
                touched[x // CELL] += np.uint64(mask[y * width + x])


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
    """Take a cell out of a mask."""
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
        _count_touched(mask, words, i, rows, width, touched)
        for k in range(touched.size):
            j = CELL * k
            columns = CELL if j + CELL <= width else width - j
            if np.int64(touched[k]) * 2 < rows * columns:
                continue
            if rows == CELL and columns == CELL:  # a loop of known length is unrolled
                d, x, v, w, c = _moments(frame, background, i, j, CELL, CELL, width, scale)
            else:
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


@announced
@compiled
def compare_textures(frame, background, height, width, scale, cells, bounds):
    """Count the cells that have texture in two pictures, and those of them where it is another one.

    With ``cells`` = (side, step), every step-th cell of both directions is compared, and with ``bounds`` = (texture,
    likeness) a cell counts if both variances are above ``texture``; it is another one if cov <= 0 or cov^2 < likeness
    var var. Cost: 8 operations for each pixel of a cell.
    """
    side, step = cells
    scale, texture, likeness = np.float32(scale), np.float32(bounds[0]), np.float32(bounds[1])
    textured = other = 0
    for i in range(0, height - side + 1, step * side):
        for j in range(0, width - side + 1, step * side):
            _, _, v, w, c = _moments(frame, background, i, j, side, side, width, scale)
            if v > texture and w > texture:
                textured += 1
                other += c <= 0 or c * c < likeness * v * w
    return textured, other
