"""A table of sensor readings with faults and gaps, looked after by robust PCA and by simpler ways."""

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from scipy.ndimage import median_filter

from ..._types import AnyArray
from ...core.decomposition.decompose_matrix import decompose
from ...core.decomposition.result import Decomposition
from ...synth import Readings, sensor_readings
from ._judging import best_mask


@dataclass(frozen=True, eq=False)
class Repair:
    """One way to look after a table: the cells it takes for wrong, and what it would put into the gaps."""

    name: str
    flags: AnyArray
    found: int
    false: int
    error: float
    """Root mean square error in the gaps, in standard deviations of the sensors."""


@dataclass(frozen=True, eq=False)
class TableDemo:
    """A table, what robust PCA makes of it, and all ways, ours first."""

    table: Readings
    part: Decomposition
    repairs: list[Repair]
    seconds: float

    @property
    def n_faults(self) -> int:
        """How many cells are wrong."""
        return int(np.count_nonzero(self.table.faults))

    @property
    def n_gaps(self) -> int:
        """How many cells are missing."""
        return int(np.count_nonzero(np.isnan(self.table.values)))


def run_table(seed: int) -> TableDemo:
    """Make the table, find its faults and fill its gaps, in four ways."""
    table = sensor_readings(random_state=seed)
    X, spread = table.values, np.nanstd(table.values, axis=0)
    begin = perf_counter()
    part = decompose(X, scale="columns", debias=True, random_state=seed)
    flags = part.flags()
    seconds = perf_counter() - begin
    means, lines = np.broadcast_to(np.nanmean(X, axis=0), X.shape), _lines(X)
    # The fewest components that hold the truth: the mean is taken off, three courses of time remain.
    plain = _plain_pca((np.where(np.isnan(X), means, X) - means) / spread, 3) * spread + means
    repairs = [_repair("robust PCA", table, part.low_rank, flags)]
    repairs += [
        _repair(name, table, filled, _best_flags((X - expected) / spread, table.faults))
        for name, expected, filled in (
            ("mean of the column", means, means),
            ("line between neighbours", median_filter(lines, (5, 1)), lines),
            ("plain PCA", plain, plain),
        )
    ]
    return TableDemo(table, part, repairs, seconds)


def _lines(X: AnyArray) -> AnyArray:
    """Fill each gap of a column by a straight line over it."""
    time, known = np.arange(len(X)), ~np.isnan(X)
    columns = [np.interp(time, time[here], column[here]) for column, here in zip(X.T, known.T, strict=True)]
    return np.column_stack(columns)


def _plain_pca(X: AnyArray, n_components: int) -> AnyArray:
    left, values, right = np.linalg.svd(X, full_matrices=False)
    return (left[:, :n_components] * values[:n_components]) @ right[:n_components]


def _best_flags(departure: AnyArray, faults: AnyArray) -> AnyArray:
    known = ~np.isnan(departure)
    flags = np.zeros(faults.shape, dtype=bool)
    flags[known] = best_mask(departure[known], faults[known])
    return flags


def _repair(name: str, table: Readings, filled: AnyArray, flags: AnyArray) -> Repair:
    gaps = np.isnan(table.values)
    departure = (filled - table.truth) / table.truth.std(axis=0)
    found, false = np.count_nonzero(flags & table.faults), np.count_nonzero(flags & ~table.faults)
    return Repair(name, flags, int(found), int(false), float(np.sqrt(np.mean(departure[gaps] ** 2))))


def table_figures(demo: TableDemo) -> dict[str, Any]:
    """The results in numbers."""
    rows, columns = demo.table.values.shape
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


def table_comparison(demo: TableDemo) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the table that compares the ways."""
    head = ["expected values from", f"faults found, of {demo.n_faults}", "false alarms", "error in the gaps"]
    return head, [[way.name, str(way.found), str(way.false), f"{way.error:.2f}"] for way in demo.repairs]
