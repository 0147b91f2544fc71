"""Robust projection (5) with nonnegative codes, exactly: semismooth Newton whose steps are nonnegative regressions."""

import numpy as np

from .compile import announced, compiled, merged, piece
from .newton import changed_sides, follow_inliers, guess_hessian
from .samples import GROUP
from .small import solve_positive

_ROW = np.dtype(
    [
        ("number", np.int64),  # of the row, in X
        ("steps", np.int64),
        ("length", np.float64),  # of the last step: 1 or less
        ("fall", np.float64),  # of the cost at the start of the last step, per length
        ("value", np.float64),  # h(x - Us), <x, r> and <r, r>
        ("inner", np.float64),
        ("square", np.float64),
        ("best", np.float64),  # the cost at the start of the last step, and its gap, absolute
        ("best_gap", np.float64),
        ("widening", np.float64),  # of the threshold: infinite at a cold start, 1 at the end
        ("promise", np.float64),  # the gap up to which a guessed Hessian is good enough; -1 if it was not
    ]
)
"""What is known of a row that is being solved."""
_SHORTEST = 1e-15
"""A step that is shortened to less than this share of its length is the last."""
_WIDEST = 1e30
"""The threshold of a cold row, which leaves no feature out, in units of the penalties."""
_ROUNDING = 1e-14
"""The rounding of sums, as a share of the sizes that are added."""
_STILL = 1e-10
"""A step that promises no more than this share of the cost is one of rounding."""
_SPARE = 3
"""Exchanges of all atoms at once that may fail to bring more of them to their sides."""
_EXCHANGES = 20
"""Exchanges for each atom, at most."""


@announced
@compiled
def nonnegative_projection(X, atoms, components, all_in, lam_star, lam, below, codes, gap, cold, tol, max_steps):
    """Solve (5) with codes s >= 0 for every row; ``codes`` in and out, relative ``gap`` of each row out.

    With r = clip(x - Us, -below, lam), where ``below`` is infinite for outliers >= 0 and lam for signed ones, a step
    goes to the least of the quadratic that has the slope and the curvature of the cost there, I the inliers::

        min over z >= 0 of 1/2 (z - s)' (U_I' U_I + lam_star) (z - s) - (z - s)' (U'r - lam_star s)

    and is shortened while the cost rises. The quadratic is solved exactly by exchanging atoms between those at zero and
    those that are free. All else is as in `newton_projection`.

    ``all_in`` is U'U + lam_star I. Cost of a step: 4 m q flops, q^2 for each feature that changed sides, and f^3 / 3
    for f free atoms, a few times.
    """
    n, m = X.shape
    q = atoms.shape[1]
    residual, image, code = np.empty((GROUP, m), X.dtype), np.empty((GROUP, q), X.dtype), np.empty((GROUP, q), X.dtype)
    counted, inlier = np.empty((GROUP, m), np.uint8), np.empty((GROUP, m), np.uint8)
    places = np.empty(max(m, q) + 1, np.int32)
    hessian, start, direction = np.empty((GROUP, q, q)), np.empty((GROUP, q)), np.empty((GROUP, q))
    plain, signed, square = np.empty((m, q)), np.empty((m, q)), np.empty((q, q))
    free, factor, slope = np.empty((GROUP, q), np.uint8), np.empty((q, q)), np.empty(q)
    rows, slots = np.empty(GROUP, _ROW), np.empty(GROUP, np.int64)  # a row stays in its slot while it moves up
    for k in range(GROUP):
        slots[k] = k
    busy = fetched = 0
    while busy or fetched < n:
        while busy < GROUP and fetched < n:
            s = slots[busy]
            _fetch(rows[s], fetched, codes, cold, code[busy], free[s], counted[s], hessian[s], all_in)
            busy, fetched = busy + 1, fetched + 1
        np.dot(code[:busy], components, residual[:busy])
        for k in range(busy):
            _measure(rows[slots[k]], X, residual[k], lam, below, inlier[k])
        np.dot(residual[:busy], atoms, image[:busy])
        kept = 0
        for k in range(busy):
            s = slots[k]
            row = rows[s]
            distance, inside = nonnegative_gap(code[k], image[k], lam_star, row.inner, row.square)
            primal = row.value + inside - 0.5 * row.square
            rise = _slopes(code[k], image[k], lam_star, direction[s], slope)
            worse = _is_worse(row, rise, primal)
            if _is_done(row, worse, distance, inside, tol, max_steps):
                _finish(row, worse, distance, primal, start[s], code[k], codes, gap)
                continue
            if worse:
                row.length *= min(max(row.fall / (row.fall + rise), 0.1), 0.7)
                row.promise = -1.0
            elif row.widening != 1.0 and row.steps >= max_steps:
                row.widening, row.best = 1.0, np.inf
            else:
                _begin_step(row, distance, primal, code[k], start[s])
                if row.promise > 0:
                    guess_hessian(square, all_in, lam_star, inlier[k])
                    _mirror(square)
                else:
                    count, fresh = changed_sides(inlier[k], counted[s], places)
                    follow_inliers(hessian[s], lam_star, fresh, inlier[k], places, count, atoms, plain, signed, square)
                regress(square, slope, start[s], free[s], factor, places, direction[s])
                row.fall = _along(slope, direction[s])
            for a in range(q):
                code[kept, a] = start[s, a] + row.length * direction[s, a]
            slots[k], slots[kept] = slots[kept], s
            kept += 1
        busy = kept


@merged
def _fetch(row, number, codes, cold, code, free, counted, hessian, all_in):
    """Begin with a row: at its code, with all features for inliers."""
    row.number, row.steps, row.length = number, 0, 1.0
    row.best, row.best_gap, row.fall = np.inf, np.inf, 0.0
    row.widening, row.promise = (np.inf, -1.0) if cold else (1.0, np.inf)
    for a in range(code.size):
        code[a] = codes[number, a]
        free[a] = cold or code[a] > 0
        for b in range(code.size):
            hessian[a, b] = all_in[a, b]
    for j in range(counted.size):
        counted[j] = 1


@merged
def _measure(row, X, d, lam, below, inlier):
    """Make d the bounded residual of a row; after the first step of a cold one its threshold suits its size."""
    x = X[row.number]
    if row.widening == np.inf and row.steps == 1:
        size = bounds = 0.0
        for j in range(x.size):
            e = x[j] - d[j]
            size += abs(e) if e == e else 0.0
            bounds += lam[j]
        row.widening = min(max(1.0, 2 * size / bounds), 1e20)
    wide = x.dtype.type(_WIDEST if row.widening == np.inf else row.widening)
    row.value, row.inner, row.square = bound_row(x, d, wide, lam, below, inlier)


@piece
def bound_row(x, d, scale, lam, below, inlier):
    """Make d the r = clip(x - d, -scale below, scale lam), flag inliers; sums h(x - d), <x, r> and <r, r>."""
    half = x.dtype.type(0.5)
    value = inner = square = x.dtype.type(0)
    for j in range(x.size):
        missing = x[j] != x[j]
        e = x[j] - d[j]
        e = x.dtype.type(0) if missing else e
        known = x.dtype.type(0) if missing else x[j]
        high, low = scale * lam[j], -scale * below[j]
        r = e if e < high else high
        r = r if r > low else low
        d[j] = r
        inlier[j] = (r == e) & (not missing)
        value += r * (e - half * r)
        inner += known * r
        square += r * r
    return value, inner, square


@piece
def nonnegative_gap(code, image, lam_star, inner, square):
    """Absolute gap of (5) at a code s >= 0, and its cost of noise and code, from U'r, <x, r> and ||r||^2.

    With r as the dual point the gap is ||(U'r)+ - lam_star s||^2 / (2 lam_star) + s' (U'r)-, as in `sample_gap`.
    """
    slope = size = length = slack = 0.0
    for a in range(code.size):
        up = max(float(image[a]), 0.0)
        slack += code[a] * (up - image[a])
        difference = up - lam_star * code[a]
        slope += difference * difference
        size += up * up
        length += code[a] * code[a]
    curvature = square + size / lam_star
    alpha = min(max(inner / curvature, 0.0), 1.0) if curvature > 0 else 1.0
    gain = (1 - alpha) * (0.5 * (1 + alpha) * curvature - inner)
    return max(slope / (2 * lam_star) + slack - gain, 0.0), 0.5 * (square + lam_star * length)


@piece
def _slopes(code, image, lam_star, direction, slope):
    """Make ``slope`` the U'r - lam_star s, down which the cost falls; gives how the cost rises along the last step."""
    rise = 0.0
    for a in range(code.size):
        slope[a] = image[a] - lam_star * code[a]
        rise -= slope[a] * direction[a]
    return rise


@piece
def _along(slope, direction):
    total = 0.0
    for a in range(slope.size):
        total += slope[a] * direction[a]
    return total


@piece
def _is_worse(row, rise, primal):
    """Whether a step went too far: the cost rises at its end, and is higher there or rises as fast as it fell.

    Where it still falls at the end, it has fallen all the way, since it is convex, however rounding may blur it.
    """
    went = row.widening == 1.0 and row.best < np.inf
    return went and rise > 0 and (primal > row.best or rise > 0.9 * row.fall)


@piece
def _is_done(row, worse, distance, inside, tol, max_steps):
    """Whether a row is as good as wanted, does not get better, or has had its steps."""
    last = row.steps >= max_steps and not worse
    stuck = row.fall <= _STILL * inside and (worse or distance > 0.5 * row.best_gap)
    ended = distance <= tol * inside or last or (row.best < np.inf and stuck) or row.length < _SHORTEST
    return row.widening == 1.0 and ended


@merged
def _finish(row, worse, distance, primal, start, code, codes, gap):
    """Put down the code of a row, the one before its last step if that was worse, and its gap."""
    for a in range(code.size):
        codes[row.number, a] = start[a] if worse else code[a]
    cost = row.best if worse else primal
    gap[row.number] = (row.best_gap if worse else distance) / cost if cost > 0 else 0.0


@merged
def _begin_step(row, distance, primal, code, start):
    """Start a step at the code; the promise stays positive while guesses keep it."""
    for a in range(code.size):
        start[a] = code[a]
    row.promise = 0.1 * distance if distance <= row.promise else -1.0
    row.steps += 1
    row.length = 1.0
    if row.widening == 1.0:
        row.best, row.best_gap = primal, distance
    elif row.widening < np.inf:
        row.widening = max(1.0, row.widening / 8)


@piece
def _mirror(square):
    """Make a matrix that is given by its lower triangle a whole one."""
    for a in range(square.shape[0]):
        for b in range(a):
            square[b, a] = square[a, b]


@piece
def regress(hessian, slope, start, free, factor, places, step):
    """Solve min over s + d >= 0 of 1/2 d' H d - d' slope for d, from a guess of the atoms that are free of zero.

    Block principal pivoting: with the others at zero the free atoms are solved for; free ones below zero and others
    whose slope is positive change sides, all at once, or one at a time where that did not help. Finite, since H is
    positive definite; stopped where rounding would go on for ever.
    """
    q = start.size
    fewest, spare = q + 1, _SPARE
    for _ in range(_EXCHANGES * q):
        count = 0
        for a in range(q):
            places[count] = a
            count += free[a]
        for k in range(count):
            a = places[k]
            t = slope[a]
            for b in range(q):
                t += 0.0 if free[b] else hessian[a, b] * start[b]
            step[k] = t
            for c in range(k + 1):
                factor[k, c] = hessian[a, places[c]]
        solve_positive(factor[:count, :count], step[:count])
        for a in range(q - 1, -1, -1):
            count -= free[a]
            step[a] = step[count] if free[a] else -start[a]
        wrong, last = _wrong_sides(hessian, slope, start, free, step, factor)
        if wrong == 0:
            break
        alone = wrong >= fewest and spare == 0
        spare = _SPARE if wrong < fewest else max(spare - 1, 0)
        fewest = min(fewest, wrong)
        for a in range(q):
            change = factor[0, a] > 0 and (not alone or a == last)
            free[a] = free[a] ^ np.uint8(change)
    for a in range(q):
        step[a] = max(step[a], -start[a])


@piece
def _wrong_sides(hessian, slope, start, free, step, marks):
    """How many atoms are on the wrong side of zero, and the last of them; the first row of ``marks`` flags them."""
    wrong, last = 0, 0
    for a in range(start.size):
        down = size = 0.0
        for b in range(start.size):
            t = hessian[a, b] * step[b]
            down += t
            size += abs(t)
        inward = slope[a] - down > _ROUNDING * (size + abs(slope[a]))
        outside = start[a] + step[a] < -_ROUNDING * (start[a] + abs(step[a]))
        is_wrong = outside if free[a] else inward
        marks[0, a] = 1.0 if is_wrong else 0.0
        wrong += is_wrong
        last = a if is_wrong else last
    return wrong, last
