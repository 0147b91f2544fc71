"""Small robust estimates: medians and lines."""

import numpy as np

from ._compile import announced, compiled


@announced
@compiled
def robust_line(x, y, floor, rounds):  # type: ignore[no-untyped-def]
    """Slope and offset of the line with the least sum of |y - slope x - offset|; no slope where x hardly varies.

    Iteratively reweighted least squares; residuals below ``floor`` weigh alike.
    """
    slope, offset, spread = 1.0, np.median(y - x), 0.0
    for _ in range(rounds):
        total = mean_x = mean_y = 0.0
        for j in range(x.size):
            weight = 1.0 / max(abs(y[j] - slope * x[j] - offset), floor)
            total += weight
            mean_x += weight * x[j]
            mean_y += weight * y[j]
        mean_x, mean_y = mean_x / total, mean_y / total
        spread = product = 0.0
        for j in range(x.size):
            weight = 1.0 / max(abs(y[j] - slope * x[j] - offset), floor)
            spread += weight * (x[j] - mean_x) ** 2
            product += weight * (x[j] - mean_x) * (y[j] - mean_y)
        if spread < 1e-6 * total:
            return 0.0, 0.0
        slope = product / spread
        offset = mean_y - slope * mean_x
    return slope, offset


@announced
@compiled
def column_medians(rows, medians):  # type: ignore[no-untyped-def]
    """The median of every column of a few rows, which get sorted in place.

    Neighbouring rows are compared and exchanged, n times in turns: n^2 / 2 steps, but for many columns at once.
    """
    n = len(rows)
    for turn in range(n):
        for i in range(turn % 2, n - 1, 2):
            _exchange(rows[i], rows[i + 1])
    lower, upper = rows[(n - 1) // 2], rows[n // 2]
    for j in range(medians.size):
        medians[j] = (np.float32(lower[j]) + np.float32(upper[j])) * np.float32(0.5)


@compiled
def _exchange(row, other):  # type: ignore[no-untyped-def]
    for j in range(row.size):
        a, b = row[j], other[j]
        row[j] = a if a < b else b
        other[j] = b if a < b else a
