"""Frames of a fixed camera: codes, background and mask, each in one pass over the pixels.

A frame is an array of rows in the numbers of the camera (bytes, mostly), with the channels of a pixel side by side;
``scale`` brings them to [0, 1]. Atoms are the rows of U'. Their number is part of a type, so that loops over them are
unrolled and every pass stays in registers.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from ._compile import announced, clip, compiled
from ._encoder import _add, _read
from ._regions import keep_regions

CHUNK, LARGE_CHUNK = 4096, 8192
"""Pixels that stay in the innermost cache, with and without their atoms."""
WEAK, STRONG = 1, 256
"""Marks of a pixel; strong ones are weak, too."""


@lru_cache
def zeros_for(q: int) -> tuple[Any, ...]:
    """A zero for each atom: their number as a type."""
    return (np.float32(0.0),) * q


@compiled
def explained(code, atoms, j):  # type: ignore[no-untyped-def]
    """Entry j of Us."""
    d = code[0] * atoms[0, j]
    for a in range(1, len(code)):
        d += code[a] * atoms[a, j]
    return d


@compiled
def _pull(x, scale, code, atoms, bound, zeros):  # type: ignore[no-untyped-def]
    """U' clip(x - Us, -bound, bound)."""
    sums = zeros
    for j in range(x.size):
        e = x[j] * scale - explained(code, atoms, j)
        sums = _add(sums, atoms, j, clip(e, bound))
    return sums


@compiled
def _codes(x, scale, atoms, step, lam_star, lam, n_layers, codes, zeros):  # type: ignore[no-untyped-def]
    """Layers of Algorithm 1 on one frame, from the codes of the last one, in place.

    With ``step`` = (U'U + lam_* I)^-1, every layer is::

        s <- s + step (U' clip(x - Us, -lam, lam) - lam_* s)

    Its fixed point does not depend on ``step``, which may therefore lag behind U. Cost: 4 m q flops for each layer.
    """
    q = len(zeros)
    slope = np.empty(q, np.float32)
    for _ in range(n_layers):
        pull = _pull(x, scale, _read(codes, zeros), atoms, lam, zeros)
        for a in range(q):
            slope[a] = pull[a] - lam_star * codes[a]
        for a in range(q):
            for b in range(q):
                codes[a] += step[a, b] * slope[b]


@announced
@compiled
def frame_codes(x, scale, atoms, step, lam_star, lam, n_layers, codes, zeros):  # type: ignore[no-untyped-def]
    """Codes of a frame by layers of Algorithm 1, in place."""
    _codes(x, np.float32(scale), atoms, step, np.float32(lam_star), np.float32(lam), n_layers, codes, zeros)


@compiled
def mark_frame(  # type: ignore[no-untyped-def]
    frame, channels, scale, atoms, codes, variance, factors, least, background, deviation, marked, zeros
):
    """Background of a frame, and the entries that it does not explain.

    With l and h halfway between the background d = Us of a pixel and the least and the largest one among its eight
    neighbours, ::

        deviation = max(x - h, l - x, 0)

    An edge that moves by less than half a pixel is therefore no deviation. Marks are `WEAK` and `STRONG` by where
    deviation^2 is above each of the two ``factors`` of max(variance, least). Cost: 2 q + 15 operations for each entry.
    """
    height, width = frame.shape
    white = np.float32(np.rint(np.float32(1.0) / scale))
    behind = background.reshape(-1)
    if white > 1:
        _paint(_read(codes, zeros), atoms, white, behind)
    else:
        _paint_fractions(_read(codes, zeros), atoms, behind)
    band = max(1, LARGE_CHUNK // width)
    low, high = np.empty(band * width, frame.dtype), np.empty(band * width, frame.dtype)
    least_near, most_near = np.empty_like(low), np.empty_like(high)
    first = 0
    while first < height:
        rows = 1 if first in (0, height - 1) else min(band, height - 1 - first)
        here, above, below = first * width, max(first - 1, 0) * width, min(first + 1, height - 1) * width
        size = rows * width
        middle, floor, top = behind[here : here + size], least_near[:size], most_near[:size]
        _span_of_three(behind[above : above + size], middle, behind[below : below + size], low, high)
        _least_of_three(low[:size], width, channels, floor)
        _most_of_three(high[:size], width, channels, top)
        if white > 1:
            _halfway(middle, floor, top)
        else:
            _halfway_of_fractions(middle, floor, top)
        _deviate(frame.reshape(-1)[here : here + size], floor, top, deviation.reshape(-1)[here : here + size])
        first += rows
    _mark(deviation.reshape(-1), scale, variance, factors, least, marked.reshape(-1))


@compiled
def _paint(code, atoms, white, picture):  # type: ignore[no-untyped-def]
    """Us, rounded to the numbers of the camera."""
    half, none = np.float32(0.5), np.float32(0.0)
    for j in range(picture.size):
        d = white * explained(code, atoms, j) + half
        d = d if d > none else none
        picture[j] = np.int32(d if d < white else white)


@compiled
def _paint_fractions(code, atoms, picture):  # type: ignore[no-untyped-def]
    """Us for a camera that gives fractions of white."""
    one, none = np.float32(1.0), np.float32(0.0)
    for j in range(picture.size):
        d = explained(code, atoms, j)
        d = d if d > none else none
        picture[j] = d if d < one else one


@compiled
def _span_of_three(above, here, below, low, high):  # type: ignore[no-untyped-def]
    for j in range(here.size):
        a, b, c = above[j], here[j], below[j]
        least = a if a < b else b
        most = b if a < b else a
        low[j] = least if least < c else c
        high[j] = most if most > c else c


@compiled
def _least_of_three(values, width, channels, least):  # type: ignore[no-untyped-def]
    """The least of each entry and its neighbours to the left and to the right; rows lie end to end."""
    size = values.size - 2 * channels
    before, here, after, inner = values[:size], values[channels:], values[2 * channels :], least[channels:]
    for j in range(size):
        a = before[j] if before[j] < here[j] else here[j]
        inner[j] = a if a < after[j] else after[j]
    inside = channels if width > channels else 0
    for start in range(0, values.size, width):
        for left in range(start, start + channels):
            right = 2 * start + width - 1 - left
            least[left] = min(values[left], values[left + inside])
            least[right] = min(values[right], values[right - inside])


@compiled
def _most_of_three(values, width, channels, most):  # type: ignore[no-untyped-def]
    size = values.size - 2 * channels
    before, here, after, inner = values[:size], values[channels:], values[2 * channels :], most[channels:]
    for j in range(size):
        a = before[j] if before[j] > here[j] else here[j]
        inner[j] = a if a > after[j] else after[j]
    inside = channels if width > channels else 0
    for start in range(0, values.size, width):
        for left in range(start, start + channels):
            right = 2 * start + width - 1 - left
            most[left] = max(values[left], values[left + inside])
            most[right] = max(values[right], values[right - inside])


@compiled
def _halfway(here, least, most):  # type: ignore[no-untyped-def]
    """Bring a span halfway to what is in it, for whole numbers."""
    two = here.dtype.type(2)
    for j in range(here.size):
        least[j] = here.dtype.type(least[j] + here.dtype.type(here[j] - least[j]) // two)
        most[j] = here.dtype.type(most[j] - here.dtype.type(most[j] - here[j]) // two)


@compiled
def _halfway_of_fractions(here, least, most):  # type: ignore[no-untyped-def]
    half = np.float32(0.5)
    for j in range(here.size):
        least[j] = half * (least[j] + here[j])
        most[j] = half * (most[j] + here[j])


@compiled
def _deviate(x, least, most, deviation):  # type: ignore[no-untyped-def]
    """How far each entry is outside a span."""
    nothing = x.dtype.type(0)
    for j in range(x.size):
        over = x.dtype.type(x[j] - most[j]) if x[j] > most[j] else nothing
        deviation[j] = x.dtype.type(least[j] - x[j]) if x[j] < least[j] else over


@compiled
def _mark(deviation, scale, variance, factors, least, marked):  # type: ignore[no-untyped-def]
    weak, strong = factors
    for j in range(deviation.size):
        e = deviation[j] * scale
        v = variance[j]
        v = v if v > least else least
        square = e * e
        marked[j] = np.uint16(WEAK) * np.uint16(square > weak * v) + np.uint16(STRONG) * np.uint16(square > strong * v)


@compiled
def count_neighbours(marked, counts, square):  # type: ignore[no-untyped-def]
    """Sums of the marks in the square around each pixel, whose side is the length of ``square``.

    Sums of marks are counts of weak and of strong ones side by side, as long as the square has less than 256 pixels.
    Edges are continued outwards.
    """
    height, width = marked.shape
    radius, last = len(square) // 2, height - 1
    sums = np.zeros(width + 2 * radius, np.uint16)
    inner = sums[radius : radius + width]
    for i in range(-radius, radius + 1):
        _accumulate(inner, marked[min(max(i, 0), last)])
    for i in range(height):
        for j in range(radius):
            sums[j] = inner[0]
            sums[radius + width + j] = inner[width - 1]
        _sum_across(sums, counts[i], square)
        _advance(inner, marked[min(i + radius + 1, last)], marked[max(i - radius, 0)])


@compiled
def _accumulate(sums, row):  # type: ignore[no-untyped-def]
    for j in range(sums.size):
        sums[j] = np.uint16(sums[j] + row[j])


@compiled
def _advance(sums, entering, leaving):  # type: ignore[no-untyped-def]
    for j in range(sums.size):
        sums[j] = np.uint16(np.uint16(sums[j] + entering[j]) - leaving[j])


@compiled
def _sum_across(sums, counts, square):  # type: ignore[no-untyped-def]
    for j in range(counts.size):
        total = sums[j]
        for k in range(1, len(square)):
            total = np.uint16(total + sums[np.uintp(j) + np.uintp(k)])
        counts[j] = total


@compiled
def vote(counts, half, few, weak, strong, near):  # type: ignore[no-untyped-def]
    """Pixels around which more than half of the pixels are marked, weakly and strongly, or a few strongly."""
    for j in range(counts.size):
        count = counts[j]
        weakly, strongly = np.uint8(count & np.uint16(255)), np.uint8(count >> np.uint16(8))
        weak[j] = weakly > half
        strong[j] = strongly > half
        near[j] = strongly >= few


@compiled
def pool_channels(marked, frame, background, scale, drop_shadows, pixels):  # type: ignore[no-untyped-def]
    """Marks of pixels: those of all channels together, but none where there is a shadow on the background.

    A shadow takes 5 to 50 % of the light and nearly the same share of every channel: with the ratios x / background of
    the channels, all lie in [0.5, 0.95] and differ by at most 0.06. Black pixels are no shadows.
    """
    channels = marked.size // pixels.size
    dim = np.float32(0.04) / scale
    for p in range(pixels.size):
        found = np.uint16(0)
        for j in range(p * channels, (p + 1) * channels):
            found |= marked[j]
        pixels[p] = found
        if found == 0 or not drop_shadows:
            continue
        least, most = np.float32(2.0), np.float32(0.0)
        for j in range(p * channels, (p + 1) * channels):
            behind = np.float32(background[j])
            ratio = np.float32(frame[j]) / behind if behind > dim else np.float32(0.0)
            least, most = min(least, ratio), max(most, ratio)
        if least >= 0.5 and most <= 0.95 and most - least <= 0.06:
            pixels[p] = 0


@announced
@compiled
def look_at_frame(  # type: ignore[no-untyped-def]
    frame, channels, scale, atoms, variance, factors, least, region, drop_shadows, least_area, marked, pooled, counts,
    strong, background, deviation, near, mask, square, sample, sampled, step, lam_star, lam, n_layers, codes, zeros,
):  # fmt: skip
    """Codes, background and mask of a frame: layers, marks, votes and regions.

    The codes are found from the ``sample`` of entries, whose atoms are ``sampled``; with no layers they stay as they
    are. ``near`` is where foreground is or might be. Outside of the region, unless that is empty, nothing is marked.

    Returns
    -------
    array of shape (k, 5)
        The regions of the mask, see `keep_regions`.
    """
    scale, least, factors = np.float32(scale), np.float32(least), (np.float32(factors[0]), np.float32(factors[1]))
    if n_layers:
        x = frame.reshape(-1)
        if sample.size:
            x = x[sample]
        _codes(x, scale, sampled, step, np.float32(lam_star), np.float32(lam), n_layers, codes, zeros)
    mark_frame(frame, channels, scale, atoms, codes, variance, factors, least, background, deviation, marked, zeros)
    pixels = marked
    if channels > 1:
        flat = marked.reshape(-1), frame.reshape(-1), background.reshape(-1)
        pool_channels(flat[0], flat[1], flat[2], scale, drop_shadows, pooled.reshape(-1))
        pixels = pooled
    if region.size:
        _blank(pixels.reshape(-1), region.reshape(-1))
    count_neighbours(pixels, counts, square)
    size = len(square) * len(square)
    half, few = np.uint8(size // 2), np.uint8(max(1, size // 6))
    vote(counts.reshape(-1), half, few, mask.reshape(-1), strong.reshape(-1), near)
    if region.size:
        _blank(mask.reshape(-1), region.reshape(-1))
        _blank(strong.reshape(-1), region.reshape(-1))
    boxes = keep_regions(mask, strong, least_area)
    _unite(near, mask.reshape(-1))
    return boxes


@compiled
def _blank(pixels, region):  # type: ignore[no-untyped-def]
    for j in range(pixels.size):
        pixels[j] = pixels[j] * region[j]


@compiled
def _unite(near, mask):  # type: ignore[no-untyped-def]
    for j in range(near.size):
        near[j] = near[j] | mask[j]
