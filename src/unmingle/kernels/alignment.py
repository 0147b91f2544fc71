"""Alignment (THEORY 5) of one image with components: Gauss-Newton on the transformation and the code together."""

import numpy as np

from .compile import announced, compiled, piece
from .small import clip, copy_rows, solve_positive
from .warp import BORDER, ROUNDING, read_cubic, read_linear, read_shifted

OUTLYING = 0.25
"""The weight of outliers is this share of lam / |r|, between that of Newton's method, 0, and that of reweighted least
squares, 1: the nearer to 0, the fewer steps."""
_FIRST_DAMPING = 1e-3
"""The damping of the first step after one that raised the cost."""
_MOST_DAMPING = 1e6
"""With more damping a step goes nowhere, and the search ends."""


@announced
@compiled
def warp_image(image, cubic, matrix, grid, values, slopes):
    """Values T(x) at the places of a grid, NaN outside of the image, and their slopes along the axes of the grid."""
    _warp(image, cubic, matrix, grid, columns_of(grid), values, slopes)


@piece
def columns_of(grid):
    """How many places lie in each row of a grid, if these are all rows of a rectangle; else 0."""
    m, width = grid.shape[1], 1
    while width < m and grid[1, width] == grid[1, 0]:
        width += 1
    if width < 2 or m % width or m == width:
        return 0
    for k in range(m):
        row = k // width
        if grid[0, k] != grid[0, k - row * width] or grid[1, k] != grid[1, row * width]:
            return 0
    return width


@piece
def _is_shift(matrix, grid, width):
    """Whether a grid of this number of columns meets the image at places that are one pixel apart along both axes."""
    if width == 0:
        return False
    far, high = grid.shape[1] - 1, grid.shape[1] // width - 1
    across, down = matrix[0, 0] * (grid[0, far] - grid[0, 0]), matrix[1, 1] * (grid[1, far] - grid[1, 0])
    apart = abs(across - (width - 1)) + abs(down - high)
    turned = abs(matrix[0, 1]) + abs(matrix[1, 0]) + abs(matrix[2, 0]) + abs(matrix[2, 1]) + abs(matrix[2, 2] - 1.0)
    return apart < ROUNDING and turned == 0.0


@piece
def _warp(image, cubic, matrix, grid, width, values, slopes):
    if _is_shift(matrix, grid, width):
        x = matrix[0, 0] * grid[0, 0] + matrix[0, 2]
        y = matrix[1, 1] * grid[1, 0] + matrix[1, 2]
        read_shifted(image, cubic, x, y, width, values, slopes)
        for axis in range(2):
            gain = values.dtype.type(matrix[axis, axis])
            for k in range(values.size):
                slopes[axis, k] *= gain
    else:
        _warp_freely(image, cubic, matrix, grid, values, slopes)


@piece
def _warp_freely(image, cubic, matrix, grid, values, slopes):
    right, bottom = image.shape[1] - 2 * BORDER - 1, image.shape[0] - 2 * BORDER - 1
    a, b, c = matrix[0, 0], matrix[0, 1], matrix[0, 2]
    d, e, f = matrix[1, 0], matrix[1, 1], matrix[1, 2]
    g, h, w = matrix[2, 0], matrix[2, 1], matrix[2, 2]
    number = values.dtype.type
    for k in range(values.size):
        u, v = grid[0, k], grid[1, k]
        over = 1.0 / (g * u + h * v + w)
        x, y = (a * u + b * v + c) * over, (d * u + e * v + f) * over
        inside = (x >= -ROUNDING) & (x <= right + ROUNDING) & (y >= -ROUNDING) & (y <= bottom + ROUNDING)
        if not (inside and over > 0):
            values[k], slopes[0, k], slopes[1, k] = np.nan, 0, 0
            continue
        x, y = min(max(x, 0.0), float(right)), min(max(y, 0.0), float(bottom))
        value, slope, drop = read_cubic(image, x, y) if cubic else read_linear(image, x, y)
        values[k] = value
        slopes[0, k] = slope * number((a - x * g) * over) + drop * number((d - y * g) * over)
        slopes[1, k] = slope * number((b - x * h) * over) + drop * number((e - y * h) * over)


@announced
@compiled
def align_image(image, cubic, matrix, code, grid, fields, generators, corners, components, penalties, limits):
    """Move matrix M and code s down the cost of T_M(x) against components, see `alignment`; return how it went.

    With the residual r = T_M(x) - Us over the pixels that M finds in the image, a step solves ::

        (J W J' + lam_* I_s + damping D) (dp, -ds) = -J clip(r, -lam, lam) + lam_* s,   J = (slopes . fields, U'),
        w = 1 where |r| <= lam, else a quarter of lam / |r|;   M <- M exp(sum dp_k G_k),   s <- s + ds

    and is taken if the cost (m / valid) sum huber(r) + lam_*/2 ||s||^2 falls; damping grows tenfold if not. No corner
    of the frame moves by more than ``limits[1]`` in a step; the end is a step below ``limits[0]``, or the number
    ``limits[2]`` of steps. The first ``limits[3]`` steps leave M as it is.

    Cost of a step: 2 m (p + q)^2 flops and an interpolation for each of m pixels. Returned: cost, share of valid
    pixels, and how far the last step moved a corner.
    """
    p, (q, m) = len(fields), components.shape
    size, width = p + q, columns_of(grid)
    lam, lam_star = penalties
    tol, radius, most, still = limits
    J, weighted = np.empty((size, m), image.dtype), np.empty((size, m), image.dtype)
    values, slopes, low_rank = np.empty(m, image.dtype), np.empty((2, m), image.dtype), np.empty((1, m), image.dtype)
    weights = np.empty(m, image.dtype)
    square, system = np.empty((size, size), image.dtype), np.empty((size, size))
    right, step = np.empty(size), np.empty(size)
    trial, trial_code, change = np.empty((3, 3)), np.empty((1, q), image.dtype), np.empty((3, 3))
    spare, power = np.empty((3, 3)), np.empty((3, 3))
    for a in range(q):
        trial_code[0, a] = code[a]
        for i in range(m):
            J[p + a, i] = components[a, i]
    copy_rows(matrix, trial)
    best, damping, moved, steps, share = np.inf, 0.0, np.inf, 0, 0.0
    while True:
        _warp(image, cubic, trial, grid, width, values, slopes)
        np.dot(trial_code, components, low_rank)
        cost, valid = _residual(values, low_rank[0], lam, weights)
        inside = 0.0
        for a in range(q):
            inside += trial_code[0, a] ** 2
        cost = cost * m / valid + 0.5 * lam_star * inside if valid > 0 else np.inf
        better = cost < best
        if better:
            best, share = cost, valid / m
            copy_rows(trial, matrix)
            for a in range(q):
                code[a] = trial_code[0, a]
            damping = 0.1 * damping if damping > _FIRST_DAMPING else 0.0
            if moved < tol or steps >= most:
                break
            _jacobian(J, weighted, weights, slopes, fields)
            _products(weighted, J, square)
            _pull(right, J, values, code, lam_star * share, p)
        else:
            if moved < tol or steps >= most or damping > _MOST_DAMPING or best == np.inf:
                break
            damping = max(_FIRST_DAMPING, 10 * damping)
        _prepare(system, step, square, right, lam_star * share, p, damping)
        if steps < still:
            _hold(system, step, p)
        solve_positive(system, step)
        moved = shortened(step, corners, radius) if steps >= still else np.inf
        exponential(step, generators, change, spare, power)
        product3(matrix, change, trial)
        for a in range(q):
            trial_code[0, a] = code[a] - step[p + a]
        steps += 1
    return best, share, moved


@piece
def _residual(values, low_rank, lam, weights):
    """Make values the clipped residual, 0 where nothing is known; weights, Huber cost and number of known pixels."""
    half, bound, nothing = values.dtype.type(0.5), values.dtype.type(lam), values.dtype.type(0)
    one, share = values.dtype.type(1), values.dtype.type(OUTLYING)
    total, count = 0.0, 0
    for i in range(values.size):
        known = values[i] == values[i]
        e = values[i] - low_rank[i] if known else nothing
        r = clip(e, bound)
        weight = one if r == e else share * bound / abs(e)
        weights[i] = weight if known else nothing
        total += r * (e - half * r)
        count += known
        values[i] = r
    return total, count


@piece
def _jacobian(J, weighted, weights, slopes, fields):
    """J, and J W with the weights of the residual; both 0 where nothing is known."""
    nothing = weights.dtype.type(0)
    for k in range(len(fields)):
        for i in range(weights.size):
            slope = slopes[0, i] * fields[k, 0, i] + slopes[1, i] * fields[k, 1, i]
            J[k, i] = slope if weights[i] > nothing else nothing
    for k in range(len(J)):
        for i in range(weights.size):
            weighted[k, i] = weights[i] * J[k, i]


@piece
def _products(weighted, J, square):
    """The lower triangle of J W J': for so few rows, loops are several times as fast as BLAS."""
    for a in range(len(J)):
        for b in range(a + 1):
            total = J.dtype.type(0)
            for i in range(J.shape[1]):
                total += weighted[a, i] * J[b, i]
            square[a, b] = total


@piece
def _pull(right, J, residual, code, lam_star, p):
    """The right-hand side of a step: -J r with the clipped residual, and lam_* s for the codes."""
    for k in range(len(J)):
        total = residual.dtype.type(0)
        for i in range(residual.size):
            total += J[k, i] * residual[i]
        right[k] = -total
    for a in range(len(code)):
        right[p + a] += lam_star * code[a]


@piece
def _prepare(system, step, square, right, lam_star, p, damping):
    """The system of a step, damped, and its right-hand side, both to be overwritten."""
    for a in range(step.size):
        step[a] = right[a]
        for b in range(a + 1):
            system[a, b] = square[a, b]
        if a >= p:
            system[a, a] += lam_star
        system[a, a] *= 1 + damping


@piece
def _hold(system, step, p):
    """Make the step one that leaves the first p numbers as they are."""
    for a in range(p):
        step[a] = 0.0
        for b in range(a):
            system[a, b] = 0.0
        system[a, a] = 1.0
    for a in range(p, step.size):
        for b in range(p):
            system[a, b] = 0.0


@piece
def shortened(step, corners, radius):
    """How far a step moves a corner, after making it shorter where that is beyond the radius."""
    far = 0.0
    for c in range(corners.shape[2]):
        x = y = 0.0
        for k in range(len(corners)):
            x += step[k] * corners[k, 0, c]
            y += step[k] * corners[k, 1, c]
        far = max(far, x * x + y * y)
    far = np.sqrt(far)
    if far > radius:
        for k in range(step.size):
            step[k] *= radius / far
        return radius
    return far


@piece
def exponential(step, generators, out, spare, power):
    """The exponential of sum step_k G_k, a small matrix, by its series."""
    for a in range(3):
        for b in range(3):
            spare[a, b] = 0.0
            for k in range(len(generators)):
                spare[a, b] += step[k] * generators[k, a, b]
            out[a, b] = (1.0 if a == b else 0.0) + spare[a, b]
            power[a, b] = spare[a, b]
    for order in range(2, 12):
        for a in range(3):
            x, y, z = power[a, 0], power[a, 1], power[a, 2]
            for b in range(3):
                power[a, b] = (x * spare[0, b] + y * spare[1, b] + z * spare[2, b]) / order
                out[a, b] += power[a, b]


@piece
def product3(a, b, out):
    """Write the product of two 3 x 3 matrices."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]
