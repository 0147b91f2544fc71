"""Frames of a shaking camera laid over its background, and masks laid back; rows as in `unmingle.media.Planes`."""

import numpy as np

from .compile import announced, compiled, piece
from .regions import keep_regions

PRECISE = 0.05
"""Where a map is nearly a shift it is taken for one; places may be off by this part of a pixel."""
SHORTEST_PIECE = 8
"""That has to hold for at least this number of pixels of a row."""


@piece
def _stored(value, exact):
    """A number of a plane: the nearest whole one, or the value itself where the camera gives fractions."""
    return value if exact else np.int32(value + np.float32(0.5))


@piece
def _shift_plane(source, place, height, width, x, y, exact, fill, out):
    """out(p) = source(p + (x, y)) of a plane, between its pixels bilinearly; where it has none, what is in fill."""
    i, j = int(np.floor(y)), int(np.floor(x))
    across, down = np.float32(x - j), np.float32(y - i)
    more, lower = (1 if across > 0 else 0), (1 if down > 0 else 0)
    left, right = max(0, -j), min(width, width - more - j)
    top, bottom = max(0, -i), min(height, height - lower - i)
    for row in range(height):
        here = place + row * width
        inside = top <= row < bottom
        start, end = (min(left, width), max(right, 0)) if inside else (width, width)
        for k in range(start):
            out[here + k] = fill[here + k]
        for k in range(max(end, start), width):
            out[here + k] = fill[here + k]
        if end <= start:
            continue
        above = place + (row + i) * width + j
        if more + lower == 0:
            for k in range(start, end):
                out[np.uintp(here + k)] = source[np.uintp(above + k)]
        else:
            below = above + lower * width
            _mix_row(source, above + start, below + start, more, across, down, exact, out, here + start, end - start)


@piece
def _mix_row(source, above, below, more, across, down, exact, out, here, size):
    """Part of a row, each number from four neighbours by the same weights."""
    one = np.float32(1.0)
    a, b = (one - across) * (one - down), across * (one - down)
    c, d = (one - across) * down, across * down
    top, low, target, right = np.uintp(above), np.uintp(below), np.uintp(here), np.uintp(more)
    for j in range(size):
        k = np.uintp(j)
        value = a * source[top + k] + b * source[top + k + right] + c * source[low + k] + d * source[low + k + right]
        out[target + k] = _stored(value, exact)


@piece
def _cut(slope, offset, start, end):
    """The columns u from start to end, the end exclusive, at which slope u + offset is above 0."""
    if slope > 0:
        start = max(start, int(np.floor(-offset / slope)) + 1)
    elif slope < 0:
        end = min(end, int(np.ceil(-offset / slope)))
    elif offset <= 0:
        end = start
    return start, end


@piece
def _columns_seen(p, q, r, a, d, g, right, bottom, width):
    """The columns u of a row for which (a u + p, d u + q) / (g u + r) lies well within a plane."""
    tiny = 1e-3
    start, end = _cut(g, r, 0, width)
    start, end = _cut(a + tiny * g, p + tiny * r, start, end)
    start, end = _cut(d + tiny * g, q + tiny * r, start, end)
    start, end = _cut((right + tiny) * g - a, (right + tiny) * r - p, start, end)
    start, end = _cut((bottom + tiny) * g - d, (bottom + tiny) * r - q, start, end)
    return min(start, width), max(min(start, width), end)


@piece
def _move_plane(source, place, height, width, matrix, exact, fill, out):
    """The same for any map: out(p) = source(M p)."""
    a, d, g = matrix[0, 0], matrix[1, 0], matrix[2, 0]
    right, bottom = width - 1.0, height - 1.0
    for row in range(height):
        p, q = matrix[0, 1] * row + matrix[0, 2], matrix[1, 1] * row + matrix[1, 2]
        r = matrix[2, 1] * row + matrix[2, 2]
        start, end = _columns_seen(p, q, r, a, d, g, right, bottom, width)
        here = np.uintp(place + row * width)
        for k in range(start):
            out[here + np.uintp(k)] = fill[here + np.uintp(k)]
        for k in range(end, width):
            out[here + np.uintp(k)] = fill[here + np.uintp(k)]
        if end > start:
            line = (a, d, g, p, q, r)
            if not _read_in_pieces(source, place, height, width, line, exact, out, here, start, end):
                _read_row(source, place, height, width, line, exact, out, here, start, end)


@piece
def _read_in_pieces(source, place, height, width, line, exact, out, here, start, end):
    """Read a row in pieces within which the map is a shift to `PRECISE` pixels; whether these are not too short."""
    a, d, g, p, q, r = line
    first, last = 1.0 / (g * start + r), 1.0 / (g * (end - 1) + r)
    across = (a * (end - 1) + p) * last - (a * start + p) * first - (end - 1 - start)
    down = (d * (end - 1) + q) * last - (d * start + q) * first
    count = int(max(abs(across), abs(down)) / (2.0 * PRECISE)) + 1
    if count * SHORTEST_PIECE > end - start:
        return False
    for number in range(count):
        left, right = start + number * (end - start) // count, start + (number + 1) * (end - start) // count
        middle = 0.5 * (left + right - 1)
        over = 1.0 / (g * middle + r)
        x, y = (a * middle + p) * over - 0.5 * (right - 1 - left), (d * middle + q) * over
        x, y = min(max(x, 0.0), float(width - right + left)), min(max(y, 0.0), height - 1.0)
        j, i = int(x), int(y)
        upper = place + i * width + j
        lower, more = upper + (width if y > i else 0), 1 if x > j else 0
        _mix_row(
            source, upper, lower, more, np.float32(x - j), np.float32(y - i), exact, out, here + left, right - left
        )
    return True


@piece
def _read_row(source, place, height, width, line, exact, out, here, start, end):
    """Part of a row, each number from four neighbours by weights of its own."""
    a, d, g = np.float32(line[0]), np.float32(line[1]), np.float32(line[2])
    p, q, r = np.float32(line[3]), np.float32(line[4]), np.float32(line[5])
    one, none, right, bottom = np.float32(1.0), np.float32(0.0), np.float32(width - 1), np.float32(height - 1)
    last, under, wide = np.int32(width - 2), np.int32(height - 2), np.int32(width)
    begin, flat = np.int32(place), g == none and r == one
    for k in range(start, end):
        u = np.float32(k)
        x, y = a * u + p, d * u + q
        if not flat:
            over = one / (g * u + r)
            x, y = x * over, y * over
        x, y = min(max(x, none), right), min(max(y, none), bottom)
        column, row = min(np.int32(x), last), min(np.int32(y), under)
        across, down = x - np.float32(column), y - np.float32(row)
        n = np.uintp(begin + row * wide + column)
        s = n + np.uintp(wide)
        top, low = np.float32(source[n]), np.float32(source[s])
        upper = top + across * (np.float32(source[n + np.uintp(1)]) - top)
        lower = low + across * (np.float32(source[s + np.uintp(1)]) - low)
        out[here + np.uintp(k)] = _stored(upper + down * (lower - upper), exact)


@announced
@compiled
def lay_over(row, height, width, matrix, is_shift, exact, fill, out):
    """Lay a row of a camera, brightness and then two planes of colour if there are, over another: out(p) = x(M p).

    Between pixels rows are read bilinearly; where M p is not in the frame, ``out`` is that of ``fill``. Pixel c of a
    plane of colour lies at 2 c + 1/2. Cost: 10 operations for each entry.
    """
    pixels = height * width
    if is_shift:
        _shift_plane(row, 0, height, width, matrix[0, 2], matrix[1, 2], exact, fill, out)
    else:
        _move_plane(row, 0, height, width, matrix, exact, fill, out)
    if row.size == pixels:
        return
    rows, columns = (height + 1) // 2, (width + 1) // 2
    half = np.empty((3, 3))
    _halve_matrix(matrix, half)
    for plane in range(2):
        place = pixels + plane * rows * columns
        if is_shift:
            _shift_plane(row, place, rows, columns, half[0, 2], half[1, 2], exact, fill, out)
        else:
            _move_plane(row, place, rows, columns, half, exact, fill, out)


@piece
def _halve_matrix(matrix, half):
    """S^-1 M S with S c = 2 c + 1/2."""
    for i in range(3):
        a, b = 2.0 * matrix[i, 0], 2.0 * matrix[i, 1]
        half[i, 0], half[i, 1], half[i, 2] = a, b, 0.25 * (a + b) + matrix[i, 2]
    for i in range(2):
        for j in range(3):
            half[i, j] = 0.5 * (half[i, j] - 0.5 * half[2, j])


@piece
def _move_mask(mask, height, width, matrix, first, end, out):
    """out(p) = mask(M p), the nearest pixel, for any map."""
    a, b, c = np.float32(matrix[0, 0]), np.float32(matrix[0, 1]), np.float32(matrix[0, 2])
    d, e, f = np.float32(matrix[1, 0]), np.float32(matrix[1, 1]), np.float32(matrix[1, 2])
    g, h, w = np.float32(matrix[2, 0]), np.float32(matrix[2, 1]), np.float32(matrix[2, 2])
    one, half, none = np.float32(1.0), np.float32(0.5), np.float32(0.0)
    right, bottom = np.float32(width), np.float32(height)
    for row in range(first, end):
        v = np.float32(row)
        p, q, r = b * v + c, e * v + f, h * v + w
        for k in range(width):
            u = np.float32(k)
            over = one / (g * u + r)
            x, y = (a * u + p) * over + half, (d * u + q) * over + half
            if x >= none and y >= none and x < right and y < bottom:
                out[row * width + k] = mask[np.int32(y) * width + np.int32(x)]


@piece
def _shift_mask(mask, height, width, matrix, first, end, out):
    """The same for a shift."""
    j, i = int(np.rint(matrix[0, 2])), int(np.rint(matrix[1, 2]))
    left, right = max(0, -j), min(width, width - j)
    for row in range(max(first, -i), min(end, height - i)):
        here, there = np.uintp(row * width), np.uintp((row + i) * width)
        for k in range(left, right):
            out[here + np.uintp(k)] = mask[there + np.uintp(k + j)]


@announced
@compiled
def lay_mask_back(mask, height, width, matrix, is_shift, rows, out, words, least):
    """Lay a mask back into the frame: out(p) = mask(M p), the nearest pixel; nothing where there is none.

    Only the given range of rows of the answer is looked for. Regions with fewer than ``least`` pixels are dropped;
    returned are the others, see `keep_regions`.
    """
    for k in range(out.size):
        out[k] = False
    first, end = rows
    if is_shift:
        _shift_mask(mask, height, width, matrix, first, end, out)
    else:
        _move_mask(mask, height, width, matrix, first, end, out)
    part = out[first * width : end * width]
    part_words = words[first * width // 8 : end * width // 8] if words.size else words
    regions = keep_regions(part, end - first, width, part_words, part, least)
    for k in range(len(regions)):
        regions[k, 0] += first
        regions[k, 2] += first
    return regions
