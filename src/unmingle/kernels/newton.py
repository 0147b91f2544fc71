"""Robust projection (5) of samples, exactly: semismooth Newton."""

import numpy as np

from .compile import announced, compiled, merged, piece
from .samples import GROUP, clip_row, sample_gap
from .small import solve_positive

_ROW = np.dtype(
    [
        ("number", np.int64),  # of the row, in X
        ("steps", np.int64),
        ("length", np.float64),  # of the last step: 1, or a half, a quarter, ... of it
        ("value", np.float64),  # huber(x - Us), <x, r> and <r, r>
        ("inner", np.float64),
        ("square", np.float64),
        ("best", np.float64),  # the cost at the start of the last step, and its relative gap
        ("best_gap", np.float64),
        ("widening", np.float64),  # of the threshold: infinite at a cold start, 1 at the end
        ("promise", np.float64),  # the gap up to which a guessed Hessian is good enough; -1 if it was not
    ]
)
"""What is known of a row that is being solved."""
_SHORTEST = 1e-9
"""A step that is halved to less than this share of its length is the last."""
_WIDEST = 1e30
"""The threshold of a cold row, which leaves no feature out, in units of the penalties."""


@announced
@compiled
def newton_projection(X, atoms, components, all_in, lam_star, lam, codes, gap, cold, tol, max_steps):
    """Solve (5) for every row by semismooth Newton; ``codes`` in and out, relative ``gap`` of each row out.

    A step solves, with I the inliers |x - Us| <= lam of the row::

        (U_I' U_I + lam_star) ds = U' clip(x - Us, -lam, lam) - lam_star s

    and is halved while the cost rises. A cold row starts from the ridge solution and follows lam down to its value,
    since from afar hardly a feature is an inlier; a warm row starts at its code. A row is done when its gap is at most
    ``tol`` of what noise and code cost: large outliers, which only add a constant, do not end it early. Rows share the
    products with U in small groups; a finished row leaves its place to the next. A warm row goes by a guess of its
    Hessian for as long as the gap falls to a tenth with each step: the Hessian itself costs most.

    ``all_in`` is U'U + lam_star I. Cost of a step: 4 m q flops, and q^2 for each feature that changed sides.
    """
    n, m = X.shape
    q = atoms.shape[1]
    tolerated = 1 + 8 * (1e-7 if X.itemsize == 4 else 1e-16)
    residual, image, code = np.empty((GROUP, m), X.dtype), np.empty((GROUP, q), X.dtype), np.empty((GROUP, q), X.dtype)
    counted, inlier, places = np.empty((GROUP, m), np.uint8), np.empty((GROUP, m), np.uint8), np.empty(m + 1, np.int32)
    hessian, start, direction = np.empty((GROUP, q, q)), np.empty((GROUP, q)), np.empty((GROUP, q))
    plain, signed, square = np.empty((m, q)), np.empty((m, q)), np.empty((q, q))
    rows, slots = np.empty(GROUP, _ROW), np.empty(GROUP, np.int64)  # a row stays in its slot while it moves up
    for k in range(GROUP):
        slots[k] = k
    busy = fetched = 0
    while busy or fetched < n:
        while busy < GROUP and fetched < n:
            s = slots[busy]
            _fetch(rows[s], fetched, codes, cold, code[busy], counted[s], hessian[s], all_in)
            busy, fetched = busy + 1, fetched + 1
        np.dot(code[:busy], components, residual[:busy])
        for k in range(busy):
            _measure(rows[slots[k]], X, residual[k], lam, inlier[k])
        np.dot(residual[:busy], atoms, image[:busy])
        kept = 0
        for k in range(busy):
            s = slots[k]
            row = rows[s]
            distance, inside = sample_gap(code[k], image[k], lam_star, row.inner, row.square)
            primal = row.value + inside - 0.5 * row.square
            worse = row.widening == 1.0 and primal > tolerated * row.best
            if _is_done(row, worse, distance <= tol * inside, max_steps):
                _finish(row, worse, distance, primal, start[s], code[k], codes, gap)
                continue
            if worse:
                row.length, row.promise = 0.5 * row.length, -1.0
            elif row.widening != 1.0 and row.steps >= max_steps:
                row.widening = 1.0
            else:
                _begin_step(row, distance, primal, lam_star, code[k], image[k], start[s], direction[s])
                if row.promise > 0:
                    guess_hessian(square, all_in, lam_star, inlier[k])
                else:
                    count, fresh = changed_sides(inlier[k], counted[s], places)
                    follow_inliers(hessian[s], lam_star, fresh, inlier[k], places, count, atoms, plain, signed, square)
                solve_positive(square, direction[s])
            for a in range(q):
                code[kept, a] = start[s, a] + row.length * direction[s, a]
            slots[k], slots[kept] = slots[kept], s
            kept += 1
        busy = kept


@merged
def _fetch(row, number, codes, cold, code, counted, hessian, all_in):
    """Begin with a row: at its code, with all features for inliers."""
    row.number, row.steps, row.length = number, 0, 1.0
    row.best, row.best_gap = np.inf, 0.0
    row.widening, row.promise = (np.inf, -1.0) if cold else (1.0, np.inf)
    for a in range(code.size):
        code[a] = codes[number, a]
        for b in range(code.size):
            hessian[a, b] = all_in[a, b]
    for j in range(counted.size):
        counted[j] = 1


@merged
def _measure(row, X, d, lam, inlier):
    """Make d the clipped residual of a row; after the first step of a cold one its threshold suits its size."""
    x = X[row.number]
    if row.widening == np.inf and row.steps == 1:
        size = bounds = 0.0
        for j in range(x.size):
            e = x[j] - d[j]
            size += abs(e) if e == e else 0.0
            bounds += lam[j]
        row.widening = min(max(1.0, 2 * size / bounds), 1e20)
    wide = x.dtype.type(_WIDEST if row.widening == np.inf else row.widening)
    row.value, row.inner, row.square = clip_row(x, d, wide, lam, inlier)


@piece
def _is_done(row, worse, good, max_steps):
    """Whether a row is as good as wanted, does not get better, or has had its steps."""
    last = row.steps >= max_steps and not worse
    return row.widening == 1.0 and (good or last or row.length < _SHORTEST)


@merged
def _finish(row, worse, distance, primal, start, code, codes, gap):
    """Put down the code of a row, the one before its last step if that was worse, and its gap."""
    for a in range(code.size):
        codes[row.number, a] = start[a] if worse else code[a]
    gap[row.number] = row.best_gap if worse else distance / primal if primal > 0 else 0.0


@merged
def _begin_step(row, distance, primal, lam_star, code, image, start, direction):
    """Start a step at the code, from its slope U'r - lam_star s; the promise stays positive while guesses keep it."""
    for a in range(code.size):
        start[a] = code[a]
        direction[a] = image[a] - lam_star * start[a]
    row.promise = 0.1 * distance if distance <= row.promise else -1.0
    row.steps += 1
    row.length = 1.0
    if row.widening == 1.0:
        row.best = primal
        row.best_gap = distance / primal if primal > 0 else 0.0
    elif row.widening < np.inf:
        row.widening = max(1.0, row.widening / 8)


@piece
def guess_hessian(guess, all_in, lam_star, inlier):
    """What the Hessian would be if the inliers were a fair sample of the features: their share of U'U."""
    inside = np.int64(0)
    for j in range(inlier.size):
        inside += inlier[j]
    share = inside / inlier.size
    for a in range(guess.shape[0]):
        for b in range(a + 1):
            guess[a, b] = share * all_in[a, b]
        guess[a, a] += (1 - share) * lam_star


@piece
def changed_sides(inlier, counted, places):
    """The features that changed sides since they were counted, or all inliers if they are fewer; and if they are."""
    changed = inside = np.int32(0)
    for j in range(inlier.size):
        changed += np.int32(inlier[j] ^ counted[j])
        inside += np.int32(inlier[j])
    fresh = inside <= changed
    before = np.uint8(0) if fresh else np.uint8(1)
    count = 0
    for j in range(inlier.size):  # without a branch, which nobody could predict
        places[count] = j
        count += inlier[j] ^ (counted[j] & before)
        counted[j] = inlier[j]
    return count, fresh


@piece
def follow_inliers(hessian, lam_star, fresh, inlier, places, count, atoms, plain, signed, square):
    """Bring lam_star I + sum of u_i u_i' over the inliers up to date, from some features; ``square`` gets a copy."""
    q = hessian.shape[0]
    for k in range(count):
        j = places[k]
        sign = 1.0 if inlier[j] else -1.0
        for a in range(q):
            plain[k, a] = atoms[j, a]
            signed[k, a] = sign * atoms[j, a]
    np.dot(signed[:count].T, plain[:count], square)
    for a in range(q):
        for b in range(q):
            square[a, b] += 0.0 if fresh else hessian[a, b]
        if fresh:
            square[a, a] += lam_star
        for b in range(q):
            hessian[a, b] = square[a, b]
