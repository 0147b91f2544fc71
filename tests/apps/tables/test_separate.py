"""Tables taken apart in their own units."""

import numpy as np
import pytest

from unmingle import RobustNMF, decompose
from unmingle.apps import tables
from unmingle.apps.tables._parts import decompose_table


@pytest.fixture(scope="module")
def readings():
    """Rank 1 in units of 1, 1000 and 0.01, with one reading that is wrong and one that is missing."""
    rng = np.random.default_rng(0)
    units = np.array([1.0, 1000.0, 0.01, 5.0])
    values = (rng.standard_normal((60, 1)) @ np.ones((1, 4)) + 0.05 * rng.standard_normal((60, 4)) + 3.0) * units
    values[7, 2] += 0.1
    values[20, 1] = np.nan
    return values


def test_parts_add_up_and_missing_cells_are_filled(readings):
    done = decompose_table(readings, random_state=0)
    assert done.strongest(1) == [(7, 2)]
    assert done.figures()["missing"] == 1
    assert done.low_rank[20, 1] == pytest.approx(1000 * np.median(readings[20, [0, 3]] / [1.0, 5.0]), rel=0.1)
    away = readings - done.low_rank - done.outliers
    assert done.figures()["typical_deviation"] == pytest.approx(1.4826 * np.nanmedian(np.abs(away + done.outliers)))


def test_it_is_decompose_by_its_defaults_for_tables(readings):
    alike = readings / [1.0, 1000.0, 0.01, 5.0]
    done = decompose_table(alike, scale=None, debias=False, random_state=0)
    assert np.array_equal(done.low_rank, decompose(alike, random_state=0).low_rank)
    done = decompose_table(readings, random_state=0)
    part = decompose(readings, scale="columns", debias=True, random_state=0)
    assert np.array_equal(done.low_rank, part.low_rank)
    assert done.figures()["flagged"] == np.count_nonzero(part.flags())
    assert done.strongest(0) == []


def test_nonnegative_parts_are_those_of_the_estimator(readings):
    values = np.abs(readings) / [1.0, 1000.0, 0.01, 5.0]
    plain = {"scale": None, "debias": False}
    done = decompose_table(values, nonnegative=True, n_components=2, random_state=0, **plain)
    model = RobustNMF(2, random_state=0).fit(values)
    assert np.array_equal(done.low_rank, model.decompose(values).low_rank)
    assert done.figures()["objective"] == model.objective_
    assert done.figures()["stationarity"] == model.stationarity_
    alike = decompose_table(values * 1000.0, nonnegative=True, n_components=1, random_state=0)
    assert alike.strongest(1) == [(7, 2)]
    assert alike.low_rank.min() >= 0


def test_files_are_read_by_any_kind_of_path(readings, tmp_path):
    np.save(tmp_path / "readings.npy", readings)
    table = tables.read_table(str(tmp_path / "readings.npy"))
    assert np.array_equal(table.values, readings, equal_nan=True)
    with pytest.raises(tables.TableError, match="does not exist"):
        tables.read_table("nowhere.csv")
