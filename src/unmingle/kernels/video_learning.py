"""What is learnt from a frame of a fixed camera: the background, its noise, and what has come to rest.

Frames, scale and atoms are as in `video_detection`.
"""

from typing import Any, NamedTuple

import numpy as np

from .._types import AnyArray, Float32Array, Float64Array
from .compile import announced, compiled, merged, piece
from .small import clip, read, solve_positive
from .video_colour import middle_of
from .video_detection import CHUNK, LARGE_CHUNK, explained

KNOWN = 2
"""The mark of what is known from elsewhere to be foreground."""
_LONGEST = 60000
"""Frames are counted up to this number, which 16 bits hold."""


class LearningState(NamedTuple):
    """How to learn, and what is known of a background: arrays, which change with what is learnt."""

    lam_star: float
    least: tuple[float, float]
    """The smallest variances of brightness and of colour that are believed."""
    rates: tuple[float, float, float, float]
    """How fast variances are learnt, see `follow_noise`."""
    scale: Any
    """What brings the numbers of the camera to [0, 1]."""
    white: float | None
    """The largest number of the camera; None if it gives fractions."""
    codes: Float32Array
    """s of this frame."""
    atoms: Float32Array
    """(q, m): U'."""
    squares: Float64Array
    """(q, q): A, the faded sum of s s'."""
    variance: Float32Array
    """(m,): that of the deviation of each entry."""
    last: AnyArray
    """The frame before."""
    last_deviation: AnyArray
    """The deviations of the frame before."""
    seen: AnyArray
    """Frames in which the background of each pixel was seen."""
    waited: AnyArray
    """Frames in which each pixel was near foreground and did not change."""
    sample: AnyArray | None
    """The pixels from which codes are found, in order, or None."""
    sampled: Float32Array
    """The atoms of the sample; all atoms if there is none."""
    zeros: tuple[Any, ...]
    """A zero for each atom."""


@merged
def learn_plane(x, place, extent, middle, scale, atoms, code, gain, keep, lam, near, nearby):
    """Take the entries of a plane, from ``place`` on, into the background where no foreground is near.

    With r = x - middle - Us, and r = 0 near foreground::

        u <- keep u + gain clip(r, -lam, lam)

    which is a step of recursive least squares, see `recursive_step` of `unmingle.core.online`. ``near`` is read
    from ``nearby`` on. Cost: 5 q flops for each entry.
    """
    steps = np.empty(CHUNK, np.float32)
    for first in range(0, extent, CHUNK):
        size = extent - first if extent - first < CHUNK else CHUNK
        here = np.uintp(place + first)
        _clipped_residuals(x, here, size, middle, scale, code, atoms, lam, near, np.uintp(nearby + first), steps)
        for a in range(len(code)):
            _add_steps(atoms, a, here, size, keep[a], gain[a], steps)


@piece
def _copy_sample(atoms, sample, sampled):
    """Copy the atoms of the sample."""
    for a in range(atoms.shape[0]):
        for k in range(sample.size):
            sampled[a, k] = atoms[a, sample[k]]


@piece
def _clipped_residuals(x, first, size, middle, scale, code, atoms, lam, near, nearby, residuals):
    """clip(x - middle - Us, -lam, lam) of some entries, 0 near foreground."""
    none = np.float32(0.0)
    for j in range(size):
        k = first + np.uintp(j)
        r = clip(x[k] * scale - middle - explained(code, atoms, k), lam)
        residuals[j] = r if near[nearby + np.uintp(j)] == 0 else none


@piece
def _add_steps(atoms, a, first, size, keep, gain, steps):
    """U <- keep u + gain steps, for one atom and some entries."""
    for j in range(size):
        k = first + np.uintp(j)
        atoms[a, k] = keep * atoms[a, k] + gain * steps[j]


@merged
def follow_noise(deviation, last, place, size, scale, near, nearby, rates, least, variance):
    """Variance of what deviates from the background, by how much it changes between two frames.

    A difference hardly sees what moves slowly or stands. With d = deviation - last, ::

        variance <- variance + rate (min(share d^2, 9 variance) - variance)

    where ``rates`` = (rate, slow_rate, fall, share): the slow rate is for places near foreground, and the variance
    falls ``fall`` times as fast as it rises, so that a place which moves now and then, such as a tree in the wind, is
    remembered. The ``share`` makes it the variance of Gaussian noise all the same. ``last`` becomes the deviation.
    """
    nine = np.float32(9.0)
    rate, slow_rate, fall, share = rates
    for j in range(size):
        k = place + np.uintp(j)
        d = (np.float32(deviation[k]) - np.float32(last[k])) * scale
        v = variance[k]
        most = nine * (v if v > least else least)
        square = share * d * d
        square = square if square < most else most
        falls = rate if square > v else fall * rate
        variance[k] = v + (falls if near[nearby + np.uintp(j)] == 0 else slow_rate) * (square - v)
        last[k] = deviation[k]


@merged
def absorb_still(x, last, layout, scale, code, atoms, variance, noise, near, waiting, counts):
    """Make those parts of the foreground background that have not changed for long.

    With ``noise`` = (factor, least), ``waiting`` = (frames, patience) and ``counts`` = (seen, waited): ``seen``
    counts the frames in which the background of a pixel was seen, ``waited`` those in which the pixel was near
    foreground and did not change. Once it waited for longer than its background was seen, but at most for
    ``patience``, the background becomes what is there, u <- u + r s / |s|^2: an object that stopped, or the place that
    one left which was there from the start. A patience of 0 absorbs nothing. Pixels where ``near`` is `KNOWN` neither
    wait nor count. ``layout`` = (height, width, middle, places), with 0 places in the colour planes of a grey frame.
    ``last`` becomes x. Returns the numbers of pixels near foreground, of those that did not change, and of those
    absorbed.
    """
    frames, patience = np.uint16(waiting[0]), np.uint16(waiting[1])
    energy = np.float32(1e-30)
    for a in range(len(code)):
        energy += code[a] * code[a]
    inside, still, absorbed = 0, 0, 0
    rests, ripe = np.empty(LARGE_CHUNK, np.uint8), np.empty(LARGE_CHUNK, np.uint8)
    height, width, _, places = layout
    pixels, seen, waited = height * width, counts[0], counts[1]
    for first in range(0, pixels, LARGE_CHUNK):
        place, left = np.uintp(first), pixels - first
        size = left if left < LARGE_CHUNK else LARGE_CHUNK
        _rests(x, last, place, size, scale, variance, noise, rests)
        _wait(near, rests, place, size, frames, patience, seen, waited, ripe)
        found = _count(near, rests, ripe, place, size)
        inside, still, absorbed = inside + found[0], still + found[1], absorbed + found[2]
        if found[2]:
            _become_background(ripe, place, size, np.float32(0.0), x, scale, code, energy, atoms)
            if places:
                _colour_becomes_background(ripe, first, size, layout, x, scale, code, energy, atoms)
    return inside, still, absorbed


@piece
def _rests(x, last, first, size, scale, variance, noise, rests):
    """Pixels that have changed by no more than their noise explains; ``last`` becomes x."""
    factor, least = noise
    for p in range(size):
        j = first + np.uintp(p)
        d = (np.float32(x[j]) - np.float32(last[j])) * scale
        v = variance[j]
        rests[p] = np.uint8(d * d <= factor * (v if v > least else least))
        last[j] = x[j]


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
def _take_over(j, middle, x, scale, code, energy, atoms):
    """Us <- x at an entry, by the least change of u."""
    shift = (x[j] * scale - middle - explained(code, atoms, j)) / energy
    for a in range(len(code)):
        atoms[a, j] += code[a] * shift


@piece
def _become_background(ripe, first, size, middle, x, scale, code, energy, atoms):
    """Ripe pixels become background."""
    for p in range(size):
        if ripe[p]:
            _take_over(first + np.uintp(p), middle, x, scale, code, energy, atoms)


@piece
def _colour_becomes_background(ripe, first, size, layout, x, scale, code, energy, atoms):
    """The same at the places of the colour planes that the ripe pixels belong to."""
    height, width, middle, places = layout
    pixels, columns = height * width, (width + 1) // 2
    for p in range(size):
        if ripe[p]:
            i, j = (first + p) // width, (first + p) % width
            place = pixels + i // 2 * columns + j // 2
            _take_over(place, middle, x, scale, code, energy, atoms)
            _take_over(place + places, middle, x, scale, code, energy, atoms)


@announced
@compiled
def learn_from_frame(
    x, height, width, deviation, near, frames, patience, forgetting, faint, lam, factor,
    lam_star, least, rates,
    scale, white, codes, atoms, squares, variance, last, last_deviation, seen, waited, sample, sampled, zeros,
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
    scale, lam, factor = np.float32(scale), np.float32(lam), np.float32(factor)
    floor, colour_floor, paces = (
        np.float32(least[0]),
        np.float32(least[1]),
        (np.float32(rates[0]), np.float32(rates[1]), np.float32(rates[2]), np.float32(rates[3])),
    )
    pixels = height * width
    places, middle, none = near.size - pixels, middle_of(white), np.float32(0.0)
    code, noise, layout = read(codes, zeros), (factor, floor), (height, width, middle, places)
    waiting, counts = (frames, patience), (seen, waited)
    counted = absorb_still(x, last, layout, scale, code, atoms, variance, noise, near, waiting, counts)
    follow_noise(deviation, last_deviation, np.uintp(0), pixels, scale, near, np.uintp(0), paces, floor, variance)
    for plane in range(2 if places else 0):
        place = np.uintp(pixels + plane * places)
        follow_noise(
            deviation, last_deviation, place, places, scale, near, np.uintp(pixels), paces, colour_floor, variance
        )
    if lam == 0:
        return counted[0], counted[1], counted[2], forgetting
    q = len(zeros)
    strength = trace = 0.0
    for a in range(q):
        strength += codes[a] * codes[a]
        trace += squares[a, a]
    if strength < faint * trace:
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
    learn_plane(x, 0, pixels, none, scale, atoms, code, gain, keep, lam, near, 0)
    for plane in range(2 if places else 0):
        learn_plane(x, pixels + plane * places, places, middle, scale, atoms, code, gain, keep, lam, near, pixels)
    if sample is not None:
        _copy_sample(atoms, sample, sampled)
    return counted[0], counted[1], counted[2], forgetting
