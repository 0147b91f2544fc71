"""Frames of a fixed camera: codes, background and mask, each in one pass over the pixels.

A frame is a row of numbers of the camera (bytes, mostly): the brightness of all pixels and, of a coloured one, two
planes of colour differences of half the height and width. ``scale`` brings them to [0, 1], ``white`` is None for a
camera that gives fractions of white, and a colour difference is meant from the middle between black and white. Atoms
are the rows of U'. Their number is part of a type, so that loops over them are unrolled and every pass stays in
registers. What is None is not compiled.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .._types import AnyArray, BoolArray, ByteArray, Float32Array
from .compile import announced, compiled, merged, piece
from .regions import keep_regions
from .small import add, clip, read
from .video_colour import STRONG, WEAK, gather_colour, mark_coloured, measure_colour, middle_of
from .video_light import drop_relit

CHUNK = 4096
"""Pixels that stay in the innermost cache together with their atoms."""
LARGE_CHUNK = 8192
"""Pixels that stay in the innermost cache without atoms."""


class Scenery(NamedTuple):
    """The background of a camera, as far as a look at a frame needs it."""

    scale: Any
    """What brings the numbers of the camera to [0, 1]."""
    white: float | None
    """The largest number of the camera; None if it gives fractions."""
    atoms: Float32Array
    """(q, m): U'."""
    codes: Float32Array
    """s of the last frame, and then of this one."""
    variance: Float32Array
    """(m,): that of the deviation of each entry."""
    least: tuple[float, float]
    """Variances of brightness and of colour are never taken to be smaller than these."""
    stride: int
    """Codes are found from the brightness of every stride-th row, unless there is a sample."""
    sample: AnyArray | None
    """The pixels from whose brightness codes are found, or None."""
    sampled: Float32Array
    """The atoms of the pixels that codes are found from."""
    step: Float32Array
    """(U'U + lam_* I)^-1 for these atoms."""
    lam_star: float
    lam: float
    zeros: tuple[Any, ...]
    """A zero for each atom, see `zeros_for`."""


class Workspace(NamedTuple):
    """Room for what is seen in frames of one size, and how to look at them."""

    square: tuple[int, ...]
    """A tuple as long as the side of the square in which pixels vote."""
    region: AnyArray | None
    """Where to look, or None for everywhere."""
    light: tuple[float, float, bool]
    """What tells light from things, see `drop_relit`."""
    least_area: int
    """Regions with fewer strong pixels are dropped."""
    deviation: AnyArray
    """How far each entry is outside of what the background spans."""
    marked: AnyArray
    """Marks of each pixel, `WEAK` and `STRONG`."""
    colour: Float32Array | None
    """By how much each place of the colour planes deviates, or None for grey frames."""
    counts: AnyArray
    """How many marks of both kinds lie around each pixel."""
    strong: BoolArray
    """Pixels around which most are marked strongly."""
    near: ByteArray
    """Pixels and places of a colour plane where foreground is or might be."""


@lru_cache
def zeros_for(q: int) -> tuple[Any, ...]:
    """A zero for each atom: their number as a type."""
    return (np.float32(0.0),) * q


@piece
def explained(code, atoms, j):
    """Entry j of Us."""
    d = code[0] * atoms[0, j]
    for a in range(1, len(code)):
        d += code[a] * atoms[a, j]
    return d


@piece
def _pull(x, first, size, scale, code, atoms, bound, sums):
    """Sums and U' clip(x - Us, -bound, bound) of some entries."""
    for j in range(size):
        k = first + np.uintp(j)
        e = x[k] * scale - explained(code, atoms, k)
        sums = add(sums, atoms, k, clip(e, bound))
    return sums


@merged
def _codes(x, size, run, jump, scale, atoms, step, lam_star, lam, n_layers, codes, zeros):
    """Layers of Algorithm 1 on one frame, from the codes of the last one, in place.

    Of every ``jump`` entries the first ``run`` have a say. With ``step`` = (U'U + lam_* I)^-1, every layer is::

        s <- s + step (U' clip(x - Us, -lam, lam) - lam_* s)

    Its fixed point does not depend on ``step``, which may therefore lag behind U. Cost: 4 m q flops for each layer.
    """
    q = len(zeros)
    slope = np.empty(q, np.float32)
    for _ in range(n_layers):
        code, pull = read(codes, zeros), zeros
        for first in range(0, size, jump):
            pull = _pull(x, np.uintp(first), run, scale, code, atoms, lam, pull)
        for a in range(q):
            slope[a] = pull[a] - lam_star * codes[a]
        for a in range(q):
            for b in range(q):
                codes[a] += step[a, b] * slope[b]


@announced
@compiled
def frame_codes(x, scale, atoms, step, lam_star, lam, n_layers, codes, zeros):
    """Codes of a frame by layers of Algorithm 1, in place."""
    m = x.size
    _codes(x, m, m, m, np.float32(scale), atoms, step, np.float32(lam_star), np.float32(lam), n_layers, codes, zeros)


@merged
def _span_plane(frame, place, height, width, white, background, deviation):
    """How far each entry is outside of what its background and that of its eight neighbours span.

    With l and h halfway between the background d = Us of a pixel and the least and the largest one among its eight
    neighbours, ::

        deviation = max(x - h, l - x, 0)

    An edge that moves by less than half a pixel is therefore no deviation. The plane begins at ``place``. Cost: 15
    operations for each entry.
    """
    band = LARGE_CHUNK // width + 1
    low, high = np.empty(band * width, frame.dtype), np.empty(band * width, frame.dtype)
    first = 0
    while first < height:
        inner = height - 1 - first
        rows = 1 if first == 0 or inner == 0 else band if band < inner else inner
        here, size = place + first * width, rows * width
        above, below = here - width if first else here, here + width if inner else here
        _span_of_three(background, np.uintp(above), np.uintp(here), np.uintp(below), size, low, high)
        _deviate(frame, background, np.uintp(here), size, white, low, high, deviation)
        _deviate_at_edges(frame, background, here, size, width, white, low, high, deviation)
        first += rows


@piece
def _paint(code, atoms, first, size, middle, white, picture):
    """Us + middle, rounded to the numbers of the camera unless it gives fractions."""
    half, none, most = np.float32(0.5), np.float32(0.0), np.float32(1.0 if white is None else white)
    offset = np.float32(middle if white is None else most * middle + half)
    for j in range(size):
        k = first + np.uintp(j)
        d = explained(code, atoms, k)
        d = d + offset if white is None else most * d + offset
        d = d if d > none else none
        d = d if d < most else most
        picture[k] = d if white is None else np.int32(d)


@piece
def _span_of_three(picture, above, here, below, size, low, high):
    """The least and the largest of each entry, the one above and the one below."""
    for j in range(size):
        k = np.uintp(j)
        a, b, c = picture[above + k], picture[here + k], picture[below + k]
        least = a if a < b else b
        most = b if a < b else a
        low[j] = least if least < c else c
        high[j] = most if most > c else c


@piece
def _outside(x, d, least, most, white):
    """How far x is outside of a span that is brought halfway to d."""
    if white is None:
        half = np.float32(0.5)
        low, high = half * (least + d), half * (most + d)
        over = x - high if x > high else np.float32(0.0)
        return low - x if x < low else over
    kind = type(x)
    two = kind(2)
    low, high = kind(least + kind(d - least) // two), kind(most - kind(most - d) // two)
    over = kind(x - high) if x > high else kind(0)
    return kind(low - x) if x < low else over


@piece
def _deviate(frame, background, here, size, white, low, high, deviation):
    """Deviations of a band of rows, which lie end to end; those at the edges are not right yet."""
    one = np.uintp(1)
    for j in range(size - 2):
        left = np.uintp(j)
        middle = left + one
        right, k = middle + one, here + middle
        least = low[left] if low[left] < low[middle] else low[middle]
        most = high[left] if high[left] > high[middle] else high[middle]
        least = least if least < low[right] else low[right]
        most = most if most > high[right] else high[right]
        deviation[k] = _outside(frame[k], background[k], least, most, white)


@piece
def _deviate_at_edges(frame, background, here, size, width, white, low, high, deviation):
    """Deviations of the first and the last pixel of each row of a band."""
    inside = 1 if width > 1 else 0
    for start in range(0, size, width):
        for side in range(2):
            j = start + side * (width - 1)
            k, beside = here + j, j + (inside if side == 0 else -inside)
            least = low[j] if low[j] < low[beside] else low[beside]
            most = high[j] if high[j] > high[beside] else high[beside]
            deviation[k] = _outside(frame[k], background[k], least, most, white)


@piece
def _mark(deviation, size, scale, variance, factors, least, marked):
    """Marks, `WEAK` and `STRONG`, by where deviation^2 is above each of the two ``factors`` of max(variance, least)."""
    weak, strong = np.float32(factors[0]), np.float32(factors[1])
    for j in range(size):
        e = deviation[j] * scale
        v = variance[j]
        v = v if v > least else least
        square = e * e
        marked[j] = np.uint16(WEAK) * np.uint16(square > weak * v) + np.uint16(STRONG) * np.uint16(square > strong * v)


@merged
def count_neighbours(marked, height, width, counts, square):
    """Sums of the marks in the square around each pixel, whose side is the length of ``square``.

    Sums of marks are counts of weak and of strong ones side by side, as long as the square has less than 256 pixels.
    Edges are continued outwards.
    """
    radius, last = len(square) // 2, height - 1
    sums = np.empty(width + 2 * radius, np.uint16)
    for j in range(sums.size):
        sums[j] = 0
    for ahead in range(-radius, height + radius):
        i = ahead - radius
        entering = 0 if ahead < 0 else last if ahead > last else ahead
        leaving = -1 if i <= 0 else 0 if i <= radius else i - radius - 1
        _slide(sums, radius, width, marked, entering, leaving)
        if i >= 0:
            for j in range(radius):
                sums[j] = sums[radius]
                sums[radius + width + j] = sums[radius + width - 1]
            _sum_across(sums, np.uintp(i * width), width, counts, square)


@piece
def _slide(sums, radius, width, marked, entering, leaving):
    """Sums over a column of pixels, one row further: a row enters, and one leaves unless it is -1."""
    offset, enters = np.uintp(radius), np.uintp(entering * width)
    leaves = np.uintp(0 if leaving < 0 else leaving * width)
    keep = np.uint16(0 if leaving < 0 else 1)
    for j in range(width):
        k = np.uintp(j)
        more = np.uint16(sums[offset + k] + marked[enters + k])
        sums[offset + k] = np.uint16(more - np.uint16(keep * marked[leaves + k]))


@piece
def _sum_across(sums, here, width, counts, square):
    """Sums over a square from the sums over its columns."""
    for j in range(width):
        k = np.uintp(j)
        total = sums[k]
        for i in range(1, len(square)):
            total = np.uint16(total + sums[k + np.uintp(i)])
        counts[here + k] = total


@piece
def _vote(counts, size, weak, strong, near):
    """Pixels around which more than half of ``size`` pixels are marked, weakly and strongly, or a sixth strongly."""
    half, few = np.uint8(size // 2), np.uint8(size // 6 if size > 6 else 1)
    for j in range(counts.size):
        count = counts[j]
        weakly, strongly = np.uint8(count & np.uint16(255)), np.uint8(count >> np.uint16(8))
        weak[j] = weakly > half
        strong[j] = strongly > half
        near[j] = strongly >= few


@announced
@compiled
def detect_in_frame(
    frame, height, width, factors, n_layers, background, mask, words,
    square, region, light, least_area, deviation, marked, colour, counts, strong, near,
    scale, white, atoms, codes, variance, least, stride, sample, sampled, step, lam_star, lam, zeros,
):  # fmt: skip
    """Codes, background and mask of a frame: layers, marks, votes and regions; a `Workspace`, then a `Scenery`.

    Codes are found from the brightness. With no layers they stay as they are. ``near`` is where foreground is or might
    be. The mask comes with its words of eight pixels, see `keep_regions`. Cost: 2 q + 40 operations for each entry.

    Returns
    -------
    tuple
        The regions of the mask, an array of shape (k, 5), see `keep_regions`, and of the cells of the mask how many
        have texture and in how many of these it stayed, see `drop_relit`.
    """
    scale, pixels = np.float32(scale), height * width
    floor, colour_floor = np.float32(least[0]), np.float32(least[1])
    if n_layers:
        x, size, run, jump = frame, pixels, pixels, pixels
        if sample is not None:
            x, size, run, jump = frame[sample], sample.size, sample.size, sample.size
        elif stride > 1:
            run, jump = width, stride * width
        lam_star, lam = np.float32(lam_star), np.float32(lam)
        _codes(x, size, run, jump, scale, sampled, step, lam_star, lam, n_layers, codes, zeros)
    code = read(codes, zeros)
    _paint(code, atoms, np.uintp(0), pixels, np.float32(0.0), white, background)
    _span_plane(frame, 0, height, width, white, background, deviation)
    if colour is None:
        _mark(deviation, pixels, scale, variance, factors, floor, marked)
    else:
        rows, columns = (height + 1) // 2, (width + 1) // 2
        places = rows * columns
        _paint(code, atoms, np.uintp(pixels), 2 * places, middle_of(white), white, background)
        for plane in range(2):
            _span_plane(frame, pixels + plane * places, rows, columns, white, background, deviation)
        measure_colour(deviation, np.uintp(pixels), scale, variance, colour_floor, colour)
        mark_coloured(deviation, height, width, scale, variance, factors, floor, colour, marked)
    if region is not None:
        _blank(marked, region)
    count_neighbours(marked, height, width, counts, square)
    _vote(counts, len(square) * len(square), mask, strong, near)
    if region is not None:
        _blank(mask, region)
        _blank(strong, region)
    cells = drop_relit(frame, background, height, width, scale, light, mask, words, strong)
    boxes = keep_regions(mask, height, width, words, strong, least_area)
    _unite(near, mask)
    if colour is not None:
        gather_colour(near, height, width)
    return boxes, cells[0], cells[1]


@piece
def _blank(pixels, region):
    """Make what lies outside of the region 0."""
    for j in range(region.size):
        pixels[j] = pixels[j] * region[j]


@piece
def _unite(near, mask):
    """What is in the mask is near foreground."""
    for j in range(mask.size):
        near[j] = near[j] | mask[j]
