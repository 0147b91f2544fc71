"""People, cars and boats, made of strokes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from .._types import Array, Float64Array
from ._canvas import Mover, Stroke
from ._chance import wander


@dataclass(frozen=True)
class Clothes:
    """Tones of a person's parts."""

    coat: float
    shirt: float
    trousers: float
    shoes: float
    skin: float
    hair: float
    bag: float | None

    @classmethod
    def draw(cls, rng: Generator) -> "Clothes":
        """Draw tones, dark ones more often than light ones; every third person carries a bag."""
        coat, shirt, trousers = 0.05 + 0.88 * rng.beta(0.55, 0.8, 3)
        return cls(
            coat=coat,
            shirt=shirt,
            trousers=0.8 * trousers,
            shoes=rng.uniform(0.05, 0.3),
            skin=rng.uniform(0.35, 0.75),
            hair=rng.uniform(0.05, 0.4),
            bag=rng.uniform(0.05, 0.8) if rng.random() < 1 / 3 else None,
        )


class Walker:
    """A person on a path.

    Parameters
    ----------
    path : ndarray of shape (n_frames, 2)
        Where the feet are, (x, y).
    size : ndarray of shape (n_frames,)
        Height of the person.
    clothes : Clothes
        Tones.
    """

    def __init__(self, path: Float64Array, size: Float64Array, clothes: Clothes) -> None:
        self.x, self.foot = path.T
        self.size = size
        self.clothes = clothes
        steps = np.gradient(path, axis=0) if len(path) > 1 else np.zeros_like(path)
        pace = np.hypot(*steps.T) / size
        stride = np.sin(2.0 * np.pi * np.cumsum(pace) / 0.8 + 7.0 * clothes.coat) * np.minimum(pace / 0.012, 1.0)
        sideways = np.abs(steps[:, 0]) / np.maximum(np.hypot(*steps.T), 1e-9)
        self.swing = 0.17 * size * stride * sideways
        self.lift = 0.07 * size * stride * (1.0 - 0.8 * sideways)
        self.facing = np.sign(steps[:, 0])

    def strokes(self, time: int) -> Iterator[Stroke]:
        """Yield legs, body, arms and head in this frame."""
        wear, facing = self.clothes, float(self.facing[time])
        x, foot, size = float(self.x[time]), float(self.foot[time]), float(self.size[time])
        swing, lift = float(self.swing[time]), float(self.lift[time])
        hip, neck = foot - 0.48 * size, foot - 0.8 * size

        def part(x0: float, y0: float, x1: float, y1: float, radius: float, tone: float) -> Stroke:
            return Stroke(x0, y0, x1, y1, radius * size, tone, bulge=0.35)

        for side in (-1.0, 1.0):
            toe, ground = x + side * swing + 0.035 * side * size, foot - 0.03 * size - max(side * lift, 0.0)
            yield part(x + 0.035 * side * size, hip, toe, ground, 0.05, wear.trousers)
            yield part(toe, ground, toe + 0.05 * size * facing, ground, 0.03, wear.shoes)
        yield part(x, hip - 0.02 * size, x, neck + 0.05 * size, 0.105, wear.coat)
        yield part(x, neck + 0.02 * size, x, hip - 0.12 * size, 0.028, wear.shirt)
        for side in (-1.0, 1.0):
            shoulder, hand = x + 0.085 * side * size, x - 0.8 * side * swing + 0.09 * side * size
            yield part(shoulder, neck + 0.05 * size, hand, hip + 0.02 * size, 0.036, 0.85 * wear.coat)
        if wear.bag is not None:
            strap = x - 0.13 * size
            yield part(strap, hip - 0.04 * size, strap, hip + 0.05 * size, 0.06, wear.bag)
        yield part(x, neck - 0.08 * size, x, neck - 0.11 * size, 0.066, wear.skin)
        yield part(x - 0.02 * size, neck - 0.15 * size, x + 0.02 * size, neck - 0.15 * size, 0.048, wear.hair)


def on_stage(
    time: int, people: Sequence[Walker], *, behind: Sequence[Mover] = (), before: Sequence[Mover] = ()
) -> list[Mover]:
    """Return all bodies from the back to the front; of people, whoever stands lower in the picture is nearer."""
    return [*behind, *sorted(people, key=lambda person: person.foot[time]), *before]


def passers_by(
    count: int, n_frames: int, aspect: float, feet: tuple[float, float], sizes: tuple[float, float], rng: Generator
) -> list[Walker]:
    """Let people cross the picture from either side, one after another, with feet and sizes in these ranges."""
    people = []
    for index in range(count):
        size = rng.uniform(*sizes)
        x = passage(index, count, n_frames, aspect, 0.05 * size * rng.uniform(0.7, 1.2), rng)
        foot = rng.uniform(*feet) + 0.006 * wander(rng, n_frames, 30.0)[:, 0]
        people.append(Walker(np.column_stack([x, foot]), np.full(n_frames, size), Clothes.draw(rng)))
    return people


def passage(index: int, count: int, n_frames: int, aspect: float, speed: float, rng: Generator) -> Array:
    """Return x over time of the one that passes the middle as number `index` of `count`."""
    middle = n_frames * (index + rng.uniform(0.1, 0.9)) / count
    direction = 1.0 if rng.integers(2) else -1.0
    return rng.uniform(0.3, 0.7) * aspect + direction * speed * (np.arange(n_frames) - middle)


@dataclass(frozen=True)
class Car:
    """A car seen from the side: `x` over time, the height `y` of its middle, and the tone of its body."""

    x: Array
    y: float
    rightwards: bool
    body: float

    def strokes(self, time: int) -> Iterator[Stroke]:
        """Yield the car in this frame."""
        return car_strokes(float(self.x[time]), self.y, self.rightwards, self.body)


def car_strokes(x: float, y: float, rightwards: bool, body: float) -> Iterator[Stroke]:
    """Yield the strokes of a car whose middle is at (x, y)."""
    front = 1.0 if rightwards else -1.0
    yield Stroke(x - 0.11, y - 0.075, x + 0.09, y - 0.075, 0.055, body)
    yield Stroke(x - 0.09, y - 0.08, x - 0.03, y - 0.08, 0.037, 0.16)
    yield Stroke(x + 0.03, y - 0.08, x + 0.07, y - 0.08, 0.037, 0.16)
    yield Stroke(x - 0.2, y, x + 0.2, y, 0.052, body)
    yield Stroke(x - 0.2, y + 0.035, x + 0.2, y + 0.035, 0.017, 0.14)
    yield Stroke(x + 0.225 * front, y - 0.01, x + 0.225 * front, y - 0.01, 0.015, 0.95)
    for wheel in (x - 0.13, x + 0.13):
        yield Stroke(wheel, y + 0.045, wheel, y + 0.045, 0.045, 0.08)
        yield Stroke(wheel, y + 0.045, wheel, y + 0.045, 0.02, 0.6)


@dataclass(frozen=True)
class Boat:
    """A small boat with a cabin and a helmsman: x and y of its middle over time, and the tones of hull and cabin."""

    x: Array
    y: Array
    hull: float
    cabin: float

    def strokes(self, time: int) -> Iterator[Stroke]:
        """Yield the boat in this frame."""
        x, y = float(self.x[time]), float(self.y[time])
        yield Stroke(x - 0.06, y - 0.05, x + 0.05, y - 0.05, 0.032, self.cabin, bulge=0.2)
        yield Stroke(x - 0.045, y - 0.055, x - 0.015, y - 0.055, 0.013, 0.2)
        yield Stroke(x + 0.015, y - 0.055, x + 0.04, y - 0.055, 0.013, 0.2)
        yield Stroke(x + 0.11, y - 0.03, x + 0.11, y - 0.06, 0.018, 0.35)
        yield Stroke(x + 0.11, y - 0.09, x + 0.11, y - 0.09, 0.013, 0.6)
        yield Stroke(x, y - 0.04, x, y - 0.16, 0.004, 0.25)
        yield Stroke(x - 0.19, y - 0.012, x + 0.19, y - 0.012, 0.02, self.hull)
        yield Stroke(x - 0.15, y + 0.008, x + 0.15, y + 0.008, 0.02, 0.75 * self.hull, bulge=0.3)
        yield Stroke(x - 0.18, y - 0.016, x + 0.18, y - 0.016, 0.005, 0.9)
