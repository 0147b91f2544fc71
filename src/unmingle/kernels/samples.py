"""Robust projection (5) of samples, each on its own: what a code is worth, and Algorithm 1."""

import numpy as np

from .compile import announced, compiled, piece
from .small import clip

GROUP = 16
"""Rows that share the products with U."""


@piece
def clip_row(x, d, scale, lam, inlier):
    """Make d the r = clip(x - d, -scale lam, scale lam), flag inliers; sums huber(x - d), <x, r> and <r, r>."""
    half = x.dtype.type(0.5)
    value = inner = square = x.dtype.type(0)
    for j in range(x.size):
        missing = x[j] != x[j]
        e = x[j] - d[j]
        e = x.dtype.type(0) if missing else e
        known = x.dtype.type(0) if missing else x[j]
        r = clip(e, scale * lam[j])
        d[j] = r
        inlier[j] = (r == e) & (not missing)
        value += r * (e - half * r)
        inner += known * r
        square += r * r
    return value, inner, square


@piece
def sample_gap(code, image, lam_star, inner, square):
    """Absolute gap of (5) at a code s, and its cost of noise and code, from U'r, <x, r> and ||r||^2.

    With r = clip(x - Us, -lam, lam) as the dual point the gap is ||U'r - lam_star s||^2 / (2 lam_star), free of
    cancellation however large the outliers are; the best multiple alpha r, alpha in [0, 1], may improve on it.
    """
    slope = size = length = 0.0
    for a in range(code.size):
        difference = image[a] - lam_star * code[a]
        slope += difference * difference
        size += image[a] * image[a]
        length += code[a] * code[a]
    curvature = square + size / lam_star
    alpha = min(max(inner / curvature, 0.0), 1.0) if curvature > 0 else 1.0
    gain = (1 - alpha) * (0.5 * (1 + alpha) * curvature - inner)
    return max(slope / (2 * lam_star) - gain, 0.0), 0.5 * (square + lam_star * length)


@announced
@compiled
def alternation_pass(X, atoms, components, inverse, lam_star, lam, codes, next_codes, gap):
    """One pass of Algorithm 1 on (5) for every row, and the relative gap of the codes it starts from.

    With r = clip(x - Us, -lam, lam) and x - o = Us + r::

        next code = (U'U + lam_star)^-1 U' (x - o) = s + inverse (U'r - lam_star s)

    Cost: 4 m q flops per row.
    """
    n, m = X.shape
    q = atoms.shape[1]
    one = X.dtype.type(1)
    residual = np.empty((GROUP, m), X.dtype)
    image = np.empty((GROUP, q), X.dtype)
    inlier = np.empty(m, np.uint8)
    value, inner, square, rhs = np.empty(GROUP), np.empty(GROUP), np.empty(GROUP), np.empty(q)
    for i in range(0, n, GROUP):
        busy = min(GROUP, n - i)
        np.dot(codes[i : i + busy], components, residual[:busy])
        for k in range(busy):
            value[k], inner[k], square[k] = clip_row(X[i + k], residual[k], one, lam, inlier)
        np.dot(residual[:busy], atoms, image[:busy])
        for k in range(busy):
            code = codes[i + k]
            distance, inside = sample_gap(code, image[k], lam_star, inner[k], square[k])
            primal = value[k] + inside - 0.5 * square[k]
            gap[i + k] = distance / primal if primal > 0 else 0.0
            for a in range(q):
                rhs[a] = image[k, a] - lam_star * code[a]
            for a in range(q):
                move = 0.0
                for b in range(q):
                    move += inverse[a, b] * rhs[b]
                next_codes[i + k, a] = code[a] + move
