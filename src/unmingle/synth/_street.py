"""A street before a fixed camera, painted with strokes: what stands still, what moves, and the light on both."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator

from .._types import Float64Array
from ._canvas import Canvas, Mover, Scene, Stroke, check_film, perform
from ._movers import car_strokes


def surveillance_scene(
    n_frames: int = 120,
    height: int = 120,
    width: int = 160,
    *,
    n_people: int = 4,
    n_cars: int = 2,
    noise: float = 0.02,
    light: Literal["calm", "changing"] = "calm",
    random_state: int | Generator | None = None,
) -> Scene:
    """Film a street in the evening: people and cars pass a shop while clouds drift and a lamp flickers.

    Each frame is reflectance times light plus sensor noise, clipped to [0, 1]. The light is a weighted sum of three
    fixed fields (sky, sun, lamp), so that the empty scene has rank 3 exactly.

    Parameters
    ----------
    n_frames, height, width : int
        Size of the film.
    n_people : int, default=4
        Walkers; the first one stops before the shop for a while.
    n_cars : int, default=2
        Cars on the road.
    noise : float, default=0.02
        Standard deviation of the sensor noise.
    light : {"calm", "changing"}, default="calm"
        "changing": it gets dark, the sun comes and goes between clouds, and the lamp is switched on.
    random_state : int, Generator or None, default=None
        Seed; the same seed gives the same film. None: another one each time.

    Returns
    -------
    Scene
        Frames, background and masks.

    Examples
    --------
    >>> scene = surveillance_scene(10, 48, 64, random_state=0)
    >>> scene.frames.shape, scene.frames.dtype, int(np.linalg.matrix_rank(scene.background.reshape(10, -1)))
    ((10, 48, 64), dtype('float32'), 3)
    """
    check_film(n_frames, height, width, n_people=n_people, n_cars=n_cars, noise=noise)
    if light not in _LIGHTS:
        raise ValueError(f"light must be one of {', '.join(map(repr, _LIGHTS))}; got {light!r}.")
    rng = np.random.default_rng(random_state)
    canvas = Canvas(height, width, dtype=np.float64)
    street = paint_street(canvas, rng)
    lit = np.tensordot(_LIGHTS[light](n_frames, rng), _light_fields(canvas), axes=1)
    movers: list[Mover] = [
        *sorted(_people(n_people, canvas.aspect, rng), key=lambda person: person.foot),
        *_cars(n_cars, canvas.aspect, rng),
    ]

    stage = np.broadcast_to(street, (n_frames, height, width))
    script = ([mover.strokes(time) for mover in movers] for time in np.linspace(0.0, 1.0, n_frames))
    shown, masks = perform(canvas, stage, script)
    sensor = noise * rng.standard_normal(shown.shape)
    frames = np.clip(shown * lit + sensor, 0.0, 1.0)
    return Scene(frames.astype(np.float32), (street * lit).astype(np.float32), masks)


@dataclass(frozen=True)
class Street:
    """Where everything lies in the street, in picture heights from above and from the left."""

    facade_end: float = 0.56
    """The houses end here, and the pavement begins."""
    pavement_end: float = 0.76
    """The pavement ends here, and the kerb begins."""
    kerb_end: float = 0.785
    """The kerb ends here; below it is the road."""
    lamp_x: float = 0.26
    """The lamp, from the left."""
    lamp_y: float = 0.27
    """The lamp, from above."""


STREET = Street()


def paint_street(canvas: Canvas, rng: Generator) -> Float64Array:
    """Return the reflectance of the empty street."""
    picture = np.select(
        [canvas.y < STREET.facade_end, canvas.y < STREET.pavement_end, canvas.y < STREET.kerb_end],
        [_bricks(canvas, rng), _paving(canvas, rng), np.full_like(canvas.x, 0.78)],
        _asphalt(canvas),
    )
    picture[canvas.inside(0, canvas.aspect, STREET.facade_end - 0.035, STREET.facade_end)] = 0.36
    for centre in np.arange(0.14, canvas.aspect, 0.27):
        _paint_window(canvas, picture, centre, curtain=rng.uniform(0.15, 0.7))
    _paint_shop(canvas, picture, left=0.56 * canvas.aspect, right=0.93 * canvas.aspect)
    _paint_door(canvas, picture, left=0.36 * canvas.aspect)
    _paint_lamp_post(canvas, picture)
    grain = 0.015 * rng.standard_normal(picture.shape)
    return np.clip(picture + grain, 0.05, 0.95)


def _tiles(
    rows: Float64Array, columns: Float64Array, rng: Generator, tone: float, spread: float, joint: float, gap: float
) -> Float64Array:
    """Lay tiles of slightly differing tone; whole numbers of `rows` and `columns` are the joints."""
    row, column = np.floor(rows).astype(int), np.floor(columns).astype(int)
    tones = tone + spread * rng.uniform(-1.0, 1.0, (17, 19))
    in_joint = (rows - row < gap) | (columns - column < gap)
    return np.where(in_joint, joint, tones[row % 17, column % 19])


def _bricks(canvas: Canvas, rng: Generator) -> Float64Array:
    rows = canvas.y / 0.042
    columns = canvas.x / 0.1 + 0.5 * (np.floor(rows) % 2)
    return _tiles(rows, columns, rng, tone=0.47, spread=0.06, joint=0.58, gap=0.13)


def _paving(canvas: Canvas, rng: Generator) -> Float64Array:
    depth = np.clip((canvas.y - STREET.facade_end) / (STREET.pavement_end - STREET.facade_end), 0.0, 1.0)
    columns = (canvas.x - canvas.aspect / 2) / (0.13 * (1.0 + 0.45 * depth))
    return _tiles(3.0 * depth**1.3, columns, rng, tone=0.64, spread=0.035, joint=0.5, gap=0.08)


def _asphalt(canvas: Canvas) -> Float64Array:
    on_line = np.abs(canvas.y - 0.955) < 0.011
    dashed = (canvas.x / 0.26) % 1.0 < 0.55
    return np.where(on_line & dashed, 0.8, 0.33 + 0.0 * canvas.x)


def _paint_window(canvas: Canvas, picture: Float64Array, centre: float, curtain: float) -> None:
    left, right, top, bottom = centre - 0.062, centre + 0.062, 0.05, 0.22
    picture[canvas.inside(left - 0.016, right + 0.016, top - 0.016, bottom + 0.022)] = 0.82
    glass = canvas.inside(left, right, top, bottom)
    reflection = 0.2 + 0.5 * (canvas.x - left) + 0.4 * (bottom - canvas.y)
    picture[glass] = np.maximum(reflection, curtain * (np.abs(canvas.x - centre) > 0.03))[glass]
    picture[canvas.inside(centre - 0.006, centre + 0.006, top, bottom)] = 0.8
    picture[canvas.inside(left, right, 0.115, 0.127)] = 0.8


def _paint_shop(canvas: Canvas, picture: Float64Array, left: float, right: float) -> None:
    picture[canvas.inside(left, right, 0.36, STREET.facade_end - 0.04)] = 0.75
    display = canvas.inside(left + 0.015, right - 0.015, 0.36, STREET.facade_end - 0.055)
    goods = 0.26 + 0.12 * np.sin(38.0 * canvas.x) * np.sin(55.0 * canvas.y) + 0.25 * (canvas.y - 0.36)
    picture[display] = goods[display]
    awning = canvas.inside(left - 0.02, right + 0.02, 0.29, 0.37 + 0.008)
    scallop = canvas.y < 0.365 + 0.012 * np.abs(np.sin(np.pi * canvas.x / 0.05))
    stripes = np.where((canvas.x / 0.05) % 2.0 < 1.0, 0.85, 0.4) - 0.6 * (canvas.y - 0.29)
    picture[awning & scallop] = stripes[awning & scallop]


def _paint_door(canvas: Canvas, picture: Float64Array, left: float) -> None:
    picture[canvas.inside(left - 0.015, left + 0.145, 0.3, STREET.facade_end)] = 0.7
    picture[canvas.inside(left, left + 0.13, 0.315, STREET.facade_end)] = 0.25
    for column in (left + 0.02, left + 0.072):
        picture[canvas.inside(column, column + 0.038, 0.335, 0.42)] = 0.34
        picture[canvas.inside(column, column + 0.038, 0.44, 0.54)] = 0.2
    canvas.paint(picture, [Stroke(left + 0.118, 0.44, left + 0.118, 0.44, 0.007, 0.9)])


def _paint_lamp_post(canvas: Canvas, picture: Float64Array) -> None:
    foot = STREET.lamp_x - 0.07
    post = [
        Stroke(foot, 0.24, foot, 0.72, 0.009, 0.13),
        Stroke(foot, 0.70, foot, 0.73, 0.017, 0.13),
        Stroke(foot, 0.24, STREET.lamp_x, 0.235, 0.008, 0.13),
        Stroke(STREET.lamp_x - 0.015, STREET.lamp_y - 0.02, STREET.lamp_x + 0.015, STREET.lamp_y - 0.02, 0.014, 0.65),
    ]
    canvas.paint(picture, post)


def _light_fields(canvas: Canvas) -> Float64Array:
    """Return where the light of sky, sun and lamp falls, of shape (3, height, width)."""
    sky = 1.0 - 0.25 * (canvas.y - 0.5) ** 2 + 0.0 * canvas.x
    edge_of_shadow = canvas.x - 0.62 * canvas.aspect + 0.5 * (canvas.y - 0.5)
    sun = 1.0 / (1.0 + np.exp(-edge_of_shadow / 0.045))
    below = canvas.y - STREET.lamp_y
    cone = np.exp(-(((canvas.x - STREET.lamp_x) / (0.05 + 0.42 * np.abs(below))) ** 2)) * np.exp(-1.6 * np.abs(below))
    lamp = cone / (1.0 + np.exp(-below / 0.02))
    halo = np.exp(-((canvas.x - STREET.lamp_x) ** 2 + below**2) / 0.004)
    return np.stack([sky, sun, lamp + 0.5 * halo])


def _calm_light(n_frames: int, rng: Generator) -> Float64Array:
    """Return the strength of sky, sun and lamp in each frame, of shape (n_frames, 3)."""
    time = np.linspace(0.0, 1.0, n_frames)
    phases = rng.uniform(0.0, 2.0 * np.pi, 3)
    clouds = 0.5 + 0.5 * np.sin(2.0 * np.pi * 1.3 * time + phases[0]) * np.sin(2.0 * np.pi * 0.7 * time + phases[1])
    sky = 0.82 - 0.2 * time + 0.04 * np.sin(2.0 * np.pi * 2.0 * time + phases[2])
    sun = 0.02 + 0.3 * clouds
    lamp = 0.4 + 0.15 * time + 0.08 * rng.standard_normal(n_frames)
    return np.column_stack([sky, sun, lamp])


def _changing_light(n_frames: int, rng: Generator) -> Float64Array:
    """Return the same on an evening when dusk falls, clouds hide the sun now and then, and the lamp is switched on."""
    time = np.linspace(0.0, 1.0, n_frames)
    phase, switched_on = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.45, 0.65)
    sky = 0.75 - 0.35 * time
    sun = 0.35 * (1.0 - time) / (1.0 + np.exp(-6.0 * np.sin(2.0 * np.pi * 3.0 * time + phase)))
    lamp = np.where(time < switched_on, 0.0, 0.5 + 0.03 * rng.standard_normal(n_frames))
    return np.column_stack([sky, sun, lamp])


_LIGHTS = {"calm": _calm_light, "changing": _changing_light}


@dataclass(frozen=True)
class _Passer:
    """Who crosses the picture between two times."""

    enters: float
    leaves: float
    rightwards: bool
    aspect: float

    def strokes(self, time: float) -> Iterator[Stroke]:
        share = (time - self.enters) / (self.leaves - self.enters)
        return self.after(share) if 0.0 <= share <= 1.0 else iter(())

    def after(self, share: float) -> Iterator[Stroke]:
        """Yield the strokes after a share of the time."""
        raise NotImplementedError


@dataclass(frozen=True)
class _Pedestrian(_Passer):
    foot: float
    height: float
    coat: float
    trousers: float
    rests: bool

    def after(self, share: float) -> Iterator[Stroke]:
        way = _way_with_rest(share) if self.rests else share
        x = _crossing(way, self.rightwards, self.aspect, margin=0.12)
        swing = 0.16 * self.height * np.sin(2.0 * np.pi * way * self.aspect / (0.8 * self.height))
        hip, neck, size = self.foot - 0.47 * self.height, self.foot - 0.8 * self.height, self.height
        for side in (-1.0, 1.0):
            yield Stroke(x, hip, x + side * swing, self.foot - 0.03 * size, 0.05 * size, self.trousers)
        yield Stroke(x, hip - 0.02 * size, x, neck + 0.04 * size, 0.105 * size, self.coat)
        elbow = hip - 0.12 * size
        yield Stroke(x, neck + 0.05 * size, x - 0.7 * swing, elbow + 0.1 * size, 0.045 * size, 0.85 * self.coat)
        yield Stroke(x, neck - 0.1 * size, x, neck - 0.1 * size, 0.085 * size, 0.72)
        yield Stroke(x - 0.03 * size, neck - 0.15 * size, x + 0.03 * size, neck - 0.15 * size, 0.05 * size, 0.12)


@dataclass(frozen=True)
class _PassingCar(_Passer):
    body: float

    def after(self, share: float) -> Iterator[Stroke]:
        x = _crossing(share, self.rightwards, self.aspect, margin=0.3)
        return car_strokes(x, 0.86, self.rightwards, self.body)


def _crossing(way: float, rightwards: bool, aspect: float, margin: float) -> float:
    """Return the position after a share of the way from beyond one edge of the picture to beyond the other."""
    return (aspect + 2.0 * margin) * (way if rightwards else 1.0 - way) - margin


def _way_with_rest(share: float) -> float:
    """Walk 60 % of the way, stand still for a third of the time, walk on."""
    return float(np.interp(share, [0.0, 0.4, 0.73, 1.0], [0.0, 0.6, 0.6, 1.0]))


def _people(count: int, aspect: float, rng: Generator) -> Iterator[_Pedestrian]:
    for index in range(count):
        enters = (index + rng.uniform(0.0, 0.5)) / (count + 1.0) - 0.1
        yield _Pedestrian(
            enters=enters,
            leaves=enters + (0.62 if index == 0 else rng.uniform(0.34, 0.5)),
            rightwards=bool(index % 2 == 0),
            foot=STREET.facade_end + 0.05 + rng.uniform(0.0, 0.13),
            height=rng.uniform(0.29, 0.34),
            coat=float(rng.choice([0.1, 0.16, 0.92])),
            trousers=float(rng.choice([0.08, 0.14, 0.24])),
            rests=index == 0,
            aspect=aspect,
        )


def _cars(count: int, aspect: float, rng: Generator) -> Iterator[_PassingCar]:
    for index in range(count):
        enters = (index + rng.uniform(0.2, 0.7)) / (count + 0.2)
        yield _PassingCar(
            enters=enters,
            leaves=enters + rng.uniform(0.14, 0.2),
            rightwards=bool(rng.integers(2)),
            body=float(rng.choice([0.7, 0.8, 0.92])),
            aspect=aspect,
        )
