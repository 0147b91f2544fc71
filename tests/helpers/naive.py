"""A slow and obvious twin of every compiled kernel, of the same name: the formula of its docstring in plain NumPy.

A twin takes what the kernel reads and returns what the kernel writes; it works in float64 and changes nothing that it
is given. Tests in tests/kernels/ hold each kernel to its twin, and check that each has one. Where a kernel searches,
its twin is either the same search without any care for speed, or a plain method that needs many more steps.
"""

import numpy as np
from scipy import linalg, ndimage

BORDER = 2
"""Pixels around an image, see `unmingle.kernels.warp`."""


def residual_of(X, low_rank):
    """X - L, 0 where X is missing."""
    return np.nan_to_num(np.asarray(X, float) - np.asarray(low_rank, float))


def huber(r, lam):
    """Huber's function: r^2 / 2 up to lam, and lam |r| - lam^2 / 2 beyond."""
    return np.where(np.abs(r) <= lam, 0.5 * r**2, lam * np.abs(r) - 0.5 * lam**2)


# kernels/matrix.py


def huber_sweep(X, left, right, behind_left, behind_right, momentum, lam, basis):
    """Value, cleaned matrix and its product with the basis."""
    D = left @ right
    Y = D + momentum * (D - behind_left @ behind_right)
    cleaned = Y + np.clip(residual_of(X, Y), -lam, lam)
    return np.sum(huber(residual_of(X, D), lam)), cleaned, cleaned @ basis


def huber_sums(X, left, right, lam):
    """Sums, and the clipped residual."""
    r = residual_of(X, left @ right)
    s = np.clip(r, -lam, lam)
    return (np.sum(huber(r, lam)), np.sum(np.nan_to_num(X) * s), np.sum(s**2)), s


def multiplier_sweep(X, left, right, multiplier, cleaned, mu, next_mu, reach, shrink, lam, basis):
    """Squares, the new multiplier, the new cleaned matrix and its product with the basis."""
    L = left @ right
    W = np.nan_to_num(X - L + multiplier / mu)
    outliers = W - np.clip(W, -reach * lam, reach * lam)
    noise = (1 - shrink) * (W - outliers)
    new = mu * (W - outliers - noise)
    clean = np.where(np.isnan(X), L, X - outliers - noise)
    squares = (
        np.sum((new - multiplier) ** 2) / mu**2,
        np.sum((clean - (cleaned - multiplier / mu)) ** 2),
        np.sum(new**2),
    )
    following = clean + new / next_mu
    return squares, new, following, following @ basis


def clipped_norm(X, left, right, multiplier, mu, reach, lam):
    """The norm, and its slope by a difference quotient."""
    W = np.nan_to_num(X - left @ right + multiplier / mu).astype(float)

    def norm(reach):
        return np.linalg.norm(np.clip(W, -reach * lam.astype(float), reach * lam.astype(float)))

    return norm(reach), (norm(reach + 1e-6) - norm(reach - 1e-6)) / 2e-6


def splitting_sweep(X, z, point, weight, rho, softness, relax, lam):
    """Five sums, and the new point."""
    u = weight * (point - z)
    r = np.nan_to_num(X - z)
    b = r + u
    reach = softness + 1 / rho
    e = np.where(np.abs(b) <= reach * lam, softness / reach * b, b - np.sign(b) * lam / rho)
    other = np.where(np.isnan(X), z - u, X - e)
    push = rho * u
    y = np.where(np.isnan(X), 0, np.clip(push, -lam, lam))
    h = lam * (np.abs(r) - 0.5 * softness * lam)
    h = np.where(np.abs(r) < softness * lam, 0.5 * r**2, h) * ~np.isnan(X)
    sums = ((other - z) ** 2, u**2, h, h + 0.5 * softness * y**2 - r * y, z * (push - y))
    return [float(np.sum(one, dtype=np.float64)) for one in sums], relax * other + (1 - relax) * z + u


def multiplier_sums(X, z, point, weight, curvature, lam):
    """Sums, and the multiplier."""
    r = residual_of(X, z)
    y = np.where(np.isnan(X), 0.0, np.clip(weight * (point - z), -lam, lam))
    h = curvature * huber(r, lam) + (1 - curvature) * lam * np.abs(r)
    return (np.sum(h), np.sum(np.nan_to_num(X) * y), np.sum(y**2)), y


# kernels/samples.py, newton.py, nonnegative.py, stream.py


def alternation_pass(X, components, lam_star, lam, codes):
    """The next codes: ridge regression of the cleaned samples."""
    U, q = components.astype(float), len(components)
    L = codes @ U
    cleaned = L + np.clip(residual_of(X, L), -lam, lam)
    return np.linalg.solve(U @ U.T + lam_star * np.eye(q), U @ cleaned.T).T


def newton_projection(X, components, lam_star, lam, passes=20_000):
    """Codes of (5): Algorithm 1 until nothing moves."""
    codes = np.zeros((len(X), len(components)))
    for _ in range(passes):
        following = alternation_pass(X, components, lam_star, lam, codes)
        if np.abs(following - codes).max() < 1e-12:
            break
        codes = following
    return codes


def nonnegative_projection(X, components, lam_star, lam, below, passes=50_000):
    """Codes s >= 0 of (5): projected gradient steps until nothing moves."""
    U = components.astype(float)
    step = 1 / (np.linalg.norm(U, 2) ** 2 + lam_star)
    codes = np.zeros((len(X), len(U)))
    for _ in range(passes):
        r = np.clip(residual_of(X, codes @ U), -below, lam)
        following = np.maximum(codes + step * (r @ U.T - lam_star * codes), 0)
        if np.abs(following - codes).max() < 1e-12:
            break
        codes = following
    return codes


def cleaning_pass(X, codes, components, bound, below, limit):
    """Cleaned samples, and how often each feature left the model."""
    low_rank = codes @ components
    r = residual_of(X, low_rank)
    beyond = (r > limit) | (-r > np.maximum(limit, below))
    return low_rank + np.clip(r, -below, bound), beyond.sum(axis=0)


# kernels/factors.py


def nonnegative_descent(gram, slopes, rows, rounds):
    """Coordinate descent, each coordinate with the slope worked out again."""
    z = np.array(rows, float)
    for i in range(len(z)):
        for _ in range(rounds):
            for a in range(z.shape[1]):
                slope = slopes[i] - (z[i] - rows[i]) @ gram
                z[i, a] = max(z[i, a] + slope[a] / gram[a, a], 0.0)
    return z


def nonnegative_sweep(X, lam, lam_star, codes, components, ahead, atoms, gram, rounds):
    """Value of the first point, new codes of the other one, and their product with its residual."""
    valued = codes @ components if len(components) else ahead @ atoms.T
    e = residual_of(X, valued)
    value = np.sum(np.where(e < lam, 0.5 * e**2, lam * (e - 0.5 * lam)))
    residual = np.minimum(residual_of(X, ahead @ atoms.T), lam)
    new = nonnegative_descent(gram, residual @ atoms - lam_star * ahead, ahead, rounds)
    return value, new, new.T @ residual


# kernels/encoder.py, sequence.py, gradients.py


def encode_layers(X, layers, components, n_layers, signs, init):
    """Codes and outliers of each sample, layer by layer; ``signs`` are those of codes and of outliers."""
    decoder, encoder, threshold, feedback, readout, readout_feedback = (np.asarray(part, float) for part in layers)
    codes, outliers, last = [], [], len(threshold) - 1
    for i, x in enumerate(np.asarray(X, float)):
        known = ~np.isnan(x)
        c, r = np.zeros(len(components)), np.where(known, x, 0.0)
        for k in range(n_layers):
            own = min(k, last)
            if k == 0 and init is not None:
                c = np.asarray(init[i], float)
                d = c @ components
            else:
                c = np.maximum(c @ feedback[own] + encoder[own] @ r, 0) if signs[0] else encoder[own] @ r
                d = c @ decoder[own]
            t = threshold[own]
            r = d + np.where(known, np.clip(x - d, -np.inf if signs[1] else -t, t), 0.0)
        c = np.maximum(c @ readout_feedback + readout @ r, 0) if signs[0] else readout @ r
        codes.append(c)
        outliers.append(np.where(known, x - r, 0.0))
    return np.array(codes), np.array(outliers)


def carry_codes(X, cell, state):
    """Codes of a sequence, each sample from the code of the one before."""
    decoder, encoder, threshold, feedback, bias = (np.asarray(part, float) for part in cell)
    code, codes = np.asarray(state, float), []
    for x in np.asarray(X, float):
        for k in range(len(threshold)):
            r = np.minimum(x, code @ decoder[k] + threshold[k])
            code = np.maximum(code @ feedback[k] + encoder[k] @ r + bias[k], 0)
        codes.append(code)
    return np.array(codes)


def clip_layer(x, d, t, below):
    """r = clip(x, d - t - below, d + t)."""
    return np.clip(x, d - t - below, d + t)


def clip_slopes(x, r, slope):
    """Derivatives of a layer by d, and by t added up over the samples."""
    return np.where(x == r, 0, slope), np.sum(np.sign(x - r) * slope, axis=0)


def misfit_cost(x, low_rank, outliers, lam):
    """The misfit, and the cost of each sample."""
    e = x - low_rank - outliers
    return e, 0.5 * np.sum(e**2, axis=1) + np.abs(outliers) @ lam


def misfit_slopes(misfit, outliers, lam, slope):
    """Derivatives of the cost by the low-rank part and by the outliers."""
    return -slope[:, None] * misfit, slope[:, None] * (lam * np.sign(outliers) - misfit)


# kernels/robust.py, resampling.py


def column_medians(rows):
    """The median of every column."""
    return np.median(rows, axis=0)


def read_at_speed(samples, start, ratio, size, taps=16, phases=256, band=0.95):
    """Every sample of the answer by a filter of its own, a windowed sinc, at the phase below its place."""
    n, out = len(samples), np.empty(size)
    for i in range(size):
        place = start * n + i * ratio
        first = int(place)
        offset = np.arange(taps) - taps // 2 + 1
        distance = offset - int((place - first) * phases) / phases
        weights = np.sinc(band * distance) * np.cos(np.pi * distance / (taps + 1)) ** 2
        out[i] = weights @ samples[(first + offset) % n] / weights.sum()
    return out


# kernels/warp.py, alignment.py


def pad_image(image):
    """The image with a border that mirrors it."""
    return np.pad(image, BORDER, mode="reflect")


def _filtered(image, weights):
    for axis in (0, 1):
        image = ndimage.convolve1d(image, np.array(weights) / sum(weights), axis=axis, mode="mirror")
    return image


def smooth_image(image):
    """The image, convolved with (1 2 1) / 4 along both axes."""
    return _filtered(image.astype(float), [1, 2, 1])


def halve_image(image):
    """Every other pixel of the image convolved with (1 4 6 4 1) / 16 along both axes."""
    return _filtered(image.astype(float), [1, 4, 6, 4, 1])[::2, ::2]


def spline_coefficients(image):
    """Coefficients c with 6 x_i = c_{i-1} + 4 c_i + c_{i+1} along each axis, by a system of equations."""
    found = image.astype(float)
    for _ in range(2):
        n = len(found)
        if n > 1:
            system = 4.0 * np.eye(n)
            for i in range(n):
                system[i, abs(i - 1)] += 1
                system[i, n - 2 if i + 1 == n else i + 1] += 1
            found = 6 * np.linalg.solve(system, found)
        found = found.T
    return found


def _basis(t, cubic):
    """A spline of degree 3 or 1 around 0, and its slope."""
    t, a = np.asarray(t, float), np.abs(t)
    if not cubic:
        return np.maximum(1 - a, 0), np.where(a < 1, -np.sign(t), 0)
    value = np.where(a < 1, 2 / 3 - a**2 + a**3 / 2, np.maximum(2 - a, 0) ** 3 / 6)
    return value, np.where(a < 1, -2 * t + 1.5 * t * a, -np.sign(t) * np.maximum(2 - a, 0) ** 2 / 2)


def warp_image(image, cubic, matrix, grid):
    """Values at the places of a grid, and their slopes along its axes; NaN and 0 outside of the image."""
    height, width = image.shape[0] - 2 * BORDER, image.shape[1] - 2 * BORDER
    rows, columns = np.arange(-BORDER, height + BORDER), np.arange(-BORDER, width + BORDER)
    values, slopes = np.full(grid.shape[1], np.nan), np.zeros((2, grid.shape[1]))
    for k, (u, v) in enumerate(grid.T.astype(float)):
        point = matrix @ [u, v, 1.0]
        x, y = point[:2] / point[2]
        if not (0 <= x <= width - 1 and 0 <= y <= height - 1 and point[2] > 0):
            continue
        (across, lean), (down, fall) = _basis(x - columns, cubic), _basis(y - rows, cubic)
        values[k] = down @ image @ across
        by_place = np.array([down @ image @ lean, fall @ image @ across])
        place_by_grid = (matrix[:2, :2] - np.outer([x, y], matrix[2, :2])) / point[2]
        slopes[:, k] = by_place @ place_by_grid
    return values, slopes


def align_image(image, cubic, matrix, code, grid, fields, generators, corners, components, penalties, limits):
    """Matrix, code, cost, share of valid pixels and last move of the search, every step written out."""
    (lam, lam_star), (tol, radius, most, still) = penalties, limits
    p = len(fields)

    def valued(matrix, code):
        values, slopes = warp_image(image, cubic, matrix, grid)
        known = ~np.isnan(values)
        r = np.where(known, np.nan_to_num(values) - code @ components, 0.0)
        share = known.mean()
        cost = np.sum(huber(r, lam)) / share + lam_star / 2 * code @ code if share else np.inf
        return cost, share, r, known, slopes

    best, damping, moved, steps, share = np.inf, 0.0, np.inf, 0, 0.0
    trial, trial_code = np.array(matrix, float), np.array(code, float)
    while True:
        found = valued(trial, trial_code)
        if found[0] < best:
            best, share, r, known, slopes = found
            matrix, code, damping = trial, trial_code, 0.1 * damping if damping > 1e-3 else 0.0
            if moved < tol or steps >= most:
                break
            J = np.concatenate([np.einsum("am,pam->pm", slopes, fields), components]) * known
            clipped = np.clip(r, -lam, lam)
            weights = np.where(np.abs(r) <= lam, 1.0, 0.25 * lam / np.maximum(np.abs(r), 1e-30)) * known
            square = (J * weights) @ J.T
            square[p:, p:] += lam_star * share * np.eye(len(code))
            right = -J @ clipped + np.concatenate([np.zeros(p), lam_star * share * code])
        else:
            if moved < tol or steps >= most or damping > 1e6 or best == np.inf:
                break
            damping = max(1e-3, 10 * damping)
        system = square + damping * np.diag(np.diag(square))
        if steps < still:
            step = np.concatenate([np.zeros(p), np.linalg.solve(system[p:, p:], right[p:])])
        else:
            step = np.linalg.solve(system, right)
            moved = np.linalg.norm(np.tensordot(step[:p], corners, 1), axis=0).max()
            step, moved = (step * radius / moved, radius) if moved > radius else (step, moved)
        trial = matrix @ linalg.expm(np.tensordot(step[:p], generators, 1))
        trial_code, steps = code - step[p:], steps + 1
    return matrix, code, best, share, moved


# kernels/following.py


def steepest_pixels(picture, scale, side, least):
    """Rows and columns of the steepest pixel of each cell, and its slopes along x and y."""
    smooth = picture.astype(float) * float(scale)
    down, across = (
        ndimage.convolve1d(ndimage.convolve1d(smooth, [0.5, 0, -0.5], axis), [0.25, 0.5, 0.25], 1 - axis)
        for axis in (0, 1)
    )
    strength, (height, width) = across**2 + down**2, picture.shape
    chosen = []
    for top in range(0, height, side):
        for left in range(0, width, side):
            places = [
                (i, j)
                for i in range(max(top, 2), min(top + side, height - 2))
                for j in range(max(left, 2), min(left + side, width - 2))
            ]
            steepest = max(places, key=lambda place: strength[place], default=None)
            if steepest is not None and strength[steepest] > least**2:
                chosen.append(steepest)
    rows, columns = np.array(chosen).T
    return np.array([rows, columns]), np.array([across[rows, columns], down[rows, columns]])


def follow_frame(frame, scale, matrix, light, limits, values, J, grid, generators, corners):
    """Matrix, light, cost, and shares of pixels in sight and explained; every step written out."""
    (lam, radius, tol, most), p = limits, len(J) - 2
    shown = frame.astype(float) * float(scale)

    def valued(matrix, light):
        points = matrix @ np.concatenate([grid, np.ones((1, grid.shape[1]))])
        x, y = points[:2] / points[2]
        seen = (x >= 0) & (y >= 0) & (x < frame.shape[1] - 1.001) & (y < frame.shape[0] - 1.001)
        read = ndimage.map_coordinates(shown, [y, x], order=1, mode="nearest")
        r = np.where(seen, read - light[0] * values - light[1], 0.0)
        cost = np.sum(huber(r, lam)) / seen.sum() if seen.any() else np.inf
        return cost, seen.mean(), np.sum(np.abs(r[seen]) <= 3 * lam) / max(1, seen.sum()), r, seen

    best, moved, share, number = (np.inf, 0.0, 0.0), np.inf, 1.0, 0
    trial, trial_light = np.array(matrix, float), np.array(light, float)
    while True:
        *found, r, seen = valued(trial, trial_light)
        if found[0] < best[0]:
            best, matrix, light = tuple(found), trial, trial_light
            if moved < tol or number >= most:
                break
            weights = np.where(np.abs(r) <= lam, 1.0, lam / np.maximum(np.abs(r), 1e-30)) * seen
            step = np.linalg.solve((J * weights) @ J.T, J @ np.clip(r, -lam, lam))
            far, limit = np.linalg.norm(np.tensordot(step[:p], corners, 1), axis=0).max(), radius * abs(light[0])
            step, far = (step * limit / far, limit) if far > limit else (step, far)
            moved, share = far / max(abs(light[0]), 1e-3), 1.0
        else:
            share *= 0.5
            if best[0] == np.inf or share < 1 / 16 or moved * share < tol or number >= most:
                break
        trial = matrix @ linalg.expm(np.tensordot(-share * step[:p] / light[0], generators, 1))
        trial_light = np.array([np.clip(light[0] + share * step[p], 0.1, 10.0), light[1] + share * step[p + 1]])
        number += 1
    return matrix, light, *best


def nearest_shift(frame, scale, matrix, light, cap, radius, stride, values, grid):
    """The best of all shifts, each valued in full."""
    points = matrix @ np.concatenate([grid[:, ::stride], np.ones((1, len(values[::stride])))])
    columns, rows = np.rint(points[:2] / points[2]).astype(int)
    wanted = light[0] * values[::stride] + light[1]
    padded = np.pad(frame.astype(float) * float(scale), 2 * max(frame.shape) + radius, constant_values=np.inf)
    origin = 2 * max(frame.shape) + radius
    costs = {}
    for y in range(-radius, radius + 1):
        for x in range(-radius, radius + 1):
            off = np.abs(padded[rows + y + origin, columns + x + origin] - wanted)
            costs[x, y] = np.sum(np.minimum(off, cap))
    return min(costs, key=costs.get)


# kernels/video_*.py


def frame_codes(x, components, codes, lam_star, lam, n_layers):
    """Layers of Algorithm 1 on one frame, whose numbers lie in [0, 1]."""
    components, codes = components.astype(float), codes.astype(float)
    step = np.linalg.inv(components @ components.T + lam_star * np.eye(len(components)))
    for _ in range(n_layers):
        residual = np.clip(x - codes @ components, -lam, lam)
        codes = codes + step @ (components @ residual - lam_star * codes)
    return codes


def outside_of_span(frame, background):
    """How far each pixel is outside of what its background and that of its neighbours span."""
    low, high = (f(background, size=3, mode="nearest") for f in (ndimage.minimum_filter, ndimage.maximum_filter))
    low, high = low + (background - low) / 2, high - (high - background) / 2
    return np.maximum(np.maximum(frame - high, low - frame), 0)


def count_neighbours(marks, side):
    """How many pixels are marked in the square around each pixel."""
    return ndimage.convolve(marks.astype(int), np.ones((side, side), int), mode="nearest")


def keep_regions(mask, strong, least):
    """The mask without regions of too few strong pixels; top, left, bottom, right and area of the others."""
    labels, n = ndimage.label(mask, np.ones((3, 3)))
    weight = np.bincount(labels[strong & mask], minlength=n + 1)
    kept = [k for k in range(1, n + 1) if weight[k] >= least]
    boxes = []
    for k in kept:
        rows, columns = np.nonzero(labels == k)
        boxes.append((rows.min(), columns.min(), rows.max() + 1, columns.max() + 1, len(rows)))
    return np.isin(labels, kept) & mask, sorted(boxes)


def detect_in_frame(frame, scale, components, codes, variance, side=5):
    """Background, deviation, mask and what is near it, for grey frames without a region and without light."""
    white = 1 / float(scale)
    background = np.clip(codes.astype(float) @ components, 0, 1).reshape(frame.shape) * white
    background = background if frame.dtype.kind == "f" else np.floor(background + 0.5)
    deviation = outside_of_span(frame, background)
    ratio = (deviation * float(scale)) ** 2 / np.maximum(variance.reshape(frame.shape), 1e-5)
    votes = [count_neighbours(ratio > factor, side) for factor in (4, 9)]
    weak, strong = (vote > side * side // 2 for vote in votes)
    mask, _ = keep_regions(weak, strong, 1)
    return background, deviation, mask, (votes[1] >= max(1, side * side // 6)) | mask


def follow_noise(deviation, last, scale, near, rates, least, variance):
    """The new variance of each entry."""
    rate, slow_rate, fall, share = rates
    square = share * ((deviation.astype(float) - last) * scale) ** 2
    square = np.minimum(square, 9 * np.maximum(variance, least))
    own = np.where(near == 0, np.where(square > variance, rate, fall * rate), slow_rate)
    return variance + own * (square - variance)


def learn_from_frame(x, deviation, near, frames, patience, forgetting, lam, factor, state):
    """What changes of a `LearningState` of a grey frame, by name: atoms, squares, variance, seen and waited."""
    code, scale, least = state.codes.astype(float), float(state.scale), state.least[0]
    atoms, shown = state.atoms.astype(float), x.astype(float) * scale
    rests = (shown - state.last.astype(float) * scale) ** 2 <= factor * np.maximum(state.variance, least)
    seen, waited = state.seen.astype(int), state.waited.astype(int)
    for p in range(x.size):
        seen[p] += 0 if near[p] else frames
        waited[p] = waited[p] + frames if near[p] == 1 and rests[p] else 0
        if patience and waited[p] > min(seen[p], patience):
            atoms[:, p] += code * (shown[p] - code @ atoms[:, p]) / (code @ code)
            seen[p], waited[p] = waited[p], 0
    before = state.variance.astype(float)
    variance = follow_noise(deviation, state.last_deviation, scale, near, state.rates, least, before)
    squares = forgetting * state.squares + np.outer(code, code)
    system = squares + state.lam_star * np.eye(len(code))
    gain, keep = np.linalg.solve(system, code), 1 - (1 - forgetting) * state.lam_star / np.diag(system)
    residual = np.where(near == 0, np.clip(shown - code @ atoms, -lam, lam), 0.0)
    atoms = keep[:, None] * atoms + np.outer(gain, residual)
    return {"atoms": atoms, "squares": squares, "variance": variance, "seen": seen, "waited": waited}


def compare_textures(frame, background, scale, cells, bounds):
    """Cells that have texture in both pictures, and those of them where it is another one."""
    (side, step), (texture, likeness) = cells, bounds
    textured = other = 0
    for i in range(0, frame.shape[0] - side + 1, step * side):
        for j in range(0, frame.shape[1] - side + 1, step * side):
            pair = [part[i : i + side, j : j + side].ravel() * float(scale) for part in (background, frame)]
            (v, c), (_, w) = np.cov(pair, bias=True)
            if v > texture and w > texture:
                textured += 1
                other += c <= 0 or c * c < likeness * v * w
    return textured, other


def planes_from_rgb(rgb, white):
    """Brightness of each pixel, and blue and red less brightness of each two by two pixels, as three pictures."""
    most = white or 1.0
    luma = rgb.astype(float) @ [0.299, 0.587, 0.114]
    height, width = luma.shape
    even = np.pad(rgb.astype(float), ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
    mean = even.reshape(len(even) // 2, 2, -1, 2, 3).mean(axis=(1, 3))
    y = mean @ [0.299, 0.587, 0.114]
    middle = 0.5 if white is None else (white + 1) // 2
    blue, red = middle + 0.5 * (mean[..., 2] - y) / (1 - 0.114), middle + 0.5 * (mean[..., 0] - y) / (1 - 0.299)
    return luma, np.clip(blue, 0, most), np.clip(red, 0, most)


def rgb_from_planes(luma, blue, red, white):
    """The picture back, with one colour for each two by two pixels."""
    middle = 0.5 if white is None else (white + 1) // 2
    b, r = (
        np.repeat(np.repeat(plane.astype(float) - middle, 2, axis=0), 2, axis=1)[: luma.shape[0], : luma.shape[1]]
        for plane in (blue, red)
    )
    r, b = r * 2 * (1 - 0.299), b * 2 * (1 - 0.114)
    green = luma - 0.114 / 0.587 * b - 0.299 / 0.587 * r
    return np.clip(np.stack([luma + r, green, luma + b], axis=2), 0, white or 1.0)


def places_of(matrix, shape):
    """Where the pixels of a picture of a shape are mapped to: x and y."""
    y, x = np.mgrid[: shape[0], : shape[1]]
    found = matrix @ np.stack([x.ravel(), y.ravel(), np.ones(x.size)])
    return (found[:2] / found[2]).reshape(2, *shape)


def lay_over(plane, matrix):
    """A plane read between its pixels at M p, and how far inside of the plane these places are."""
    x, y = places_of(matrix, plane.shape)
    edge = [np.minimum(place, side - 1 - place) for place, side in ((x, plane.shape[1]), (y, plane.shape[0]))]
    return ndimage.map_coordinates(plane.astype(float), [y, x], order=1, mode="nearest"), np.minimum(*edge)


def lay_mask_back(mask, matrix, least):
    """The mask at the pixel nearest to M p, without its small regions."""
    x, y = (np.floor(place + 0.5).astype(int) for place in places_of(matrix, mask.shape))
    inside = (x >= 0) & (y >= 0) & (x < mask.shape[1]) & (y < mask.shape[0])
    laid = np.zeros(mask.shape, bool)
    laid[inside] = mask[y[inside], x[inside]]
    return keep_regions(laid, laid, least)[0]
