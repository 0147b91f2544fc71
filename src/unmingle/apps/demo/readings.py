"""A table of sensor readings with faults and gaps, cleaned by robust PCA and by simpler ways; its page."""

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from scipy.ndimage import median_filter

from ..._types import AnyArray, BoolArray, Float64Array
from ...core.decomposition.decompose_matrix import decompose
from ...core.decomposition.result import Decomposition
from ...report.pictures import image, judged_mask
from ...report.pieces import figure, heading, paragraph, table
from ...report.plots import Axis, Series, curves
from ...synth import Readings, sensor_readings
from .judging import COLOURS_IN_WORDS, choose_best_mask

CELL = 6
"""Pixels of a cell from top to bottom, in the picture of the table."""
GAP_COLOUR = (0.86, 0.62, 0.16)
"""Red, green and blue of a gap: a dark yellow."""


@dataclass(frozen=True, eq=False)
class Repair:
    """One way to clean a table: the cells it takes for wrong, and what it would put into the gaps."""

    name: str
    flags: BoolArray
    found: int
    false: int
    error: float
    """Root mean square error in the gaps, in standard deviations of the sensors."""


@dataclass(frozen=True, eq=False)
class ReadingsDemo:
    """A table, what robust PCA makes of it, and all ways, ours first."""

    readings: Readings
    part: Decomposition
    repairs: list[Repair]
    seconds: float

    @property
    def n_faults(self) -> int:
        """How many cells are wrong."""
        return int(np.count_nonzero(self.readings.faults))

    @property
    def n_gaps(self) -> int:
        """How many cells are missing."""
        return int(np.count_nonzero(np.isnan(self.readings.values)))


def clean_readings(seed: int) -> ReadingsDemo:
    """Make the table, find its faults and fill its gaps, in four ways."""
    readings = sensor_readings(random_state=seed)
    X, spread = readings.values, np.nanstd(readings.values, axis=0)
    begin = perf_counter()
    part = decompose(X, scale="columns", debias=True, random_state=seed)
    flags = part.flags()
    seconds = perf_counter() - begin
    means, lines = np.broadcast_to(np.nanmean(X, axis=0), X.shape), _interpolate(X)
    # The fewest components that hold the truth: the mean is taken off, three courses of time remain.
    plain = _approximate_by_pca((np.where(np.isnan(X), means, X) - means) / spread, 3) * spread + means
    repairs = [_judge_repair("robust PCA", readings, part.low_rank, flags)]
    repairs += [
        _judge_repair(name, readings, filled, _choose_best_flags((X - expected) / spread, readings.faults))
        for name, expected, filled in (
            ("mean of the column", means, means),
            ("line between neighbours", median_filter(lines, (5, 1)), lines),
            ("plain PCA", plain, plain),
        )
    ]
    return ReadingsDemo(readings, part, repairs, seconds)


def _interpolate(X: Float64Array) -> Float64Array:
    """Fill each gap of a column by a straight line over it."""
    time, known = np.arange(len(X)), ~np.isnan(X)
    columns = [np.interp(time, time[here], column[here]) for column, here in zip(X.T, known.T, strict=True)]
    return np.column_stack(columns)


def _approximate_by_pca(X: Float64Array, n_components: int) -> Float64Array:
    left, values, right = np.linalg.svd(X, full_matrices=False)
    return (left[:, :n_components] * values[:n_components]) @ right[:n_components]


def _choose_best_flags(departure: Float64Array, faults: BoolArray) -> BoolArray:
    known = ~np.isnan(departure)
    flags = np.zeros(faults.shape, dtype=bool)
    flags[known] = choose_best_mask(departure[known], faults[known])
    return flags


def _judge_repair(name: str, readings: Readings, filled: Float64Array, flags: BoolArray) -> Repair:
    gaps = np.isnan(readings.values)
    departure = (filled - readings.truth) / readings.truth.std(axis=0)
    found, false = np.count_nonzero(flags & readings.faults), np.count_nonzero(flags & ~readings.faults)
    return Repair(name, flags, int(found), int(false), float(np.sqrt(np.mean(departure[gaps] ** 2))))


def summarise_readings(demo: ReadingsDemo) -> dict[str, Any]:
    """The results in numbers."""
    rows, columns = demo.readings.values.shape
    ways = [
        {"name": way.name, "faults_found": way.found, "false_alarms": way.false, "gap_error": way.error}
        for way in demo.repairs
    ]
    return {
        "rows": rows,
        "columns": columns,
        "faults": demo.n_faults,
        "gaps": demo.n_gaps,
        "rank": demo.part.rank,
        "seconds": demo.seconds,
        "ways": ways,
    }


def compare_readings(demo: ReadingsDemo) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the table that compares the ways."""
    head = ["expected values from", f"faults found, of {demo.n_faults}", "false alarms", "error in the gaps"]
    return head, [[way.name, str(way.found), str(way.false), f"{way.error:.2f}"] for way in demo.repairs]


def picture_readings(demo: ReadingsDemo) -> dict[str, AnyArray]:
    """The table as pictures, time to the right: recorded, expected, and the cells that were flagged."""
    truth = demo.readings.truth
    level, spread = truth.mean(axis=0), truth.std(axis=0)

    def shades(values: Float64Array) -> Float64Array:
        return np.clip(0.5 + (values - level) / (5.0 * spread), 0.0, 1.0)

    recorded = np.repeat(shades(demo.readings.values)[..., None], 3, axis=2)
    recorded[np.isnan(demo.readings.values)] = GAP_COLOUR
    pictures: dict[str, AnyArray] = {
        "recorded": recorded,
        "expected": shades(demo.part.low_rank),
        "flagged": judged_mask(demo.repairs[0].flags, demo.readings.faults),
    }
    return {name: picture.swapaxes(0, 1).repeat(CELL, axis=0).repeat(2, axis=1) for name, picture in pictures.items()}


def write_readings(demo: ReadingsDemo) -> list[str]:
    """Everything about the table."""
    ours, mean = demo.repairs[:2]
    n_rows, n_columns = demo.readings.values.shape
    text = (
        f"{n_columns} sensors of a building, read once an hour for two weeks. {demo.n_faults} readings are wrong: some "
        f"jump, some sensors hang and repeat one value. {demo.n_gaps} are missing. A limit for each column finds only "
        "values that are unusual for that sensor. But sensors tell of each other: weather, people and heating move "
        "them all. Robust PCA learns how, and asks of each cell what the others say it should be."
    )
    verdict = (
        f"Robust PCA flags {ours.found + ours.false} cells: {ours.found} of the {demo.n_faults} wrong ones, "
        f"{ours.false} good ones. Many of the others are stuck sensors in hours in which the value is nearly right. "
        f"Into the gaps it puts values that are off by {ours.error:.2f} (in units of how far a sensor moves: its "
        f"standard deviation); the mean of the column is off by {mean.error:.2f}. The three simple ways get the limit "
        f"that suits them best. It took {demo.seconds:.2f} s for {n_rows} rows."
    )
    caption = (
        "The table as a picture: one line for each sensor, time to the right. Above as recorded, with gaps in yellow; "
        "then what robust PCA expects; below the cells that it flags. " + COLOURS_IN_WORDS
    )
    pictures = "".join(image(picture, f"the table, {name}") for name, picture in picture_readings(demo).items())
    return [
        heading("A table: which readings are wrong, and what belongs into the gaps?"),
        paragraph(text),
        figure(f'<div class="stack">{pictures}</div>', caption),
        table(*compare_readings(demo)),
        paragraph(verdict),
        *_show_one_sensor(demo),
    ]


def _show_one_sensor(demo: ReadingsDemo) -> list[str]:
    """The course of the sensor with the most faults that were found."""
    found = demo.repairs[0].flags & demo.readings.faults
    sensor = int(np.argmax(np.count_nonzero(found, axis=0)))
    time = np.arange(len(found)) / 24
    flags = demo.repairs[0].flags[:, sensor]
    recorded, expected = demo.readings.values[:, sensor], demo.part.low_rank[:, sensor]
    plot = curves(
        [
            Series("flagged", time[flags].tolist(), recorded[flags].tolist(), "dots"),
            Series("expected", time.tolist(), expected.tolist()),
            Series("recorded", time[~flags].tolist(), recorded[~flags].tolist(), "dots"),
        ],
        x=Axis("days"),
        y=Axis(demo.readings.columns[sensor]),
        long=True,
    )
    return [figure(plot, "One of the sensors: what it said, and what the others say it should have said.")]
