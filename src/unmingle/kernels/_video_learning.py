"""What is learnt from a frame of a fixed camera: the background, its noise, and what has come to rest.

Frames, scale and atoms are as in `_video`.
"""

from typing import Any, NamedTuple

import numpy as np

from ._compile import announced, compiled, merged, piece
from ._small import clip, read, solve_positive
from ._video_detection import CHUNK, LARGE_CHUNK, explained

KNOWN = 2
"""Foreground, as is known from elsewhere."""
_LONGEST = 60000
"""Frames that are counted; more are as good as so many."""


class LearningState(NamedTuple):
    """How to learn, and what is known of a background: arrays, which change with what is learnt."""

    lam_star: Any
    least: Any
    """Variance that is believed,"""
    rate: Any
    """how fast it is learnt,"""
    slow_rate: Any
    """and how fast near foreground."""
    scale: Any
    codes: Any
    atoms: Any
    squares: Any
    variance: Any
    last: Any
    last_deviation: Any
    seen: Any
    waited: Any
    sample: Any
    """In order, or None."""
    sampled: Any
    """Its atoms, which are the atoms if there is none."""
    zeros: Any


@merged
def learn_frame(x, scale, atoms, code, gain, keep, lam, near, sample, sampled):
    """Take a frame into the background where no foreground is near.

    With r = x - Us, and r = 0 near foreground::

        u <- keep u + gain clip(r, -lam, lam)

    which is a step of recursive least squares, see `unmingle.online.recursive_step`. The atoms of the ``sample``, which
    is in order, are copied while they are at hand. Cost: 5 m q flops.
    """
    steps = np.empty(CHUNK, np.float32)
    copied = 0
    for first in range(0, x.size, CHUNK):
        size = x.size - first if x.size - first < CHUNK else CHUNK
        _clipped_residuals(x, np.uintp(first), size, scale, code, atoms, lam, near, steps)
        for a in range(len(code)):
            _add_steps(atoms, a, np.uintp(first), size, keep[a], gain[a], steps)
        if sample is not None:
            start = copied
            while copied < sample.size and sample[copied] < first + size:
                copied += 1
            for a in range(len(code)):
                for k in range(start, copied):
                    sampled[a, k] = atoms[a, sample[k]]


@piece
def _clipped_residuals(x, first, size, scale, code, atoms, lam, near, residuals):
    none = np.float32(0.0)
    for j in range(size):
        k = first + np.uintp(j)
        r = clip(x[k] * scale - explained(code, atoms, k), lam)
        residuals[j] = r if near[k] == 0 else none


@piece
def _add_steps(atoms, a, first, size, keep, gain, steps):
    for j in range(size):
        k = first + np.uintp(j)
        atoms[a, k] = keep * atoms[a, k] + gain * steps[j]


@merged
def follow_noise(deviation, last, scale, near, rate, slow_rate, least, variance):
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


@merged
def absorb_still(x, last, channels, scale, code, atoms, variance, noise, near, waiting, seen, waited):
    """Make those parts of the foreground background that have not changed for long.

    With ``noise`` = (factor, least) and ``waiting`` = (frames, patience): ``seen`` counts the frames in which the
    background of a pixel was seen, ``waited`` those in which the pixel was near foreground and did not change. Once it
    waited for longer than its background was seen, but at most for
    ``patience``, the background becomes what is there, u <- u + r s / |s|^2: an object that stopped, or the place that
    one left which was there from the start. A patience of 0 absorbs nothing. Pixels where ``near`` is `KNOWN` neither
    wait nor count. ``last`` becomes x. Returns the numbers of pixels near foreground, of those that did not change, and
    of those absorbed.
    """
    frames, patience = np.uint16(waiting[0]), np.uint16(waiting[1])
    energy = np.float32(1e-30)
    for a in range(len(code)):
        energy += code[a] * code[a]
    inside, still, absorbed = 0, 0, 0
    rests, ripe = np.empty(LARGE_CHUNK, np.uint8), np.empty(LARGE_CHUNK, np.uint8)
    for first in range(0, near.size, LARGE_CHUNK):
        place, left = np.uintp(first), near.size - first
        size = left if left < LARGE_CHUNK else LARGE_CHUNK
        _rests(x, last, place, size, channels, scale, variance, noise, rests)
        _wait(near, rests, place, size, frames, patience, seen, waited, ripe)
        found = _count(near, rests, ripe, place, size)
        inside, still, absorbed = inside + found[0], still + found[1], absorbed + found[2]
        if found[2]:
            _become_background(ripe, place, size, channels, x, scale, code, energy, atoms)
    return inside, still, absorbed


@piece
def _rests(x, last, first, size, channels, scale, variance, noise, rests):
    """Pixels that have changed by no more than their noise explains; ``last`` becomes x."""
    factor, least = noise
    for p in range(size):
        resting = np.uint8(1)
        for c in range(len(channels)):
            j = (first + np.uintp(p)) * np.uintp(len(channels)) + np.uintp(c)
            d = (np.float32(x[j]) - np.float32(last[j])) * scale
            v = variance[j]
            resting &= np.uint8(d * d <= factor * (v if v > least else least))
            last[j] = x[j]
        rests[p] = resting


@piece
def _wait(near, rests, first, size, frames, patience, seen, waited, ripe):
    """Count on: where no foreground is near the background is seen, and nothing waits.

    Flags are numbers, so that all pixels are treated alike, many at once.
    """
    one, longest = np.uint16(1), np.uint16(_LONGEST)
    patience = patience if patience > 0 else longest
    never = np.uint16(patience == longest) * longest
    for j in range(size):
        p = first + np.uintp(j)
        within = np.uint16(near[p] != 0)
        waits = np.uint16(np.uint16(near[p] == 1) * np.uint16(rests[j]))
        sights = np.uint16(seen[p] + np.uint16(frames * np.uint16(one - within)))
        sights = sights if sights < longest else longest
        wait = np.uint16(np.uint16(waited[p] + frames) * waits)
        wait = wait if wait < longest else longest
        limit = sights if sights < patience else patience
        limit = limit if limit > never else never
        late = np.uint16(wait > limit)
        seen[p] = np.uint16(np.uint16(wait * late) + np.uint16(sights * np.uint16(one - late)))
        waited[p] = np.uint16(wait * np.uint16(one - late))
        ripe[j] = late


@piece
def _count(near, rests, ripe, first, size):
    """Pixels near foreground, those of them that rest, and those that are ripe."""
    inside = still = absorbed = np.int32(0)
    for j in range(size):
        one_more = np.int32(near[first + np.uintp(j)] == 1)
        inside += one_more
        still += one_more * np.int32(rests[j])
        absorbed += np.int32(ripe[j])
    return inside, still, absorbed


@piece
def _become_background(ripe, first, size, channels, x, scale, code, energy, atoms):
    """Us <- x at the ripe pixels, by the least change of u."""
    for p in range(size):
        if ripe[p]:
            for c in range(len(channels)):
                j = (first + np.uintp(p)) * np.uintp(len(channels)) + np.uintp(c)
                shift = (x[j] * scale - explained(code, atoms, j)) / energy
                for a in range(len(code)):
                    atoms[a, j] += code[a] * shift


@announced
@compiled
def learn_from_frame(
    x, channels, deviation, near, near_entries, frames, patience, forgetting, faint, lam, factor,
    lam_star, least, rate, slow_rate,
    scale, codes, atoms, squares, variance, last, last_deviation, seen, waited, sample, sampled, zeros,
):  # fmt: skip
    """Take a frame into the background: what stands still, the noise, and the atoms; the `LearningState` comes last.

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
    code, noise, waiting = read(codes, zeros), (factor, least), (frames, patience)
    counted = absorb_still(x, last, channels, scale, code, atoms, variance, noise, near, waiting, seen, waited)
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
    system, solution = np.empty((q, q)), np.empty(q)
    gain, keep = np.empty(q, np.float32), np.empty(q, np.float32)
    for a in range(q):
        for b in range(q):
            squares[a, b] = forgetting * squares[a, b] + codes[a] * codes[b]
            system[a, b] = squares[a, b]
        system[a, a] += lam_star
        solution[a] = codes[a]
        keep[a] = 1.0 - (1.0 - forgetting) * lam_star / system[a, a]
    solve_positive(system, solution)
    for a in range(q):
        gain[a] = solution[a]
    learn_frame(x, scale, atoms, code, gain, keep, lam, near_entries, sample, sampled)
    return counted[0], counted[1], counted[2], forgetting
