"""Passes over a whole matrix for nonnegative factors."""

import numpy as np

from .compile import announced, compiled, piece

_BLOCK = 64
"""Rows that stay in the cache while they are worked on."""


@announced
@compiled
def nonnegative_sweep(X, lam, lam_star, codes, components, ahead, atoms, gram, next_codes, gathered, rounds):
    """One pass over the nonnegative factors: value a point (codes, components), improve another one's codes.

    The other point has the codes ``ahead`` and the ``atoms`` U with ``gram`` = U'U + lam_star I; where ``components``
    has no rows, it is the one that is valued. With R = min(X - ahead U', lam), 0 where X is missing, X - O is
    ahead U' + R, and the codes go down ``rounds`` times, coordinate by coordinate, for it::

        next_codes: down  1/2 ||ahead U' + R - S U'||_F^2 + lam_star/2 ||S||_F^2,     gathered = next_codes' R

    That square bounds the cost from above and touches it at ``ahead``, so it cannot rise. O is not stored.

    Cost: 6 n m q flops, 8 with another point. Memory: a few rows.

    Returns
    -------
    float
        Sum of the cost of noise and outliers at the point.
    """
    n, m = X.shape
    q = atoms.shape[1]
    residual, image = np.empty((_BLOCK, m), X.dtype), np.empty((_BLOCK, q), X.dtype)
    share, slope, upright = np.empty((q, m), X.dtype), np.empty(q), atoms.T
    value, elsewhere = 0.0, components.shape[0] > 0
    for a in range(q):
        for b in range(m):
            gathered[a, b] = 0.0
    for i in range(0, n, _BLOCK):
        j = min(i + _BLOCK, n)
        if elsewhere:
            np.dot(codes[i:j], components, residual[: j - i])
            for k in range(j - i):
                value += _outlying(X[i + k], residual[k], lam)
        np.dot(ahead[i:j], upright, residual[: j - i])
        for k in range(j - i):
            cost = _leave(X[i + k], residual[k], lam)
            value += 0.0 if elsewhere else cost
        np.dot(residual[: j - i], atoms, image[: j - i])
        for k in range(j - i):
            for a in range(q):
                slope[a] = image[k, a] - lam_star * ahead[i + k, a]
            go_down(gram, slope, ahead[i + k], next_codes[i + k], rounds)
        np.dot(next_codes[i:j].T, residual[: j - i], share)
        for a in range(q):
            for b in range(m):
                gathered[a, b] += share[a, b]
    return value


@announced
@compiled
def nonnegative_descent(gram, slopes, rows, next_rows, rounds):
    """Rows z >= 0 further down 1/2 (z - y)' gram (z - y) - (z - y)' slope, each from its y, coordinate by coordinate.

    Cost: 2 q^2 flops per row and round.
    """
    slope = np.empty(rows.shape[1])
    for i in range(rows.shape[0]):
        for a in range(slope.size):
            slope[a] = slopes[i, a]
        go_down(gram, slope, rows[i], next_rows[i], rounds)


@piece
def go_down(gram, slope, row, next_row, rounds):
    """The same for one row; ``slope`` becomes that at its end."""
    for a in range(row.size):
        next_row[a] = row[a]
    for _ in range(rounds):
        for a in range(row.size):
            at = next_row[a]
            next_row[a] = max(at + slope[a] / gram[a, a], 0.0)
            move = next_row[a] - at
            if move != 0:
                for b in range(row.size):
                    slope[b] -= move * gram[a, b]


@piece
def _leave(x, d, lam):
    """Make d the r = min(x - d, lam), 0 where x is missing; gives the sum of r (x - d - r / 2)."""
    half = x.dtype.type(0.5)
    value = x.dtype.type(0)
    for j in range(x.size):
        e = x[j] - d[j]
        e = x.dtype.type(0) if x[j] != x[j] else e
        r = e if e < lam[j] else lam[j]
        d[j] = r
        value += r * (e - half * r)
    return value


@piece
def _outlying(x, d, lam):
    """The sum that `_leave` gives."""
    half = x.dtype.type(0.5)
    value = x.dtype.type(0)
    for j in range(x.size):
        e = x[j] - d[j]
        e = x.dtype.type(0) if x[j] != x[j] else e
        r = e if e < lam[j] else lam[j]
        value += r * (e - half * r)
    return value
