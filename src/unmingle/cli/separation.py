"""What `unmingle decompose` does with a table."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..decomposition import Decomposition, decompose
from .files import Table
from .summary import noise_level

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Separation:
    """A table and its parts, in the units of the table; `part` holds the figures of the solver."""

    table: Table
    low_rank: Array
    outliers: Array
    part: Decomposition


def separate(table: Table, *, standardize: bool, **options: Any) -> Separation:
    """Decompose a table; `options` are those of `unmingle.decompose`."""
    centre, scale = columnwise_level(table.values) if standardize else (0.0, 1.0)
    part = decompose((table.values - centre) / scale if standardize else table.values, **options)
    return Separation(table, part.low_rank * scale + centre, part.outliers * scale, part)


def columnwise_level(values: Array) -> tuple[Array, Array]:
    """Return centre and scale of each column; columns that are constant or missing have scale 1."""
    centre, spread = _centre_and_spread(values)
    return centre, np.where(spread > 0.0, spread, spread.dtype.type(1.0))


def ratio_of_scales(values: Array) -> float:
    """Return how many times more the liveliest column varies than the quietest one that varies at all."""
    spread = _centre_and_spread(values)[1]
    return float(spread.max() / spread[spread > 0.0].min()) if spread.any() else 1.0


def _centre_and_spread(values: Array) -> tuple[Array, Array]:
    """Return the median of each column and the median distance from it or, where that is 0, the mean distance."""
    known = np.where(np.isnan(values).all(axis=0), 0.0, values)
    centre = np.nanmedian(known, axis=0)
    distance = np.abs(known - centre)
    median, mean = np.nanmedian(distance, axis=0), np.nanmean(distance, axis=0)
    return centre, np.where(median > 0.0, median, mean)


def write_parts(separation: Separation, folder: Path, path: Path) -> dict[str, str]:
    """Write the parts in the format of the table; return the path of each."""
    parts = {"low_rank": separation.low_rank, "outliers": separation.outliers}
    targets = {name: folder / f"{path.stem}.{name}{path.suffix}" for name in parts}
    for name, values in parts.items():
        separation.table.write(targets[name], values)
    return {name: str(target) for name, target in targets.items()}


def strongest_outliers(separation: Separation, count: int) -> list[dict[str, Any]]:
    """Return the largest outliers, by the size the solver saw, with the names of their rows and columns."""
    sizes = np.abs(separation.part.outliers).ravel()
    largest = np.argsort(sizes)[::-1][:count]
    return [
        _cell(separation, *np.unravel_index(place, separation.outliers.shape)) for place in largest if sizes[place] > 0
    ]


def _cell(separation: Separation, row: int, column: int) -> dict[str, Any]:
    value, expected = float(separation.table.values[row, column]), float(separation.low_rank[row, column])
    return {
        "row": separation.table.rows[row],
        "column": separation.table.columns[column],
        "value": value,
        "expected": expected,
        "deviation": value - expected,
    }


def figures(separation: Separation) -> dict[str, Any]:
    """Return the results in numbers."""
    part, values = separation.part, separation.table.values
    return {
        "rows": values.shape[0],
        "columns": values.shape[1],
        "missing": int(np.count_nonzero(np.isnan(values))),
        "rank": part.rank,
        "rank_penalty": float(part.rank_penalty),
        "outlier_penalty": float(part.outlier_penalty),
        "typical_deviation": noise_level(values - separation.low_rank),
        "objective": float(part.objective),
        "gap": float(part.gap),
        "iterations": int(part.n_iter),
        "converged": bool(part.converged),
    }
