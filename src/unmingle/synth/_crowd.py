"""A busy hall: so many people that no frame is empty, and shadows that are not theirs to count."""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from .._types import Float32Array, Float64Array
from ._canvas import Canvas, Scene, Stroke, check_film, expose, perform
from ._chance import smooth_noise, wander
from ._movers import Clothes, Walker, on_stage

FLOOR_TOP = 0.24
"""Where the wall ends and the floor begins, in picture heights from above."""
HORIZON = -0.12
"""The horizon lies above the picture: people are the larger, the farther they stand below it."""


def crowd_scene(
    n_frames: int = 300,
    height: int = 240,
    width: int = 320,
    *,
    n_people: int = 32,
    noise: float = 0.015,
    random_state: int | Generator | None = None,
) -> Scene:
    """Film a hall full of people who walk to and fro, stand for a while and throw soft shadows.

    People are larger near the camera, hide each other and differ in tone. Their shadows darken the floor by 10 to 20
    percent; they belong neither to the masks nor to the background. Each frame is reflectance times light plus noise;
    the light is a weighted sum of three fixed fields that drifts slowly, so that the empty hall has rank 3.

    Parameters
    ----------
    n_frames, height, width : int
        Size of the film.
    n_people : int, default=32
        People in the hall.
    noise : float, default=0.015
        Standard deviation of the sensor noise.
    random_state : int, Generator or None, default=None
        Seed; the same seed gives the same film. None: another one each time.

    Returns
    -------
    Scene
        Frames, background and masks.

    Examples
    --------
    >>> scene = crowd_scene(6, 48, 64, random_state=0)
    >>> scene.frames.shape, bool(scene.masks.mean(axis=(1, 2)).min() > 0.08)
    ((6, 48, 64), True)
    """
    check_film(n_frames, height, width, n_people=n_people, noise=noise)
    rng = np.random.default_rng(random_state)
    canvas = Canvas(height, width)
    hall = _paint_hall(canvas, rng).astype(np.float32)
    light = _light(canvas, n_frames, rng)
    people = [_person(index, n_people, n_frames, canvas.aspect, rng) for index in range(n_people)]
    stage = hall * (1.0 - _shadows(canvas, people, n_frames))
    script = ([person.strokes(time) for person in on_stage(time, people)] for time in range(n_frames))
    shown, masks = perform(canvas, stage, script)
    shown *= light
    return Scene(expose(shown, noise, rng), np.clip(hall * light, 0.0, 1.0), masks)


def _paint_hall(canvas: Canvas, rng: Generator) -> Float64Array:
    """Return the reflectance of the empty hall: a tiled floor in perspective, and a wall with doors and posters."""
    from scipy.ndimage import gaussian_filter

    shape = (canvas.y.size, canvas.x.size)

    def texture(rows: float, columns: float) -> Float64Array:
        return smooth_noise(rng, shape, (rows / canvas.pixel, columns / canvas.pixel))

    far = 1.0 / (np.maximum(canvas.y, FLOOR_TOP) - HORIZON)
    row, column = 9.0 * far, 9.0 * (canvas.x - 0.4 * canvas.aspect) * far
    tones = 0.55 + 0.06 * rng.standard_normal((23, 29))
    tiles = tones[np.floor(row).astype(int) % 23, np.floor(column).astype(int) % 29]
    joint = (row % 1.0 < 0.05 * far) | (column % 1.0 < 0.035 * far)
    band = np.abs(column % 6.0 - 3.0) < 0.5
    floor = np.where(joint, 0.4, np.where(band, 0.38 + 0.5 * (tiles - 0.55), tiles))
    picture = np.where(canvas.y < FLOOR_TOP, 0.68 + 0.02 * texture(0.05, 0.02), floor)
    for left in np.arange(0.06, canvas.aspect, 0.3):
        picture[canvas.inside(left, left + 0.11, 0.03, FLOOR_TOP - 0.012)] = rng.uniform(0.2, 0.45)
        picture[canvas.inside(left + 0.05, left + 0.06, 0.03, FLOOR_TOP - 0.012)] = 0.75
        picture[canvas.inside(left + 0.16, left + 0.24, 0.05, 0.17)] = rng.uniform(0.3, 0.9)
        picture[canvas.inside(left + 0.175, left + 0.225, 0.07, 0.11)] = rng.uniform(0.1, 0.9)
    picture[canvas.inside(0.0, canvas.aspect, FLOOR_TOP - 0.012, FLOOR_TOP)] = 0.3
    picture = picture * (1.0 + 0.03 * texture(0.02, 0.05)) + 0.015 * smooth_noise(rng, shape, (0.6, 0.6))
    return np.clip(gaussian_filter(picture, 0.5), 0.03, 0.97)


def _light(canvas: Canvas, n_frames: int, rng: Generator) -> Float32Array:
    """Return the light on each pixel over time: lamps, a window to the left and a roof light, all drifting slowly."""
    lamps = 1.0 + 0.0 * canvas.x + 0.0 * canvas.y
    window = np.exp(-canvas.x / (0.5 * canvas.aspect)) * (0.6 + 0.4 * canvas.y)
    roof = np.exp(-(((canvas.x - 0.65 * canvas.aspect) / 0.4) ** 2) - ((canvas.y - 0.7) / 0.3) ** 2)
    strength = np.array([0.85, 0.15, 0.12]) + np.array([0.015, 0.05, 0.05]) * wander(rng, n_frames, 80.0, count=3)
    return np.tensordot(strength, np.stack([lamps, window, roof]), axes=1).astype(np.float32)


def _person(index: int, count: int, n_frames: int, aspect: float, rng: Generator) -> Walker:
    """Draw someone who walks from place to place; every fourth one likes to stand."""
    path = _stroll(n_frames, aspect, start=(index + rng.random()) / count, patience=float(index % 4 == 0), rng=rng)
    size = rng.uniform(0.9, 1.1) * (0.235 * (path[:, 1] - HORIZON) + 0.01)
    return Walker(path, size, Clothes.draw(rng))


def _stroll(n_frames: int, aspect: float, start: float, patience: float, rng: Generator) -> Float64Array:
    """Return a path of shape (n_frames, 2) between random places, at a pace that fits the distance to the camera."""

    def place() -> Float64Array:
        return np.array([rng.uniform(-0.08, aspect + 0.08), rng.uniform(FLOOR_TOP + 0.08, 1.08)])

    here = np.array([aspect * start, place()[1]])
    frames, stops = [0.0], [here]
    while frames[-1] < n_frames:
        if rng.random() < 0.15 + 0.5 * patience:
            frames.append(frames[-1] + rng.uniform(15.0, 40.0 + 80.0 * patience))
            stops.append(here)
        there = place()
        pace = 0.014 * (0.5 * (here + there)[1] - HORIZON) * rng.uniform(0.7, 1.2)
        frames.append(frames[-1] + np.hypot(*(there - here) * (1.0, 1.6)) / pace + 1.0)
        stops.append(there)
        here = there
    times, places = np.arange(n_frames), np.array(stops)
    return np.column_stack([np.interp(times, frames, places[:, axis]) for axis in (0, 1)])


def _shadows(canvas: Canvas, people: Sequence[Walker], n_frames: int) -> Float32Array:
    """Return by what share the floor is darkened, of shape (n_frames, height, width)."""
    shade = np.zeros((n_frames, canvas.y.size, canvas.x.size), dtype=np.float32)
    for frame in range(n_frames):
        for person in people:
            canvas.paint(shade[frame], [_shadow(person, frame)])
    shade[:, canvas.y[:, 0] < FLOOR_TOP] = 0.0
    return shade


def _shadow(person: Walker, frame: int) -> Stroke:
    x, y, size = float(person.x[frame]), float(person.foot[frame]) - 0.01, float(person.size[frame])
    depth = 0.1 + 0.1 * person.clothes.hair / 0.4
    return Stroke(x, y, x + 0.5 * size, y - 0.1 * size, 0.1 * size, depth, soft=0.1 * size)
