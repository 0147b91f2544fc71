"""What is learnt from a frame of a fixed camera: the background, its noise, and what has come to rest.

Frames, scale and atoms are as in `_video`.
"""

import numpy as np

from ._compile import announced, clip, compiled
from ._encoder import _read
from ._samples import _solve_positive
from ._video import CHUNK, LARGE_CHUNK, explained

KNOWN = 2
"""Foreground, as is known from elsewhere."""
_LONGEST = 60000
"""Frames that are counted; more are as good as so many."""


@compiled
def learn_frame(x, scale, atoms, codes, gain, keep, lam, near, sample, sampled, zeros):  # type: ignore[no-untyped-def]
    """Take a frame into the background where no foreground is near.

    With r = x - Us, and r = 0 near foreground::

        u <- keep u + gain clip(r, -lam, lam)

    which is a step of recursive least squares, see `unmingle.online.recursive_step`. The atoms of the ``sample``, which
    is in order, are copied while they are at hand. Cost: 5 m q flops.
    """
    code = _read(codes, zeros)
    steps = np.empty(CHUNK, np.float32)
    copied = 0
    for i in range(0, x.size, CHUNK):
        base, size = np.uintp(i), min(CHUNK, x.size - i)
        _clipped_residuals(x[i : i + size], scale, code, atoms, base, lam, near[i : i + size], steps)
        for a in range(len(code)):
            _add_steps(atoms[a, i : i + size], keep[a], gain[a], steps)
        first = copied
        while copied < sample.size and sample[copied] < i + size:
            copied += 1
        for a in range(len(code)):
            for k in range(first, copied):
                sampled[a, k] = atoms[a, sample[k]]


@compiled
def _clipped_residuals(x, scale, code, atoms, base, lam, near, residuals):  # type: ignore[no-untyped-def]
    none = np.float32(0.0)
    for j in range(x.size):
        r = clip(x[j] * scale - explained(code, atoms, base + np.uintp(j)), lam)
        residuals[j] = r if near[j] == 0 else none


@compiled
def _add_steps(atom, keep, gain, steps):  # type: ignore[no-untyped-def]
    for j in range(atom.size):
        atom[j] = keep * atom[j] + gain * steps[j]


@compiled
def follow_noise(deviation, last, scale, near, rate, slow_rate, least, variance):  # type: ignore[no-untyped-def]
    """Variance of what deviates from the background, by how much it changes between two frames.

    A difference hardly sees what moves slowly or stands. With d = deviation - last, which for Gaussian noise of
    variance v has the mean square 2 (1 - 2 / pi) v, as deviations have no sign, ::

        variance <- variance + rate (min(d^2 / (2 - 4 / pi), 9 variance) - variance)

    and at the slow rate near foreground. ``last`` becomes the deviation.
    """
    share, nine = np.float32(1.0 / (2.0 - 4.0 / np.pi)), np.float32(9.0)
    for j in range(deviation.size):
        d = (np.float32(deviation[j]) - np.float32(last[j])) * scale
        v = variance[j]
        most = nine * (v if v > least else least)
        square = share * d * d
        square = square if square < most else most
        variance[j] = v + (rate if near[j] == 0 else slow_rate) * (square - v)
        last[j] = deviation[j]


@compiled
def absorb_still(  # type: ignore[no-untyped-def]
    x, last, channels, scale, atoms, codes, variance, factor, least, near, frames, patience, waited, seen, zeros
):
    """Make those parts of the foreground background that have not changed for long.

    ``seen`` counts the frames in which the background of a pixel was seen, ``waited`` those in which the pixel was near
    foreground and did not change. Once it waited for longer than its background was seen, but at most for
    ``patience``, the background becomes what is there, u <- u + r s / |s|^2: an object that stopped, or the place that
    one left which was there from the start. A patience of 0 absorbs nothing. Pixels where ``near`` is `KNOWN` neither
    wait nor count. ``last`` becomes x. Returns the numbers of pixels near foreground, of those that did not change, and
    of those absorbed.
    """
    code = _read(codes, zeros)
    energy = np.float32(1e-30)
    for a in range(len(code)):
        energy += code[a] * code[a]
    inside, still, absorbed = 0, 0, 0
    rests, ripe = np.empty(LARGE_CHUNK, np.uint8), np.empty(LARGE_CHUNK, np.uint8)
    for i in range(0, near.size, LARGE_CHUNK):
        j = min(i + LARGE_CHUNK, near.size)
        entries = slice(i * channels, j * channels)
        _rests(x[entries], last[entries], channels, scale, variance[entries], factor, least, rests[: j - i])
        found = _wait(near[i:j], rests, np.uint16(frames), np.uint16(patience), seen[i:j], waited[i:j], ripe)
        inside, still, absorbed = inside + found[0], still + found[1], absorbed + found[2]
        if found[2]:
            _become_background(ripe[: j - i], i, channels, x, scale, code, energy, atoms)
    return inside, still, absorbed


@compiled
def _rests(x, last, channels, scale, variance, factor, least, rests):  # type: ignore[no-untyped-def]
    """Pixels that have changed by no more than their noise explains; ``last`` becomes x."""
    if channels == 1:
        for j in range(rests.size):
            d = (np.float32(x[j]) - np.float32(last[j])) * scale
            v = variance[j]
            rests[j] = d * d <= factor * (v if v > least else least)
            last[j] = x[j]
        return
    for p in range(rests.size):
        resting = True
        for j in range(p * channels, (p + 1) * channels):
            d = (np.float32(x[j]) - np.float32(last[j])) * scale
            resting &= d * d <= factor * max(variance[j], least)
            last[j] = x[j]
        rests[p] = resting


@compiled
def _wait(near, rests, frames, patience, seen, waited, ripe):  # type: ignore[no-untyped-def]
    """Count on: where no foreground is near the background is seen, and nothing waits.

    Flags are numbers, so that all pixels are treated alike, many at once.
    """
    one, longest = np.uint16(1), np.uint16(_LONGEST)
    patience = patience if patience > 0 else longest
    never = np.uint16(patience == longest) * longest
    for p in range(near.size):
        within = np.uint16(near[p] != 0)
        waits = np.uint16(np.uint16(near[p] == 1) * np.uint16(rests[p]))
        sights = np.uint16(seen[p] + np.uint16(frames * np.uint16(one - within)))
        sights = sights if sights < longest else longest
        wait = np.uint16(np.uint16(waited[p] + frames) * waits)
        wait = wait if wait < longest else longest
        limit = sights if sights < patience else patience
        limit = limit if limit > never else never
        late = np.uint16(wait > limit)
        seen[p] = np.uint16(np.uint16(wait * late) + np.uint16(sights * np.uint16(one - late)))
        waited[p] = np.uint16(wait * np.uint16(one - late))
        ripe[p] = late
    inside = still = absorbed = np.int32(0)
    for p in range(near.size):
        one_more = np.int32(near[p] == 1)
        inside += one_more
        still += one_more * np.int32(rests[p])
        absorbed += np.int32(ripe[p])
    return inside, still, absorbed


@compiled
def _become_background(ripe, first, channels, x, scale, code, energy, atoms):  # type: ignore[no-untyped-def]
    """Us <- x at the ripe pixels, by the least change of u."""
    for p in range(ripe.size):
        if ripe[p]:
            for j in range((first + p) * channels, (first + p + 1) * channels):
                shift = (x[j] * scale - explained(code, atoms, j)) / energy
                for a in range(len(code)):
                    atoms[a, j] += code[a] * shift


@announced
@compiled
def learn_from_frame(  # type: ignore[no-untyped-def]
    x, scale, channels, codes, deviation, near, near_entries, frames, patience, forgetting, faint, lam_star, lam,
    factor, least, rate, slow_rate,
    atoms, squares, variance, last, last_deviation, seen, waited, sample, sampled, zeros,
):  # fmt: skip
    """Take a frame into the background: what stands still, the noise, and the atoms; all arrays of the last line.

    With lam = 0 the atoms stay as they are. With A the faded ``squares`` of codes, the step of recursive least squares
    is gain = (A + lam_* I)^-1 s, and the regulariser, which fades with the rest, is put back on each atom alone. A
    black frame, |s|^2 below the ``faint`` share of trace A, says nothing, and nothing is forgotten for it.

    Returns
    -------
    tuple
        Pixels near foreground, those of them that did not change, those that became background, and by how much the
        past faded.
    """
    scale, lam, factor, least = np.float32(scale), np.float32(lam), np.float32(factor), np.float32(least)
    rate, slow_rate = np.float32(rate), np.float32(slow_rate)
    counted = absorb_still(
        x, last, channels, scale, atoms, codes, variance, factor, least, near, frames, patience, waited, seen, zeros
    )
    follow_noise(deviation, last_deviation, scale, near_entries, rate, slow_rate, least, variance)
    if lam == 0:
        return counted[0], counted[1], counted[2], forgetting
    q = len(zeros)
    strength = usual = 0.0
    for a in range(q):
        strength += codes[a] * codes[a]
        usual += squares[a, a]
    if strength < faint * usual:
        forgetting = 1.0
    system, triangle, solution, rhs = np.empty((q, q)), np.empty((q, q)), np.empty(q), np.empty(q)
    gain, keep = np.empty(q, np.float32), np.empty(q, np.float32)
    for a in range(q):
        for b in range(q):
            squares[a, b] = forgetting * squares[a, b] + codes[a] * codes[b]
            system[a, b] = squares[a, b]
        system[a, a] += lam_star
        rhs[a] = codes[a]
        keep[a] = 1.0 - (1.0 - forgetting) * lam_star / system[a, a]
    _solve_positive(system, rhs, triangle, solution)
    gain[:] = solution
    learn_frame(x, scale, atoms, codes, gain, keep, lam, near_entries, sample, sampled, zeros)
    return counted[0], counted[1], counted[2], forgetting
