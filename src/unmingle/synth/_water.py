"""A river bank: water and leaves move all the time, yet they are background."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from .._types import Array, Float32Array, Float64Array, IndexArray
from ._canvas import Canvas, Scene, check_film, expose, perform
from ._chance import oscillation, smooth_noise, wander
from ._movers import Boat, on_stage, passage, passers_by


@dataclass(frozen=True)
class _Bank:
    """Where everything lies at the river, in picture heights from above."""

    horizon: float = 0.1
    """Where the water would end if nothing stood before it."""
    wall_top: float = 0.29
    """Sky and trees end here, and the wall begins."""
    water_top: float = 0.36
    """The far end of the water."""
    water_end: float = 0.74
    """The near end of the water; below it there is grass."""
    path_top: float = 0.84
    """The path on which people walk reaches from here to the lower edge."""


_BANK = _Bank()
N_WAVES = 60
"""Waves that the water is the sum of."""
FARTHEST = 0.0125
"""Picture heights by which leaves sway at most."""


def water_scene(
    n_frames: int = 300,
    height: int = 240,
    width: int = 320,
    *,
    n_people: int = 4,
    n_boats: int = 2,
    noise: float = 0.015,
    random_state: int | Generator | None = None,
) -> Scene:
    """Film a river bank: people walk past glittering water and swaying leaves, and boats go by.

    The water is a sum of many travelling waves of random direction and frequency w = c sqrt(k), seen in perspective;
    its brightness is a bent function of the slopes, with glints where a slope mirrors the sun. The leaves are textures
    pulled to and fro by gusts, at most by an eightieth of the picture height. Both belong to the background.

    Parameters
    ----------
    n_frames, height, width : int
        Size of the film.
    n_people : int, default=4
        People who walk past, before the water and the shrub.
    n_boats : int, default=2
        Boats on the river.
    noise : float, default=0.015
        Standard deviation of the sensor noise.
    random_state : int, Generator or None, default=None
        Seed; the same seed gives the same film. None: another one each time.

    Returns
    -------
    Scene
        Frames, background and masks; the background moves.

    Examples
    --------
    >>> scene = water_scene(6, 48, 64, random_state=0)
    >>> scene.frames.shape, scene.frames.dtype, scene.masks.dtype
    ((6, 48, 64), dtype('float32'), dtype('bool'))
    """
    check_film(n_frames, height, width, n_people=n_people, n_boats=n_boats, noise=noise)
    rng = np.random.default_rng(random_state)
    canvas = Canvas(height, width)
    background = np.empty((n_frames, height, width), dtype=np.float32)
    background[:] = _paint_bank(canvas, rng)
    _paint_water(background, canvas, rng)
    _paint_leaves(background, canvas, rng, centre=(0.9 * canvas.aspect, 0.2), reach=(0.36, 0.36))
    _paint_leaves(background, canvas, rng, centre=(0.12 * canvas.aspect, 0.72), reach=(0.26, 0.17))
    np.clip(background, 0.0, 1.0, out=background)
    boats = _boats(n_boats, n_frames, canvas.aspect, rng)
    people = passers_by(n_people, n_frames, canvas.aspect, feet=(0.86, 0.98), sizes=(0.28, 0.38), rng=rng)
    script = ([body.strokes(time) for body in on_stage(time, people, behind=boats)] for time in range(n_frames))
    shown, masks = perform(canvas, background, script)
    return Scene(expose(shown, noise, rng), background, masks)


def _paint_bank(canvas: Canvas, rng: Generator) -> Float64Array:
    """Return what stands still: sky, far trees, a wall of stone, grass and a path of gravel."""
    shape = (canvas.y.size, canvas.x.size)

    def texture(rows: float, columns: float) -> Float64Array:
        return smooth_noise(rng, shape, (rows / canvas.pixel, columns / canvas.pixel))

    fine = smooth_noise(rng, shape, (0.6, 0.6))
    sky = 0.85 + 0.04 * texture(0.03, 0.15)
    trees = 0.33 + 0.08 * texture(0.01, 0.01) + 0.05 * texture(0.04, 0.05)
    wall = 0.55 + 0.05 * texture(0.006, 0.03) - 0.12 * ((canvas.x / 0.09) % 1.0 < 0.08)
    grass = 0.42 + 0.07 * texture(0.012, 0.003) + 0.04 * texture(0.02, 0.06)
    path = 0.6 + 0.03 * fine + 0.04 * texture(0.015, 0.06)
    crest = 0.14 + 0.02 * texture(0.5, 0.05)[:1]
    y = canvas.y + 0.0 * canvas.x
    return np.select(
        [y < crest, y < _BANK.wall_top, y < _BANK.water_end, y < _BANK.path_top + 0.006 * texture(0.5, 0.03)[:1]],
        [sky, trees, wall, grass],
        path,
    )


def _paint_water(film: Float32Array, canvas: Canvas, rng: Generator) -> None:
    """Paint the water into all frames, in place."""
    rows = np.flatnonzero((canvas.y[:, 0] >= _BANK.water_top) & (canvas.y[:, 0] < _BANK.water_end))
    if not rows.size:
        return
    box = (slice(None), slice(rows[0], rows[-1] + 1))
    across, towards = _slopes(canvas, rows, len(film), rng)
    gusts = 1.0 + 0.35 * smooth_noise(rng, (len(film), 1, canvas.x.size), (25.0, 0.0, 0.15 / canvas.pixel))
    towards *= gusts.astype(np.float32)
    glint = np.exp(-3.0 * ((across - 0.5) ** 2 + (towards - 1.5) ** 2))
    depth = ((canvas.y[rows] - _BANK.water_top) / (_BANK.water_end - _BANK.water_top)).astype(np.float32)
    film[box] = 0.5 - 0.12 * depth + 0.1 * np.tanh(towards) + 0.35 * glint


def _slopes(canvas: Canvas, rows: IndexArray, n_frames: int, rng: Generator) -> tuple[Array, Array]:
    """Return the slopes of the water across and towards the camera, of deviation about 1, over (frame, row, column).

    Each wave cos(k.r - w t) is cos(k.r) cos(w t) + sin(k.r) sin(w t), so that one product of matrices adds up all.
    """
    numbers = 2.0 * np.pi / np.geomspace(0.045, 0.4, N_WAVES) * rng.uniform(0.97, 1.03, N_WAVES)
    turns = 0.9 + 0.7 * rng.standard_normal(N_WAVES)
    kx, kz = numbers * np.cos(turns), numbers * np.sin(turns)
    scale = (_BANK.water_end - _BANK.horizon) / (canvas.y[rows] - _BANK.horizon)
    x, z = scale * (canvas.x - canvas.aspect / 2), 1.2 * scale + 0.0 * canvas.x
    phases = kx[:, None, None] * x + kz[:, None, None] * z + rng.uniform(0.0, 2.0 * np.pi, (N_WAVES, 1, 1))
    per_pixel = canvas.pixel * np.hypot(kx * scale, 1.2 * kz * scale**2 / (_BANK.water_end - _BANK.horizon)).T
    seen = np.exp(-0.2 * per_pixel**2)[:, :, None]
    waves = np.concatenate([seen * np.cos(phases), seen * np.sin(phases)]).reshape(2 * N_WAVES, -1).astype(np.float32)
    angles = 0.057 * np.sqrt(numbers) * np.arange(n_frames)[:, None]
    swing = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    strength = np.sqrt(2.0 / N_WAVES)
    across, towards = (np.tile(strength * part / numbers, 2) for part in (kx, kz))
    shape = (n_frames, rows.size, canvas.x.size)

    def add_up(part: Float64Array) -> Array:
        return ((swing * part).astype(np.float32) @ waves).reshape(shape)

    return add_up(1.5 * across), add_up(1.3 * towards)


def _paint_leaves(
    film: Float32Array, canvas: Canvas, rng: Generator, centre: tuple[float, float], reach: tuple[float, float]
) -> None:
    """Paint leaves that sway around a place into all frames, in place."""
    from scipy.ndimage import map_coordinates, spline_filter

    leaves, opacity = _leaves(canvas, rng, centre, reach)
    rows, columns = np.nonzero(opacity > 0.001)
    if not rows.size:
        return
    sway = _sway(canvas, rng, len(film), rows, columns)
    places = np.stack([rows + sway[0], columns + sway[1]]).astype(np.float32)
    tone = map_coordinates(spline_filter(leaves, output=np.float32), places, order=3, prefilter=False, mode="mirror")
    cover = map_coordinates(opacity.astype(np.float32), places, order=1, mode="nearest")
    film[:, rows, columns] += cover * (tone - film[:, rows, columns])


def _leaves(
    canvas: Canvas, rng: Generator, centre: tuple[float, float], reach: tuple[float, float]
) -> tuple[Float64Array, Float64Array]:
    """Return the tone of the leaves and how much they hide of what is behind, with a ragged edge and gaps."""
    from scipy.ndimage import gaussian_filter

    shape = (canvas.y.size, canvas.x.size)

    def texture(scale: float) -> Float64Array:
        return smooth_noise(rng, shape, (max(scale / canvas.pixel, 0.5),) * 2)

    shade = 0.3 + 0.07 * texture(0.004) + 0.06 * texture(0.015)
    tone = np.clip(shade + 0.2 * (texture(0.006) > 1.2) - 0.12 * (texture(0.007) > 1.0), 0.05, 0.9)
    distance = np.hypot((canvas.x - centre[0]) / reach[0], (canvas.y - centre[1]) / reach[1])
    there = (distance + 0.1 * texture(0.02) < 1.0) & (texture(0.009) + 1.9 > 1.2 * distance)
    return gaussian_filter(tone, 0.5), gaussian_filter(there.astype(np.float64), 0.6)


def _sway(canvas: Canvas, rng: Generator, n_frames: int, rows: IndexArray, columns: IndexArray) -> Float64Array:
    """Return by how many pixels each place is pulled down and right, of shape (2, n_frames, places)."""
    gust = 0.25 + 0.75 * np.clip(0.6 + 0.7 * wander(rng, n_frames + 40, 18.0)[:, 0], 0.0, 1.6)
    delay = (20.0 * canvas.x[0, columns] / canvas.aspect).astype(int)
    strength = gust[np.arange(n_frames)[:, None] + delay].astype(np.float32)
    shape = (canvas.y.size, canvas.x.size)
    pulls = []
    for amount in (0.5, 1.0):
        pull = np.zeros((n_frames, rows.size), dtype=np.float32)
        for period, spread, size, count in ((26.0, 0.1, 0.0036, 6), (7.0, 0.02, 0.0018, 10)):
            over_time = oscillation(rng, n_frames, period, period, count)
            fields = smooth_noise(rng, (count, *shape), (0.0, spread / canvas.pixel, spread / canvas.pixel))
            weight = amount * size / np.sqrt(count)
            pull += (weight * over_time).astype(np.float32) @ fields[:, rows, columns].astype(np.float32)
        pulls.append(FARTHEST * np.tanh(strength * pull / FARTHEST))
    return np.stack(pulls) / np.float32(canvas.pixel)


def _boats(count: int, n_frames: int, aspect: float, rng: Generator) -> list[Boat]:
    boats = []
    for index in range(count):
        x = passage(index, count, n_frames, aspect, rng.uniform(0.01, 0.016), rng)
        y = rng.uniform(0.46, 0.58) + 0.003 * oscillation(rng, n_frames, 22.0, 60.0)[:, 0]
        boats.append(Boat(x, y, hull=rng.choice([0.12, 0.2, 0.75, 0.85]), cabin=rng.uniform(0.5, 0.9)))
    return sorted(boats, key=lambda boat: float(boat.y[0]))
