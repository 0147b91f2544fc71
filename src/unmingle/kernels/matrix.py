"""Passes over a whole matrix: problems (1), (2) and (4)."""

import numpy as np

from .compile import announced, compiled
from .small import clip

_BLOCK = 64
"""Rows that stay in the cache while they are worked on."""


@announced
@compiled
def huber_sweep(X, left, right, previous_left, previous_right, momentum, lam, cleaned, basis, product):
    """One pass of (2): clean X at an extrapolated point, multiply with a basis, value the point itself.

    With D = left right, E = previous_left previous_right and Y = D + momentum (D - E)::

        cleaned = Y + clip(X - Y, -lam, lam),   product = cleaned basis

    Cost: 2 n m (rank + previous rank + columns of basis) flops.

    Returns
    -------
    float
        Sum of huber_lam(X - D).
    """
    n, m = X.shape
    half = X.dtype.type(0.5)
    current = np.empty((_BLOCK, m), X.dtype)
    previous = np.zeros((_BLOCK, m), X.dtype)
    value = 0.0
    for i in range(0, n, _BLOCK):
        j = min(i + _BLOCK, n)
        np.dot(left[i:j], right, current[: j - i])
        if previous_left.shape[1]:
            np.dot(previous_left[i:j], previous_right, previous[: j - i])
        for a in range(j - i):
            x, c, d, e = X[i + a], cleaned[i + a], current[a], previous[a]
            row = X.dtype.type(0)
            for b in range(m):
                missing = x[b] != x[b]
                r = x[b] - d[b]
                r = X.dtype.type(0) if missing else r
                s = clip(r, lam[b])
                row += s * (r - half * s)
                y = d[b] + momentum * (d[b] - e[b])
                r = x[b] - y
                r = X.dtype.type(0) if missing else r
                c[b] = y + clip(r, lam[b])
            value += row
        np.dot(cleaned[i:j], basis, product[i:j])
    return value


@announced
@compiled
def huber_sums(X, left, right, lam, residual):
    """Residual R = clip(X - left right, -lam, lam) and the sums that value a point of (2) and its dual.

    Returns
    -------
    tuple of float
        Sum of huber_lam(X - L), <X, R>, <R, R>.
    """
    n, m = X.shape
    half = X.dtype.type(0.5)
    block = np.empty((_BLOCK, m), X.dtype)
    value = inner = square = 0.0
    for i in range(0, n, _BLOCK):
        j = min(i + _BLOCK, n)
        np.dot(left[i:j], right, block[: j - i])
        for a in range(j - i):
            x, d, out = X[i + a], block[a], residual[i + a]
            row_value = row_inner = row_square = X.dtype.type(0)
            for b in range(m):
                missing = x[b] != x[b]
                r = x[b] - d[b]
                r = X.dtype.type(0) if missing else r
                known = X.dtype.type(0) if missing else x[b]
                s = clip(r, lam[b])
                out[b] = s
                row_value += s * (r - half * s)
                row_inner += known * s
                row_square += s * s
            value += row_value
            inner += row_inner
            square += row_square
    return value, inner, square


@announced
@compiled
def multiplier_sweep(X, left, right, multiplier, cleaned, mu, next_mu, reach, shrink, lam, basis, product):
    """One pass of the augmented Lagrangian of (1), in place, after L = left right was thresholded.

    With W = X - L + multiplier / mu, the outliers are W - clip(W, -reach lam, reach lam), and::

        multiplier <- mu shrink clip(W, -reach lam, reach lam)
        cleaned    <- L + change of multiplier / mu + multiplier / next_mu,     product = cleaned basis

    Noiseless: reach = 1 / mu, shrink = 1. ``cleaned`` is X - O (less the noise) + multiplier / next_mu, what is
    thresholded next.

    Returns
    -------
    tuple of float
        Squared norms of the primal residual (change of multiplier / mu), of the change of X - cleaned that makes the
        dual residual, and of the multiplier.
    """
    n, m = X.shape
    block = np.empty((_BLOCK, m), X.dtype)
    inverse, next_inverse = X.dtype.type(1 / mu), X.dtype.type(1 / next_mu)
    gain = X.dtype.type(mu * shrink)
    primal = dual = size = 0.0
    for i in range(0, n, _BLOCK):
        j = min(i + _BLOCK, n)
        np.dot(left[i:j], right, block[: j - i])
        for a in range(j - i):
            x, d, y, c = X[i + a], block[a], multiplier[i + a], cleaned[i + a]
            row_primal = row_dual = row_size = X.dtype.type(0)
            for b in range(m):
                w = x[b] - d[b] + y[b] * inverse
                w = X.dtype.type(0) if x[b] != x[b] else w
                new = gain * clip(w, reach * lam[b])
                z = (new - y[b]) * inverse
                clean = d[b] + z
                change = clean - (c[b] - y[b] * inverse)
                y[b] = new
                c[b] = clean + new * next_inverse
                row_primal += z * z
                row_dual += change * change
                row_size += new * new
            primal += row_primal
            dual += row_dual
            size += row_size
        np.dot(cleaned[i:j], basis, product[i:j])
    return primal, dual, size


@announced
@compiled
def clipped_norm(X, left, right, multiplier, mu, reach, lam):
    """Norm of clip(W, -reach lam, reach lam), W = X - left right + multiplier / mu, and its derivative in reach."""
    n, m = X.shape
    block = np.empty((_BLOCK, m), X.dtype)
    inverse = X.dtype.type(1 / mu)
    square = beyond = 0.0
    for i in range(0, n, _BLOCK):
        j = min(i + _BLOCK, n)
        np.dot(left[i:j], right, block[: j - i])
        for a in range(j - i):
            x, d, y = X[i + a], block[a], multiplier[i + a]
            row_square = row_beyond = X.dtype.type(0)
            for b in range(m):
                w = x[b] - d[b] + y[b] * inverse
                w = X.dtype.type(0) if x[b] != x[b] else w
                s = clip(w, reach * lam[b])
                row_square += s * s
                row_beyond += lam[b] * lam[b] if s != w else X.dtype.type(0)
            square += row_square
            beyond += row_beyond
    norm = np.sqrt(square)
    return norm, (reach * beyond / norm if norm > 0 else 0.0)


@announced
@compiled
def splitting_sweep(X, left, right, point, weight, rho, softness, relax, lam):
    """One pass of the splitting of (1) or (2), in place, after Z = left right was thresholded out of ``point``.

    With u = weight (point - Z), b = X - Z + u and the misfit e that is best for it, argmin h(e) + rho/2 (e - b)^2::

        point <- relax (X - e) + (1 - relax) Z + u

    h is Huber's function with curvature 1 / softness up to softness lam, then lam |.|; with softness 0 it is lam |.|.
    Where X is missing, e = b. The large entries of outliers cancel in X - e, and are never added up. Reads X and point,
    writes point; 2 n m r flops for Z.

    Returns
    -------
    tuple of float
        Sums of |X - e - Z|^2, how far the two copies of the low-rank part are apart; of |u|^2; of h(X - Z); and of what
        y = clip(rho u, -lam, lam) leaves between that cost and its bound: h(r) + softness/2 y^2 - r y with r = X - Z,
        nowhere negative, and Z (rho u - y).
    """
    n, m = X.shape
    number = X.dtype.type
    half = number(0.5)
    block = np.empty((_BLOCK, m), X.dtype)
    drop = number(1) / rho
    reach = softness + drop
    gain = softness / reach
    steep = half / softness if softness > 0 else number(0)
    apart = size = cost = gap = clipped = 0.0
    for i in range(0, n, _BLOCK):
        j = min(i + _BLOCK, n)
        np.dot(left[i:j], right, block[: j - i])
        for a in range(j - i):
            x, z, p = X[i + a], block[a], point[i + a]
            row_apart = row_size = row_cost = row_gap = row_clipped = number(0)
            for k in range(m):
                missing = x[k] != x[k]
                u = weight * (p[k] - z[k])
                r = number(0) if missing else x[k] - z[k]
                b = r + u
                d = r - gain * b if abs(b) <= reach * lam[k] else clip(b, drop * lam[k]) - u
                d = -u if missing else d
                p[k] = z[k] + relax * d + u
                push = rho * u
                y = number(0) if missing else clip(push, lam[k])
                length = abs(r)
                h = steep * r * r if length < softness * lam[k] else lam[k] * (length - half * softness * lam[k])
                h = number(0) if missing else h
                row_apart += d * d
                row_size += u * u
                row_cost += h
                row_gap += h + half * softness * y * y - r * y
                row_clipped += z[k] * (push - y)
            apart += row_apart
            size += row_size
            cost += row_cost
            gap += row_gap
            clipped += row_clipped
    return apart, size, cost, gap, clipped


@announced
@compiled
def multiplier_sums(X, left, right, point, weight, curvature, lam, multiplier):
    """Multiplier Y = clip(weight (point - left right), -lam, lam) of a splitting, and the sums that value it.

    ``curvature`` is 1 for Huber's function of (2), and 0 for lam |.| of (1).

    Returns
    -------
    tuple of float
        Sum of h(X - left right), <X, Y>, <Y, Y>.
    """
    n, m = X.shape
    half = X.dtype.type(0.5)
    block = np.empty((_BLOCK, m), X.dtype)
    value = inner = square = 0.0
    for i in range(0, n, _BLOCK):
        j = min(i + _BLOCK, n)
        np.dot(left[i:j], right, block[: j - i])
        for a in range(j - i):
            x, z, p, out = X[i + a], block[a], point[i + a], multiplier[i + a]
            row_value = row_inner = row_square = X.dtype.type(0)
            for b in range(m):
                missing = x[b] != x[b]
                r = X.dtype.type(0) if missing else x[b] - z[b]
                known = X.dtype.type(0) if missing else x[b]
                y = X.dtype.type(0) if missing else clip(weight * (p[b] - z[b]), lam[b])
                out[b] = y
                s = abs(clip(r, lam[b]))
                row_value += curvature * s * (abs(r) - half * s) + (X.dtype.type(1) - curvature) * lam[b] * abs(r)
                row_inner += known * y
                row_square += y * y
            value += row_value
            inner += row_inner
            square += row_square
    return value, inner, square
