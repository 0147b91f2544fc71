"""What the page of the demo shows and says of the table."""

import numpy as np

from ..._types import AnyArray
from ...report.pictures import image, judged_mask
from ...report.pieces import figure, heading, paragraph, table
from ...report.plots import Axis, Series, curves
from ._judging import COLOURS
from ._readings import TableDemo, table_comparison

CELL = 6
"""Pixels of a cell from top to bottom."""
GAP = (0.86, 0.62, 0.16)


def table_pictures(demo: TableDemo) -> dict[str, AnyArray]:
    """The table as pictures, time to the right: recorded, expected, and the cells that were flagged."""
    truth = demo.table.truth
    level, spread = truth.mean(axis=0), truth.std(axis=0)

    def shades(values: AnyArray) -> AnyArray:
        return np.clip(0.5 + (values - level) / (5.0 * spread), 0.0, 1.0)

    recorded = np.repeat(shades(demo.table.values)[..., None], 3, axis=2)
    recorded[np.isnan(demo.table.values)] = GAP
    pictures = {
        "recorded": recorded,
        "expected": shades(demo.part.low_rank),
        "flagged": judged_mask(demo.repairs[0].flags, demo.table.faults),
    }
    return {name: picture.swapaxes(0, 1).repeat(CELL, axis=0).repeat(2, axis=1) for name, picture in pictures.items()}


def table_section(demo: TableDemo) -> list[str]:
    """Everything about the table."""
    ours, mean = demo.repairs[:2]
    n_rows, n_columns = demo.table.values.shape
    text = (
        f"{n_columns} sensors of a building, read once an hour for two weeks. {demo.n_faults} readings are wrong: some "
        f"jump, some sensors hang and repeat one value. {demo.n_gaps} are missing. A limit for each column finds only "
        "values that are unusual for that sensor. But sensors tell of each other: weather, people and heating move "
        "them all. Robust PCA learns how, and asks of each cell what the others say it should be."
    )
    told = (
        f"Robust PCA flags {ours.found + ours.false} cells: {ours.found} of the {demo.n_faults} wrong ones, "
        f"{ours.false} good ones. Many of the others are stuck sensors in hours in which the value is nearly right. "
        f"Into the gaps it puts values that are off by {ours.error:.2f} (in units of how far a sensor moves: its "
        f"standard deviation); the mean of the column is off by {mean.error:.2f}. The three simple ways get the limit "
        f"that suits them best. It took {demo.seconds:.2f} s for {n_rows} rows."
    )
    caption = (
        "The table as a picture: one line for each sensor, time to the right. Above as recorded, with gaps in yellow; "
        "then what robust PCA expects; below the cells that it flags. " + COLOURS
    )
    pictures = "".join(image(picture, f"the table, {name}") for name, picture in table_pictures(demo).items())
    return [
        heading("A table: which readings are wrong, and what belongs into the gaps?"),
        paragraph(text),
        figure(f'<div class="stack">{pictures}</div>', caption),
        table(*table_comparison(demo)),
        paragraph(told),
        *_one_sensor(demo),
    ]


def _one_sensor(demo: TableDemo) -> list[str]:
    """The course of the sensor with the most faults that were found."""
    found = demo.repairs[0].flags & demo.table.faults
    sensor = int(np.argmax(np.count_nonzero(found, axis=0)))
    time = np.arange(len(found)) / 24
    flags = demo.repairs[0].flags[:, sensor]
    recorded, expected = demo.table.values[:, sensor], demo.part.low_rank[:, sensor]
    plot = curves(
        [
            Series("flagged", time[flags].tolist(), recorded[flags].tolist(), "dots"),
            Series("expected", time.tolist(), expected.tolist()),
            Series("recorded", time[~flags].tolist(), recorded[~flags].tolist(), "dots"),
        ],
        x=Axis("days"),
        y=Axis(demo.table.columns[sensor]),
        long=True,
    )
    return [figure(plot, "One of the sensors: what it said, and what the others say it should have said.")]
