"""A street before a camera that shakes in the wind."""

from collections.abc import Iterator
from math import cos, sin

import numpy as np
from numpy.random import Generator

from .._types import Float32Array, Float64Array
from ._canvas import Canvas, Mover, Scene, Stroke, check_film, expose, perform
from ._chance import oscillation, smooth_noise, wander
from ._movers import Car, on_stage, passage, passers_by
from ._street import STREET, paint_street

TURN = 0.0015
"""Radians that the camera turns by for each pixel that it shifts by."""
LARGEST = 3.2
"""Standard deviations that no shift exceeds."""


def shaking_scene(
    n_frames: int = 300,
    height: int = 240,
    width: int = 320,
    *,
    n_people: int = 4,
    n_cars: int = 3,
    shake: float = 1.25,
    noise: float = 0.015,
    random_state: int | Generator | None = None,
) -> Scene:
    """Film a street with people and cars through a camera that sways and trembles.

    The camera moves right, down and around its middle by sums of a slow drift and of damped oscillations driven by
    chance, in gusts. The still street is interpolated with cubic splines from a larger picture, so that no border
    shows, and whatever moves is painted at its place in the moved picture. Background and masks are as the shaking
    camera sees them.

    Parameters
    ----------
    n_frames, height, width : int
        Size of the film.
    n_people : int, default=4
        People on the pavement.
    n_cars : int, default=3
        Cars on the road.
    shake : float, default=1.25
        Standard deviation of the shift along each axis, in pixels; no shift exceeds 3.2 times this. The camera turns
        by 0.0015 radians, standard deviation, per pixel of it.
    noise : float, default=0.015
        Standard deviation of the sensor noise.
    random_state : int, Generator or None, default=None
        Seed; the same seed gives the same film. None: another one each time.

    Returns
    -------
    Scene
        Frames, background and masks; the background shakes.

    Examples
    --------
    >>> scene = shaking_scene(6, 48, 64, random_state=0)
    >>> scene.frames.shape, bool(abs(scene.background[1:] - scene.background[0]).max() > 0.05)
    ((6, 48, 64), True)
    """
    check_film(n_frames, height, width, n_people=n_people, n_cars=n_cars, shake=shake, noise=noise)
    rng = np.random.default_rng(random_state)
    margin = int(np.ceil(LARGEST * shake * (1.0 + TURN * max(height, width)))) + 2
    world = Canvas(height + 2 * margin, width + 2 * margin)
    street = _paint_textured_street(world, rng)
    camera = ShakingCamera(_draw_moves(n_frames, shake, rng), Canvas(height, width, pixel=world.pixel, margin=margin))
    brightness = 1.0 + 0.02 * wander(rng, n_frames, 60.0)[:, :, None]
    background = camera.film(street)
    feet = STREET.facade_end + 0.06, STREET.pavement_end - 0.01
    people = passers_by(n_people, n_frames, world.aspect, feet, sizes=(0.28, 0.36), rng=rng)
    cars = list(_cars(n_cars, n_frames, world.aspect, rng))
    script = ([camera.see(body, time) for body in on_stage(time, people, before=cars)] for time in range(n_frames))
    shown, masks = perform(camera.canvas, background, script)
    for film in (shown, background):
        film *= brightness.astype(np.float32)
        np.clip(film, 0.0, 1.0, out=film)
    return Scene(expose(shown, noise, rng), background, masks)


def _paint_textured_street(world: Canvas, rng: Generator) -> Float64Array:
    """Return the street with stains, rough surfaces and still light, as sharp as a lens is."""
    from scipy.ndimage import gaussian_filter

    street = np.clip(0.5 + 1.3 * (paint_street(world, rng) - 0.5), 0.05, 0.95)
    world.paint(street, [*_letters(rng), *_railing(world.aspect), *_bare_tree(0.46 * world.aspect, rng)])
    stains = smooth_noise(rng, street.shape, (0.02 / world.pixel, 0.03 / world.pixel))
    rough = smooth_noise(rng, street.shape, (0.7, 0.9))
    on_road = world.y > STREET.pavement_end
    street = street * (1.0 + 0.06 * stains) + np.where(on_road, 0.035, 0.02) * rough
    sunlit = 1.0 / (1.0 + np.exp(-(world.x - 0.55 * world.aspect + 0.5 * (world.y - 0.5)) / 0.02))
    return np.asarray(gaussian_filter(np.clip(street * (0.78 + 0.2 * sunlit), 0.03, 0.97), 0.5))


def _letters(rng: Generator) -> Iterator[Stroke]:
    """Yield a bright board with dark writing on the facade."""
    yield Stroke(0.33, 0.27, 0.66, 0.27, 0.032, 0.88)
    for left in np.arange(0.33, 0.66, 0.03):
        for _ in range(3):
            x, y = left + rng.choice([0.0, 0.018], 2), rng.choice([0.25, 0.27, 0.29], 2)
            yield Stroke(x[0], y[0], x[1], y[1], 0.003, 0.1)


def _railing(aspect: float) -> Iterator[Stroke]:
    """Yield iron bars before the left half of the facade."""
    for x in np.arange(0.02, 0.33 * aspect, 0.03):
        yield Stroke(x, 0.46, x, STREET.facade_end, 0.004, 0.1)
    yield Stroke(0.0, 0.455, 0.33 * aspect, 0.455, 0.006, 0.1)


def _bare_tree(x: float, rng: Generator) -> Iterator[Stroke]:
    """Yield a trunk on the pavement with branches that fork at random."""
    yield Stroke(x, STREET.facade_end + 0.08, x, 0.38, 0.018, 0.15)
    ends = [(x, 0.38, -np.pi / 2, 0.14)]
    while ends:
        x0, y0, angle, length = ends.pop()
        for turn in rng.uniform(-0.75, 0.75, 3):
            x1, y1 = x0 + length * np.cos(angle + turn), y0 + length * np.sin(angle + turn)
            yield Stroke(x0, y0, x1, y1, 0.06 * length, 0.15)
            if length > 0.05:
                ends.append((x1, y1, angle + turn, 0.7 * length))


def _draw_moves(n_frames: int, shake: float, rng: Generator) -> Float64Array:
    """Return the shift down and right in pixels and the turn in radians of each frame, of shape (n_frames, 3)."""
    drift = wander(rng, n_frames, 25.0, count=3)
    sway = oscillation(rng, n_frames, period=11.0, decay=15.0, count=3)
    tremble = oscillation(rng, n_frames, period=4.3, decay=4.0, count=3)
    moves = np.sqrt(0.3) * drift + np.sqrt(0.5) * sway + np.sqrt(0.2) * tremble
    moves = moves * np.exp(0.7 * wander(rng, n_frames, 15.0))
    if n_frames > 1:
        moves = (moves - moves.mean(axis=0)) / moves.std(axis=0)
    return np.clip(moves, -LARGEST, LARGEST) * shake * np.array([1.0, 1.0, TURN])


class ShakingCamera:
    """Moves (down, right, turn) of the camera over time, and the canvas of what it sees when it does not move.

    A pixel at the offset d from the middle of the picture shows the place R d + shift of the world, where R turns by
    the angle of the frame.
    """

    def __init__(self, moves: Float64Array, canvas: Canvas) -> None:
        self.moves = moves
        self.canvas = canvas
        self.shape = canvas.y.size, canvas.x.size
        self.middle = (np.array(self.shape) - 1.0) / 2.0 + canvas.margin

    def film(self, world: Float64Array) -> Float32Array:
        """Return what the camera sees of the still world, of shape (n_frames, height, width)."""
        from scipy.ndimage import affine_transform, spline_filter

        spline = spline_filter(world, output=np.float32)
        seen = np.empty((len(self.moves), *self.shape), dtype=np.float32)
        for frame, (down, right, turn) in enumerate(self.moves):
            turned = _rotation(turn)
            offset = self.middle + np.array([down, right]) - turned @ (self.middle - self.canvas.margin)
            affine_transform(spline, turned, offset, self.shape, output=seen[frame], order=3, prefilter=False)
        return seen

    def see(self, body: Mover, frame: int) -> Iterator[Stroke]:
        """Yield the strokes of a body of the world where the camera sees them."""
        down, right, turn = self.moves[frame].tolist()
        pixel, (row, column) = self.canvas.pixel, self.middle.tolist()
        middle_y, middle_x = (row + 0.5) * pixel, (column + 0.5) * pixel
        c, s = cos(turn), sin(turn)

        def seen(x: float, y: float) -> tuple[float, float]:
            dx, dy = x - middle_x - right * pixel, y - middle_y - down * pixel
            return middle_x + c * dx - s * dy, middle_y + s * dx + c * dy

        for stroke in body.strokes(frame):
            x0, y0 = seen(stroke.x0, stroke.y0)
            x1, y1 = seen(stroke.x1, stroke.y1)
            yield stroke._replace(x0=x0, y0=y0, x1=x1, y1=y1)


def _rotation(turn: float) -> Float64Array:
    return np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])


def _cars(count: int, n_frames: int, aspect: float, rng: Generator) -> Iterator[Car]:
    for index in range(count):
        x = passage(index, count, n_frames, aspect, rng.uniform(0.02, 0.04), rng)
        yield Car(x, 0.86, rightwards=bool(x[-1] > x[0]), body=rng.uniform(0.15, 0.9))
