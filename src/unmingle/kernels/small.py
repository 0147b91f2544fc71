"""Pieces that several kernels are made of."""

from typing import Any

import numpy as np
from numba.cpython.unsafe.tuple import tuple_setitem

from .._types import Array
from .compile import piece

_put: Any = tuple_setitem
"""Tuples of a known length are numbers in registers; Numba's public interface cannot change one of them."""


def read_only(part: Array) -> Array:
    """The same numbers; a kernel is compiled once for what it only reads, and not for each mixture of flags."""
    view = part.view()
    view.flags.writeable = False
    return view


@piece
def clip(x, bound):
    """The point of [-bound, bound] nearest to x."""
    below = x if x < bound else bound
    return below if below > -bound else -bound


@piece
def copy_rows(source, target):
    """Copy a matrix."""
    for i in range(target.shape[0]):
        for j in range(target.shape[1]):
            target[i, j] = source[i, j]


@piece
def read(row, zeros):
    """The numbers of a short row."""
    values = zeros
    for a in range(len(zeros)):
        values = _put(values, a, row[a])
    return values


@piece
def write(values, row):
    """A short row from its numbers."""
    for a in range(len(values)):
        row[a] = values[a]


@piece
def add(sums, rows, j, r):
    """Sums of H r with the share of feature j."""
    for a in range(len(sums)):
        sums = _put(sums, a, sums[a] + rows[a, j] * r)
    return sums


@piece
def add_both(sums, others, rows, j, r, s):
    """Sums of H r and H s with the shares of feature j."""
    for a in range(len(sums)):
        row = rows[a, j]
        sums = _put(sums, a, sums[a] + row * r)
        others = _put(others, a, others[a] + row * s)
    return sums, others


@piece
def fed_back(sums, code, gains, k):
    """max(0, G c + sums) with the k-th of the matrices G'; the sums themselves where there are none."""
    if gains is None:
        return sums
    nothing = gains.dtype.type(0)
    for a in range(len(sums)):
        total = sums[a]
        for b in range(len(code)):
            total += code[b] * gains[k, b, a]
        sums = _put(sums, a, nothing if total < nothing else total)
    return sums


@piece
def solve_positive(A, x):
    """Make x the A^-1 x, by Cholesky; A is given by its lower triangle, which becomes the factor."""
    q = x.size
    for a in range(q):
        for b in range(a + 1):
            t = A[a, b]
            for c in range(b):
                t -= A[a, c] * A[b, c]
            if a == b:
                A[a, a] = np.sqrt(t) if t > 0 else np.inf
            else:
                A[a, b] = t / A[b, b]
    for a in range(q):
        t = x[a]
        for c in range(a):
            t -= A[a, c] * x[c]
        x[a] = t / A[a, a]
    for a in range(q - 1, -1, -1):
        t = x[a]
        for c in range(a + 1, q):
            t -= A[c, a] * x[c]
        x[a] = t / A[a, a]
