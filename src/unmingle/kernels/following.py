"""Frames of a film against one picture of the same scene, from some of its pixels (THEORY 5, with one component)."""

import numpy as np

from .alignment import exponential, product3, shortened
from .compile import announced, compiled, piece
from .small import clip, copy_rows, solve_positive

EXPLAINED = 3.0
"""A pixel is explained if it is off by at most this number of outlier penalties."""
SHORTEST = 1.0 / 16.0
"""A step that raises the cost is halved, down to this share of it."""


@piece
def _slopes_at(picture, i, j):
    """Slopes along x and y, smoothed across by (1 2 1) / 4."""
    eighth, two = np.float32(0.125), np.float32(2.0)
    a, b, c = np.float32(picture[i - 1, j - 1]), np.float32(picture[i - 1, j]), np.float32(picture[i - 1, j + 1])
    d, e = np.float32(picture[i, j - 1]), np.float32(picture[i, j + 1])
    f, g, h = np.float32(picture[i + 1, j - 1]), np.float32(picture[i + 1, j]), np.float32(picture[i + 1, j + 1])
    return eighth * (c + two * e + h - a - two * d - f), eighth * (f + two * g + h - a - two * b - c)


@announced
@compiled
def steepest_pixels(picture, scale, side, least, chosen, slopes):
    """The pixel with the strongest slope of each cell of ``side`` x ``side`` pixels; returns how many there are.

    Cells whose strongest slope is at most ``least`` have none. ``chosen`` (2, cells) takes rows and columns, ``slopes``
    (2, cells) the slopes along x and y. Cost: 20 operations for each pixel.
    """
    height, width = picture.shape
    count = 0
    for top in range(0, height, side):
        for left in range(0, width, side):
            best = np.float32(least) * np.float32(least)
            row = column = -1
            for i in range(max(top, 2), min(top + side, height - 2)):
                for j in range(max(left, 2), min(left + side, width - 2)):
                    x, y = _slopes_at(picture, i, j)
                    strength = (x * x + y * y) * np.float32(scale) * np.float32(scale)
                    if strength > best:
                        best, row, column = strength, i, j
            if row >= 0:
                x, y = _slopes_at(picture, row, column)
                chosen[0, count], chosen[1, count] = row, column
                slopes[0, count], slopes[1, count] = x * np.float32(scale), y * np.float32(scale)
                count += 1
    return count


@piece
def _differences(frame, scale, matrix, light, grid, values, lam, clipped, weights):
    """Clipped differences and weights of all pixels; Huber cost for each one in sight, and shares: seen, explained."""
    a, b, c = np.float32(matrix[0, 0]), np.float32(matrix[0, 1]), np.float32(matrix[0, 2])
    d, e, f = np.float32(matrix[1, 0]), np.float32(matrix[1, 1]), np.float32(matrix[1, 2])
    g, h, k = np.float32(matrix[2, 0]), np.float32(matrix[2, 1]), np.float32(matrix[2, 2])
    gain, offset = np.float32(light[0]), np.float32(light[1])
    right, bottom = np.float32(frame.shape[1] - 1.001), np.float32(frame.shape[0] - 1.001)
    one, none, bound, half = np.float32(1.0), np.float32(0.0), np.float32(lam), np.float32(0.5)
    cost, seen, near = 0.0, 0, 0
    for i in range(values.size):
        u, v = grid[0, i], grid[1, i]
        over = one / (g * u + h * v + k)
        x, y = (a * u + b * v + c) * over, (d * u + e * v + f) * over
        clipped[i] = weights[i] = none
        if not (x >= none and y >= none and x < right and y < bottom):
            continue
        column, row = int(x), int(y)
        across, down = x - np.float32(column), y - np.float32(row)
        top, low = np.float32(frame[row, column]), np.float32(frame[row + 1, column])
        upper = top + across * (np.float32(frame[row, column + 1]) - top)
        lower = low + across * (np.float32(frame[row + 1, column + 1]) - low)
        off = (upper + down * (lower - upper)) * scale - gain * values[i] - offset
        if off != off:
            continue
        r = clip(off, bound)
        clipped[i], weights[i] = r, one if r == off else bound / abs(off)
        cost += r * (off - half * r)
        seen += 1
        near += abs(off) <= np.float32(EXPLAINED) * bound
    return (cost / seen if seen else np.inf), seen / max(1, values.size), near / max(1, seen)


@announced
@compiled
def follow_frame(frame, scale, matrix, light, limits, values, J, grid, generators, corners):
    """Move a matrix M and the light (g, o) down the cost of a frame x against pixels b of a picture, in place.

    With r = x(M p) - g b(p) - o at the pixels p, read between pixels bilinearly, a step solves ::

        (J W J') d = J clip(r, -lam, lam),   J = (slopes . fields, b, 1),   w = min(1, lam / |r|);
        M <- M exp(-sum d_k G_k / g),   (g, o) <- (g, o) + rest of d

    J is that of the picture, once and for all. A step that does not lower the mean of huber(r) is halved. ``limits``
    are lam, the largest step of a corner, the shortest, which ends the search, and the number of steps. Cost of a step:
    40 operations for each pixel, and (p + 2)^2. Returned: cost, share in sight, share that is explained.
    """
    size, m = J.shape
    p = size - 2
    lam, radius, tol, most = limits
    scale = np.float32(scale)
    clipped, weights, weighted = np.empty(m, np.float32), np.empty(m, np.float32), np.empty(m, np.float32)
    system, step, small = np.empty((size, size)), np.empty(size), np.empty(p)
    trial, change, spare, power = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    trial_light = np.empty(2)
    copy_rows(matrix, trial)
    trial_light[0], trial_light[1] = light[0], light[1]
    best, seen, near, moved, share, number = np.inf, 0.0, 0.0, np.inf, 1.0, 0
    while True:
        cost, sight, explained = _differences(frame, scale, trial, trial_light, grid, values, lam, clipped, weights)
        if cost < best:
            best, seen, near = cost, sight, explained
            copy_rows(trial, matrix)
            light[0], light[1] = trial_light[0], trial_light[1]
            if moved < tol or number >= most:
                break
            _newton_step(J, weights, clipped, weighted, system, step)
            moved, share = shortened(step, corners, radius * abs(light[0])) / max(abs(light[0]), 1e-3), 1.0
        else:
            share *= 0.5
            if best == np.inf or share < SHORTEST or moved * share < tol or number >= most:
                break
        for k in range(p):
            small[k] = -share * step[k] / light[0]
        exponential(small, generators, change, spare, power)
        product3(matrix, change, trial)
        trial_light[0] = min(max(light[0] + share * step[p], 0.1), 10.0)
        trial_light[1] = light[1] + share * step[p + 1]
        number += 1
    return best, seen, near


@piece
def _newton_step(J, weights, clipped, weighted, system, step):
    """Make the step the solution of (J W J') d = J clip(r); a millionth is added to the diagonal."""
    for a in range(step.size):
        total = np.float32(0.0)
        for i in range(weights.size):
            total += J[a, i] * clipped[i]
            weighted[i] = J[a, i] * weights[i]
        step[a] = total
        for b in range(a + 1):
            total = np.float32(0.0)
            for i in range(weights.size):
                total += weighted[i] * J[b, i]
            system[a, b] = total
        system[a, a] *= 1.0 + 1e-6
    solve_positive(system, step)


@announced
@compiled
def nearest_shift(frame, scale, matrix, light, cap, radius, stride, values, grid):
    """The shift by whole pixels, up to a radius along both axes, after which a picture lies best in a frame; (x, y).

    It has the least sum of min(|x - g b - o|, cap) over every ``stride``-th pixel. Cost: (2 radius + 1)^2 times as many
    reads.
    """
    count = (values.size + stride - 1) // stride
    places, wanted = np.empty((2, count), np.int64), np.empty(count, np.float32)
    for k in range(count):
        i = k * stride
        u, v = grid[0, i], grid[1, i]
        over = 1.0 / (matrix[2, 0] * u + matrix[2, 1] * v + matrix[2, 2])
        places[0, k] = int(np.rint((matrix[0, 0] * u + matrix[0, 1] * v + matrix[0, 2]) * over))
        places[1, k] = int(np.rint((matrix[1, 0] * u + matrix[1, 1] * v + matrix[1, 2]) * over))
        wanted[k] = np.float32(light[0]) * values[i] + np.float32(light[1])
    bound, best_x, best_y = np.float32(cap), 0, 0
    best = _distance(frame, scale, places, wanted, 0, 0, bound, np.float32(np.inf))
    for y in range(-radius, radius + 1):
        for x in range(-radius, radius + 1):
            total = _distance(frame, scale, places, wanted, x, y, bound, best)
            if total < best:
                best, best_x, best_y = total, x, y
    return best_x, best_y


@piece
def _distance(frame, scale, places, wanted, x, y, bound, enough):
    """The sum of differences, each at most ``bound``, at places that are shifted; not looked at further if enough."""
    height, width = frame.shape
    total, k = np.float32(0.0), 0
    while k < wanted.size and total < enough:
        end = min(k + 32, wanted.size)
        while k < end:
            column, row = places[0, k] + x, places[1, k] + y
            off = bound
            if 0 <= column < width and 0 <= row < height:
                off = abs(np.float32(frame[row, column]) * np.float32(scale) - wanted[k])
            total += off if off < bound else bound
            k += 1
    return total
