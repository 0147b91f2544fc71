"""Medians."""

import numpy as np

from .compile import announced, compiled, piece


@announced
@compiled
def column_medians(rows, medians):
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


@piece
def _exchange(row, other):
    """The smaller of each two numbers into the first row."""
    for j in range(row.size):
        a, b = row[j], other[j]
        row[j] = a if a < b else b
        other[j] = b if a < b else a
