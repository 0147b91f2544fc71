"""Robust projection (5) of samples, each on its own."""

import numpy as np

from ._compile import announced, clip, compiled


@compiled
def _huber_row(x, d, scale, lam, residual, inlier):  # type: ignore[no-untyped-def]
    """Clipped residual and inlier flags of a row; sums huber(x - d), <x, r>, <r, r>, |x - d|."""
    half = x.dtype.type(0.5)
    value = inner = square = size = x.dtype.type(0)
    for j in range(x.size):
        missing = x[j] != x[j]
        e = x[j] - d[j]
        e = x.dtype.type(0) if missing else e
        known = x.dtype.type(0) if missing else x[j]
        r = clip(e, scale * lam[j])
        residual[j] = r
        inlier[j] = (r == e) & (not missing)
        value += r * (e - half * r)
        inner += known * r
        square += r * r
        size += abs(e)
    return value, inner, square, size


@compiled
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


@compiled
def _guess_hessian(guess, all_in, lam_star, inlier):  # type: ignore[no-untyped-def]
    """What the Hessian would be if the inliers were a fair sample of the features: their share of U'U."""
    inside = np.int64(0)
    for j in range(inlier.size):
        inside += inlier[j]
    share = inside / inlier.size
    guess[:] = share * all_in
    for a in range(guess.shape[0]):
        guess[a, a] += (1 - share) * lam_star


@compiled
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


@compiled
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


@announced
@compiled
def alternation_pass(X, atoms, components, inverse, lam_star, lam, codes, next_codes, gap):  # type: ignore[no-untyped-def]
    """One pass of Algorithm 1 on (5) for every row, and the relative gap of the codes it starts from.

    With r = clip(x - Us, -lam, lam) and x - o = Us + r::

        next code = (U'U + lam_star)^-1 U' (x - o) = s + inverse (U'r - lam_star s)

    Cost: 4 m q flops per row.
    """
    n, m = X.shape
    q = atoms.shape[1]
    group = 16
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


@announced
@compiled
def newton_projection(X, atoms, components, lam_star, lam, codes, gap, cold, tol, max_steps):  # type: ignore[no-untyped-def]
    """Solve (5) for every row by semismooth Newton; ``codes`` in and out, relative ``gap`` of each row out.

    A step solves, with I the inliers |x - Us| <= lam of the row::

        (U_I' U_I + lam_star) ds = U' clip(x - Us, -lam, lam) - lam_star s

    and is halved while the cost rises. A cold row starts from the ridge solution and follows lam down to its value,
    since from afar hardly a feature is an inlier; a warm row starts at its code. A row is done when its gap is at most
    ``tol`` of what noise and code cost: large outliers, which only add a constant, do not end it early. Rows share the
    products with U in small groups; a finished row leaves its place to the next. A warm row goes by a guess of its
    Hessian for as long as the gap falls to a tenth with each step: the Hessian itself is the dearest part.

    Cost of a step: 4 m q flops, and q^2 for each feature that changed sides.
    """
    n, m = X.shape
    q = atoms.shape[1]
    group = 16
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
    inlier, chosen = np.empty((group, m), np.uint8), np.empty(m, np.uint8)
    work = np.empty(m + 1, np.int32), np.empty((m, q)), np.empty((m, q)), np.empty((q, q))
    hessian, guess = np.empty((group, q, q)), np.empty((q, q))
    start, direction, length = np.empty((group, q)), np.empty((group, q)), np.empty(group)
    best, best_gap = np.empty(group), np.empty(group)
    promise = np.empty(group)  # the gap up to which a guessed Hessian is good enough; -1 if it was not
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
            widening[busy], promise[busy] = (np.inf, -1.0) if cold else (1.0, np.inf)
            busy += 1
            fetched += 1
        if busy == 0:
            return
        np.dot(code[:busy], components, low_rank[:busy])
        for k in range(busy):
            i = row[k]
            wide = widest if widening[k] == np.inf else X.dtype.type(widening[k])
            value[k], inner[k], square[k], size = _huber_row(X[i], low_rank[k], wide, lam, residual[k], inlier[k])
            if widening[k] == np.inf and steps[k] == 1:
                widening[k] = min(max(1.0, 2 * size / (m * mean_lam)), 1e20)
                wide = X.dtype.type(widening[k])
                value[k], inner[k], square[k], size = _huber_row(X[i], low_rank[k], wide, lam, residual[k], inlier[k])
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
                promise[k] = -1.0
            elif not final and steps[k] >= max_steps:
                widening[k] = 1.0
            else:
                start[k] = code[k]
                for a in range(q):
                    rhs[a] = image[k, a] - lam_star * start[k, a]
                if distance <= promise[k]:
                    promise[k] = 0.1 * distance
                    _guess_hessian(guess, all_in, lam_star, inlier[k])
                    _solve_positive(guess, rhs, factor, x)
                else:
                    promise[k] = -1.0
                    _follow_inliers(hessian[k], lam_star, counted[k], inlier[k], chosen, atoms, work)
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
                best[kept], best_gap[kept], widening[kept], promise[kept] = (
                    best[k],
                    best_gap[k],
                    widening[k],
                    promise[k],
                )
                code[kept], counted[kept], hessian[kept] = code[k], counted[k], hessian[k]
                start[kept], direction[kept] = start[k], direction[k]
            kept += 1
        busy = kept
