"""Compiled loops: the passes over the data that the solvers consist of.

Every kernel walks over blocks of rows that stay in the cache: the low-rank part of a block comes from BLAS, the
elementwise work and the sums are fused into one loop, and the product with a basis follows while the block is warm.
A missing entry is NaN in ``X``: its residual is 0, so it pulls at nothing and the cleaned matrix holds its imputation.
Sums may be reordered (they are vectorised), nothing else is relaxed. All kernels release the GIL, write only to their
named outputs, and are compiled on first use and cached on disk.
"""

import logging
from functools import wraps
from typing import Any

import numpy as np
from numba import njit

__all__ = ["alternation_pass", "clipped_norm", "huber_sums", "huber_sweep", "multiplier_sweep", "newton_projection"]

_BLOCK = 64
_compile = njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
_log = logging.getLogger(__name__)


def _announced(kernel: Any) -> Any:
    """Say in the log that a kernel compiles (or loads from its cache) for new argument types."""

    @wraps(kernel.py_func)
    def call(*arguments: Any) -> Any:
        if not kernel.signatures:
            _log.info("Compiling %s; the first call takes some seconds, later ones load it.", kernel.py_func.__name__)
        return kernel(*arguments)

    return call


@_compile
def _clip(x, bound):  # type: ignore[no-untyped-def]
    below = x if x < bound else bound
    return below if below > -bound else -bound


@_announced
@_compile
def huber_sweep(X, left, right, previous_left, previous_right, momentum, lam, cleaned, basis, product):  # type: ignore[no-untyped-def]
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
                s = _clip(r, lam[b])
                row += s * (r - half * s)
                y = d[b] + momentum * (d[b] - e[b])
                r = x[b] - y
                r = X.dtype.type(0) if missing else r
                c[b] = y + _clip(r, lam[b])
            value += row
        np.dot(cleaned[i:j], basis, product[i:j])
    return value


@_announced
@_compile
def huber_sums(X, left, right, lam, residual):  # type: ignore[no-untyped-def]
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
                s = _clip(r, lam[b])
                out[b] = s
                row_value += s * (r - half * s)
                row_inner += known * s
                row_square += s * s
            value += row_value
            inner += row_inner
            square += row_square
    return value, inner, square


@_announced
@_compile
def multiplier_sweep(X, left, right, multiplier, cleaned, mu, next_mu, reach, shrink, lam, basis, product):  # type: ignore[no-untyped-def]
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
                new = gain * _clip(w, reach * lam[b])
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


@_announced
@_compile
def clipped_norm(X, left, right, multiplier, mu, reach, lam):  # type: ignore[no-untyped-def]
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
                s = _clip(w, reach * lam[b])
                row_square += s * s
                row_beyond += lam[b] * lam[b] if s != w else X.dtype.type(0)
            square += row_square
            beyond += row_beyond
    norm = np.sqrt(square)
    return norm, (reach * beyond / norm if norm > 0 else 0.0)


@_compile
def _huber_row(x, d, scale, lam, residual, inlier):  # type: ignore[no-untyped-def]
    """Clipped residual and inlier flags of a row; sums huber(x - d), <x, r>, <r, r>, |x - d|."""
    half = x.dtype.type(0.5)
    value = inner = square = size = x.dtype.type(0)
    for j in range(x.size):
        missing = x[j] != x[j]
        e = x[j] - d[j]
        e = x.dtype.type(0) if missing else e
        known = x.dtype.type(0) if missing else x[j]
        r = _clip(e, scale * lam[j])
        residual[j] = r
        inlier[j] = (r == e) & (not missing)
        value += r * (e - half * r)
        inner += known * r
        square += r * r
        size += abs(e)
    return value, inner, square, size


@_compile
def _follow_inliers(hessian, lam_star, counted, inlier, chosen, atoms, work):  # type: ignore[no-untyped-def]
    """Bring lam_star I + sum of u_i u_i' over the inliers up to date, from the features that changed sides or anew."""
    places, rows, signed, square = work
    m, q = atoms.shape
    changed = inside = np.int32(0)
    for j in range(m):
        chosen[j] = inlier[j] ^ counted[j]
        changed += np.int32(chosen[j])
        inside += np.int32(inlier[j])
    anew = inside <= changed
    if anew:
        chosen[:] = inlier
        hessian[:] = 0
        for a in range(q):
            hessian[a, a] = lam_star
    count = 0
    for j in range(m):  # without a branch, which nobody could predict
        places[count] = j
        count += chosen[j]
    for k in range(count):
        j = places[k]
        sign = 1.0 if inlier[j] else -1.0
        for a in range(q):
            rows[k, a] = atoms[j, a]
            signed[k, a] = sign * atoms[j, a]
    np.dot(signed[:count].T, rows[:count], square)
    for a in range(q):
        for b in range(q):
            hessian[a, b] += square[a, b]
    counted[:] = inlier


@_compile
def _solve_positive(A, rhs, factor, x):  # type: ignore[no-untyped-def]
    """Solve A x = rhs by Cholesky, A given by its lower triangle."""
    q = rhs.size
    for a in range(q):
        for b in range(a + 1):
            t = A[a, b]
            for c in range(b):
                t -= factor[a, c] * factor[b, c]
            if a == b:
                factor[a, a] = np.sqrt(t) if t > 0 else np.inf
            else:
                factor[a, b] = t / factor[b, b]
    for a in range(q):
        t = rhs[a]
        for c in range(a):
            t -= factor[a, c] * x[c]
        x[a] = t / factor[a, a]
    for a in range(q - 1, -1, -1):
        t = x[a]
        for c in range(a + 1, q):
            t -= factor[c, a] * x[c]
        x[a] = t / factor[a, a]


@_compile
def _sample_gap(code, image, lam_star, inner, square):  # type: ignore[no-untyped-def]
    """Absolute gap of (5) at a code s, and its cost of noise and code, from U'r, <x, r> and ||r||^2.

    With r = clip(x - Us, -lam, lam) as the dual point the gap is ||U'r - lam_star s||^2 / (2 lam_star), free of
    cancellation however large the outliers are; the best multiple alpha r, alpha in [0, 1], may improve on it.
    """
    slope = size = length = 0.0
    for a in range(code.size):
        slope += (image[a] - lam_star * code[a]) ** 2
        size += image[a] * image[a]
        length += code[a] * code[a]
    curvature = square + size / lam_star
    alpha = min(max(inner / curvature, 0.0), 1.0) if curvature > 0 else 1.0
    gain = (1 - alpha) * (0.5 * (1 + alpha) * curvature - inner)
    return max(slope / (2 * lam_star) - gain, 0.0), 0.5 * (square + lam_star * length)


@_announced
@_compile
def alternation_pass(X, atoms, components, inverse, lam_star, lam, codes, next_codes, gap):  # type: ignore[no-untyped-def]
    """One pass of Algorithm 1 on (5) for every row, and the relative gap of the codes it starts from.

    With r = clip(x - Us, -lam, lam) and x - o = Us + r::

        next code = (U'U + lam_star)^-1 U' (x - o) = s + inverse (U'r - lam_star s)

    Cost: 4 m q flops per row.
    """
    n, m = X.shape
    q = atoms.shape[1]
    group = 8
    one = X.dtype.type(1)
    low_rank = np.empty((group, m), X.dtype)
    residual = np.empty((group, m), X.dtype)
    image = np.empty((group, q), X.dtype)
    inlier = np.empty(m, np.uint8)
    value, inner, square, rhs = np.empty(group), np.empty(group), np.empty(group), np.empty(q)
    for i in range(0, n, group):
        busy = min(group, n - i)
        np.dot(codes[i : i + busy], components, low_rank[:busy])
        for k in range(busy):
            value[k], inner[k], square[k], _ = _huber_row(X[i + k], low_rank[k], one, lam, residual[k], inlier)
        np.dot(residual[:busy], atoms, image[:busy])
        for k in range(busy):
            code = codes[i + k]
            distance, inside = _sample_gap(code, image[k], lam_star, inner[k], square[k])
            primal = value[k] + inside - 0.5 * square[k]
            gap[i + k] = distance / primal if primal > 0 else 0.0
            for a in range(q):
                rhs[a] = image[k, a] - lam_star * code[a]
            for a in range(q):
                move = 0.0
                for b in range(q):
                    move += inverse[a, b] * rhs[b]
                next_codes[i + k, a] = code[a] + move


@_announced
@_compile
def newton_projection(X, atoms, components, lam_star, lam, codes, gap, cold, tol, max_steps):  # type: ignore[no-untyped-def]
    """Solve (5) for every row by semismooth Newton; ``codes`` in and out, relative ``gap`` of each row out.

    A step solves, with I the inliers |x - Us| <= lam of the row::

        (U_I' U_I + lam_star) ds = U' clip(x - Us, -lam, lam) - lam_star s

    and is halved while the cost rises. A cold row starts from the ridge solution and follows lam down to its value,
    since from afar hardly a feature is an inlier; a warm row starts at its code. A row is done when its gap is at most
    ``tol`` of what noise and code cost: large outliers, which only add a constant, do not end it early. Rows share the
    products with U in small groups; a finished row leaves its place to the next.

    Cost of a step: 4 m q flops, and q^2 for each feature that changed sides.
    """
    n, m = X.shape
    q = atoms.shape[1]
    group = 8
    widest = X.dtype.type(1e30)
    tolerated = 1 + 8 * (1e-7 if X.itemsize == 4 else 1e-16)
    all_in = np.dot(components.astype(np.float64), atoms.astype(np.float64))
    for a in range(q):
        all_in[a, a] += lam_star
    mean_lam = lam.mean()
    low_rank = np.empty((group, m), X.dtype)
    residual = np.empty((group, m), X.dtype)
    image = np.empty((group, q), X.dtype)
    code = np.empty((group, q), X.dtype)
    counted = np.empty((group, m), np.uint8)
    inlier, chosen = np.empty(m, np.uint8), np.empty(m, np.uint8)
    work = np.empty(m + 1, np.int32), np.empty((m, q)), np.empty((m, q)), np.empty((q, q))
    hessian = np.empty((group, q, q))
    start, direction, length = np.empty((group, q)), np.empty((group, q)), np.empty(group)
    best, best_gap = np.empty(group), np.empty(group)
    widening = np.empty(group)  # of the threshold: infinite at a cold start, 1 at the end
    steps, row = np.empty(group, np.int64), np.empty(group, np.int64)
    factor, x, rhs = np.empty((q, q)), np.empty(q), np.empty(q)
    value, inner, square = np.empty(group), np.empty(group), np.empty(group)
    busy = fetched = 0
    while True:
        while busy < group and fetched < n:
            row[busy], steps[busy], length[busy], best[busy] = fetched, 0, 1.0, np.inf
            code[busy], counted[busy], hessian[busy] = codes[fetched], 1, all_in
            start[busy], direction[busy] = codes[fetched], 0.0
            widening[busy] = np.inf if cold else 1.0
            busy += 1
            fetched += 1
        if busy == 0:
            return
        np.dot(code[:busy], components, low_rank[:busy])
        for k in range(busy):
            i = row[k]
            wide = widest if widening[k] == np.inf else X.dtype.type(widening[k])
            value[k], inner[k], square[k], size = _huber_row(X[i], low_rank[k], wide, lam, residual[k], inlier)
            if widening[k] == np.inf and steps[k] == 1:
                widening[k] = min(max(1.0, 2 * size / (m * mean_lam)), 1e20)
                wide = X.dtype.type(widening[k])
                value[k], inner[k], square[k], size = _huber_row(X[i], low_rank[k], wide, lam, residual[k], inlier)
            _follow_inliers(hessian[k], lam_star, counted[k], inlier, chosen, atoms, work)
        np.dot(residual[:busy], atoms, image[:busy])
        kept = 0
        for k in range(busy):
            i = row[k]
            final = widening[k] == 1.0
            distance, inside = _sample_gap(code[k], image[k], lam_star, inner[k], square[k])
            primal = value[k] + inside - 0.5 * square[k]
            worse = final and primal > tolerated * best[k]
            if final and (distance <= tol * inside or length[k] < 1e-9 or (steps[k] >= max_steps and not worse)):
                if worse:
                    code[k] = start[k]
                codes[i] = code[k]
                gap[i] = best_gap[k] if worse else distance / primal if primal > 0 else 0.0
                continue
            if worse:
                length[k] *= 0.5
            elif not final and steps[k] >= max_steps:
                widening[k] = 1.0
            else:
                start[k] = code[k]
                for a in range(q):
                    rhs[a] = image[k, a] - lam_star * start[k, a]
                _solve_positive(hessian[k], rhs, factor, x)
                direction[k], length[k] = x, 1.0
                if final:
                    best[k], best_gap[k] = primal, distance / primal if primal > 0 else 0.0
                if widening[k] < np.inf:
                    widening[k] = max(1.0, widening[k] / 8)
                steps[k] += 1
            for a in range(q):
                code[k, a] = start[k, a] + length[k] * direction[k, a]
            if kept < k:
                row[kept], steps[kept], length[kept] = row[k], steps[k], length[k]
                best[kept], best_gap[kept], widening[kept] = best[k], best_gap[k], widening[k]
                code[kept], counted[kept], hessian[kept] = code[k], counted[k], hessian[k]
                start[kept], direction[kept] = start[k], direction[k]
            kept += 1
        busy = kept
