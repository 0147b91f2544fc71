"""Images between their pixels: splines of degree 1 and 3 with their slopes, and images of half the size.

An image lies in an array with `BORDER` pixels around it, which mirror it: no place within it needs pixels beyond. A
pixel that is not known is NaN, and so is every value that needs it.
"""

from math import sqrt

import numpy as np

from .compile import announced, compiled, piece

BORDER = 2
"""Pixels around an image."""
_POLE = sqrt(3.0) - 2.0
"""The pole of the filter of cubic splines."""
ROUNDING = 1e-3
"""A place that is outside of an image by less, in pixels, lies on its border."""
_SIDE_BY_SIDE = 8
"""Rows that are filtered together: in a row each number waits for the one before."""
_REACH = 24
"""The filter of cubic splines forgets a pixel after this number of others: 0.27 to this power is 1e-14."""


@piece
def mirrored(i, n):
    """The pixel that place i shows, with mirrors on the first and the last one."""
    if n == 1:
        return 0
    i = abs(i) % (2 * n - 2)
    return i if i < n else 2 * n - 2 - i


@announced
@compiled
def pad_image(image, padded):
    """Put an image into an array with a border that mirrors it."""
    height, width = image.shape
    for i in range(height + 2 * BORDER):
        row = mirrored(i - BORDER, height)
        for j in range(width):
            padded[i, j + BORDER] = image[row, j]
        for j in range(BORDER):
            padded[i, j] = image[row, mirrored(j - BORDER, width)]
            padded[i, width + BORDER + j] = image[row, mirrored(width + j, width)]


@announced
@compiled
def smooth_image(image, rows, out):
    """An image smoothed by (1 2 1) / 4 along both axes: nothing is left of the highest frequency."""
    height, width = image.shape
    quarter = image.dtype.type(0.25)
    for i in range(height):
        above, below = mirrored(i - 1, height), mirrored(i + 1, height)
        for j in range(width):
            rows[i, j] = (image[above, j] + 2 * image[i, j] + image[below, j]) * quarter
    for i in range(height):
        for j in range(1, width - 1):
            out[i, j] = (rows[i, j - 1] + 2 * rows[i, j] + rows[i, j + 1]) * quarter
        for j in (0, width - 1):
            out[i, j] = (rows[i, mirrored(j - 1, width)] + 2 * rows[i, j] + rows[i, mirrored(j + 1, width)]) * quarter


@announced
@compiled
def halve_image(image, rows, half):
    """Every other pixel of an image smoothed by (1 4 6 4 1) / 16 along both axes; `rows` is for what is between."""
    height, width = image.shape
    for i in range(half.shape[0]):
        above, top, here = mirrored(2 * i - 2, height), mirrored(2 * i - 1, height), 2 * i
        low, below = mirrored(2 * i + 1, height), mirrored(2 * i + 2, height)
        for j in range(width):
            outer, inner = image[above, j] + image[below, j], image[top, j] + image[low, j]
            rows[i, j] = (outer + 4 * inner + 6 * image[here, j]) * image.dtype.type(0.0625)
    for i in range(half.shape[0]):
        for j in range(half.shape[1]):
            outer = rows[i, mirrored(2 * j - 2, width)] + rows[i, mirrored(2 * j + 2, width)]
            inner = rows[i, mirrored(2 * j - 1, width)] + rows[i, mirrored(2 * j + 1, width)]
            half[i, j] = (outer + 4 * inner + 6 * rows[i, 2 * j]) * image.dtype.type(0.0625)


@announced
@compiled
def spline_coefficients(image, out):
    """Coefficients of the cubic spline through the pixels: along each axis, a filter forth and one back.

    ::

        6 x_i = c_{i-1} + 4 c_i + c_{i+1}
    """
    height, width = image.shape
    pole, last = image.dtype.type(_POLE), image.dtype.type(_POLE / (_POLE * _POLE - 1))
    for i in range(height):
        for j in range(width):
            out[i, j] = image[i, j]
    if height > 1:
        _filter_down(out, pole, last)
    if width > 1:
        _filter_across(out, pole, last)


@piece
def _filter_down(c, pole, last):
    """The filter along columns, all of them together."""
    height, width = c.shape
    first, weight = np.empty(width, c.dtype), pole
    for j in range(width):
        first[j] = c[0, j]
    for k in range(1, _REACH):
        for j in range(width):
            first[j] += weight * c[mirrored(k, height), j]
        weight *= pole
    for j in range(width):
        c[0, j] = first[j]
    for i in range(1, height):
        for j in range(width):
            c[i, j] += pole * c[i - 1, j]
    for j in range(width):
        c[height - 1, j] = last * (c[height - 1, j] + pole * c[height - 2, j])
    for i in range(height - 2, -1, -1):
        for j in range(width):
            c[i, j] = pole * (c[i + 1, j] - c[i, j])
    for i in range(height):
        for j in range(width):
            c[i, j] *= 6


@piece
def _filter_across(c, pole, last):
    """The filter along rows, some of them in turns: each number waits for the one before in its row."""
    height, width = c.shape
    for i in range(height):
        total, weight = c[i, 0], pole
        for k in range(1, _REACH):
            total += weight * c[i, k if k < width else mirrored(k, width)]
            weight *= pole
        c[i, 0] = total
    for first in range(0, height, _SIDE_BY_SIDE):
        end = min(first + _SIDE_BY_SIDE, height)
        for j in range(1, width):
            for i in range(first, end):
                c[i, j] += pole * c[i, j - 1]
        for i in range(first, end):
            c[i, width - 1] = last * (c[i, width - 1] + pole * c[i, width - 2])
        for j in range(width - 2, -1, -1):
            for i in range(first, end):
                c[i, j] = pole * (c[i, j + 1] - c[i, j])
        for i in range(first, end):
            for j in range(width):
                c[i, j] *= 6


@piece
def read_linear(image, x, y):
    """Value and slopes at a place within a bordered image, between the four pixels around it."""
    j, i = int(x), int(y)
    a, b = image.dtype.type(x - j), image.dtype.type(y - i)
    i, j = i + BORDER, j + BORDER
    top, low = image[i, j], image[i + 1, j]
    upper, lower = image[i, j + 1] - top, image[i + 1, j + 1] - low
    first = top + a * upper
    down = low + a * lower - first
    return first + b * down, upper + b * (lower - upper), down


@piece
def _weights(t, one):
    """Weights of the four coefficients around a place, the share t beyond the second."""
    sixth, rest = one / 6, one - t
    square = t * t
    return (
        sixth * rest * rest * rest,
        (4 - 6 * square + 3 * square * t) * sixth,
        ((1 + 3 * (t + square - square * t)) * sixth),
        sixth * square * t,
    )


@piece
def _slopes(t, one):
    """Slopes of these weights."""
    half, rest = one / 2, one - t
    return -half * rest * rest, t * (3 * half * t - 2), half * (1 + 2 * t - 3 * t * t), half * t * t


@piece
def read_cubic(image, x, y):
    """Value and slopes at a place within an image, given by the coefficients of its cubic spline with a border."""
    j, i = int(x), int(y)
    one = image.dtype.type(1)
    a, b = image.dtype.type(x - j), image.dtype.type(y - i)
    across, leaning = _weights(a, one), _slopes(a, one)
    down, falling = _weights(b, one), _slopes(b, one)
    value = slope = drop = image.dtype.type(0)
    i, j = i + BORDER - 1, j + BORDER - 1
    for k in range(4):
        p, q, r, s = image[i + k, j], image[i + k, j + 1], image[i + k, j + 2], image[i + k, j + 3]
        here = across[0] * p + across[1] * q + across[2] * r + across[3] * s
        value += down[k] * here
        drop += falling[k] * here
        slope += down[k] * (leaning[0] * p + leaning[1] * q + leaning[2] * r + leaning[3] * s)
    return value, slope, drop


@piece
def read_shifted(image, cubic, x, y, width, values, slopes):
    """Values and slopes at places one pixel apart, from (x, y) on, in rows of this width; NaN outside of the image.

    All places lie between their pixels in the same way: rows are mixed first, then columns, both without a branch.
    """
    height, one = values.size // width, image.dtype.type(1)
    right, bottom = image.shape[1] - 2 * BORDER - 1, image.shape[0] - 2 * BORDER - 1
    i, j = int(np.floor(y + ROUNDING)), int(np.floor(x + ROUNDING))
    a, b = image.dtype.type(max(x - j, 0.0)), image.dtype.type(max(y - i, 0.0))
    outer, none = 0 if cubic else 1, image.dtype.type(0)
    across, leaning = (
        (_weights(a, one), _slopes(a, one)) if cubic else ((none, one - a, a, none), (none, -one, one, none))
    )
    down, falling = (
        (_weights(b, one), _slopes(b, one)) if cubic else ((none, one - b, b, none), (none, -one, one, none))
    )
    for k in range(values.size):
        values[k], slopes[0, k], slopes[1, k] = np.nan, 0, 0
    left, end = max(0, -j), min(width, int(np.floor(right + ROUNDING - x)) + 1)
    top, bottom = max(0, -i), min(height, int(np.floor(bottom + ROUNDING - y)) + 1)
    if end <= left or bottom <= top:
        return
    side, wide = j + left + BORDER - 1, end - left
    mixed, dropped = np.empty(wide + 3, image.dtype), np.empty(wide + 3, image.dtype)
    for row in range(top, bottom):
        r = i + row + BORDER - 1
        _mix(image[r : r + 4, side : side + wide + 3], outer, down, falling, mixed, dropped)
        first = row * width + left
        stop = first + wide
        _slide(mixed, dropped, outer, across, leaning, values[first:stop], slopes[0, first:stop], slopes[1, first:stop])


@piece
def _mix(rows, outer, down, falling, mixed, dropped):
    """Rows mixed by their weights, and by the slopes of these: four, or two, of which the outer ones are copies."""
    p, q, r, s = rows[outer], rows[1], rows[2], rows[3 - outer]
    for k in range(mixed.size):
        mixed[k] = down[0] * p[k] + down[1] * q[k] + down[2] * r[k] + down[3] * s[k]
        dropped[k] = falling[0] * p[k] + falling[1] * q[k] + falling[2] * r[k] + falling[3] * s[k]


@piece
def _slide(mixed, dropped, outer, across, leaning, values, slopes, drops):
    """Values and slopes from mixed rows: four neighbours by their weights."""
    a, b, c, d = across
    e, f, g, h = leaning
    p, q, r, s = mixed[outer:], mixed[1:], mixed[2:], mixed[3 - outer :]
    for k in range(values.size):
        values[k] = a * p[k] + b * q[k] + c * r[k] + d * s[k]
        slopes[k] = e * p[k] + f * q[k] + g * r[k] + h * s[k]
    p, q, r, s = dropped[outer:], dropped[1:], dropped[2:], dropped[3 - outer :]
    for k in range(values.size):
        drops[k] = a * p[k] + b * q[k] + c * r[k] + d * s[k]
