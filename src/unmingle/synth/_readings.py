"""Readings of the sensors of a building, with faults and gaps."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from .._types import BoolArray, Float64Array

_QUANTITIES = (
    ("temperature °C", 21.0, 2.0),
    ("humidity %", 45.0, 8.0),
    ("CO2 ppm", 600.0, 150.0),
    ("power kW", 8.0, 3.0),
)
"""What sensors measure, its usual level and how far it moves."""


@dataclass(frozen=True, eq=False)
class Readings:
    """A table of readings, one row an hour and one column a sensor, and the truth about it."""

    values: Float64Array
    """What was recorded; NaN where there is a gap."""
    truth: Float64Array
    """What a perfect sensor would have recorded."""
    faults: BoolArray
    """bool: cells with a wrong value."""
    columns: list[str]
    """Names of the sensors."""


def sensor_readings(
    n_hours: int = 336,
    n_sensors: int = 24,
    *,
    noise: float = 0.1,
    random_state: int | Generator | None = None,
) -> Readings:
    """Record the climate of a building: all sensors follow the weather, the people and the heating.

    The truth is a level for each sensor plus three courses of time, each with a weight of its own for every sensor: a
    table of rank 4. One reading in fifty is wrong, a few sensors hang for some hours and repeat one value, and
    others are silent for one reading or for a day.

    Parameters
    ----------
    n_hours, n_sensors : int
        Size of the table: at least two days and four sensors.
    noise : float, default=0.1
        Standard deviation of the noise, as a share of how far a sensor moves.
    random_state : int, Generator or None, default=None
        Seed; the same seed gives the same numbers. None: others each time.

    Returns
    -------
    Readings

    Examples
    --------
    >>> table = sensor_readings(random_state=0)
    >>> table.values.shape, table.columns[1], int(np.linalg.matrix_rank(table.truth))
    ((336, 24), 'humidity % 2', 4)
    """
    if n_hours < 48 or n_sensors < 4 or not noise >= 0:
        raise ValueError(
            "n_hours must be at least 48, n_sensors at least 4, and noise not negative; "
            f"got {n_hours}, {n_sensors} and {noise}."
        )
    rng = np.random.default_rng(random_state)
    kinds = [_QUANTITIES[number % len(_QUANTITIES)] for number in range(n_sensors)]
    level, spread = (np.array([kind[place] for kind in kinds]) for place in (1, 2))
    courses = _courses(n_hours, rng)
    truth = level + spread * (courses @ rng.standard_normal((3, n_sensors)) / np.sqrt(3))
    values = truth + noise * spread * rng.standard_normal(truth.shape)
    faults = _spoil(values, spread, rng)
    _silence(values, rng)
    columns = [f"{name} {number}" for number, (name, _, _) in enumerate(kinds, 1)]
    return Readings(values, truth, faults & ~np.isnan(values), columns)


def _courses(n_hours: int, rng: Generator) -> Float64Array:
    """Return weather, people and heating over time, each of standard deviation 1."""
    hours = np.arange(n_hours)
    days = np.arange(0, n_hours + 24, 24)
    slow = np.interp(hours, days, rng.standard_normal(len(days)))
    weather = np.sin(2 * np.pi * (hours - 9) / 24) + slow
    at_work = (hours % 24 >= 8) & (hours % 24 < 18) & (hours // 24 % 7 < 5)
    people = at_work * rng.uniform(0.7, 1.3, n_hours)
    heating = np.convolve(rng.standard_normal(n_hours + 11), np.ones(12), "valid")
    courses = np.column_stack([weather, people, heating])
    return (courses - courses.mean(axis=0)) / courses.std(axis=0)


def _spoil(values: Float64Array, spread: Float64Array, rng: Generator) -> BoolArray:
    """Put wrong values into the table; return where."""
    n_hours, n_sensors = values.shape
    faults = rng.random(values.shape) < 0.02
    jumps = rng.choice([-1.0, 1.0], values.shape) * rng.uniform(1.0, 6.0, values.shape)
    values += np.where(faults, jumps * spread, 0.0)
    for sensor in rng.choice(n_sensors, n_sensors // 6 + 1, replace=False):
        start = int(rng.integers(0, n_hours - 24))
        values[start : start + 24, sensor] = values[start, sensor]
        faults[start : start + 24, sensor] = True
    return faults


def _silence(values: Float64Array, rng: Generator) -> None:
    """Take readings out of the table."""
    n_hours, n_sensors = values.shape
    values[rng.random(values.shape) < 0.03] = np.nan
    for sensor in rng.choice(n_sensors, n_sensors // 4, replace=False):
        start = int(rng.integers(0, n_hours - 24))
        values[start : start + 24, sensor] = np.nan
