"""A table of readings is what its truth says."""

import numpy as np
import pytest

from unmingle.synth import sensor_readings


@pytest.fixture(scope="module", params=[0, 1])
def table(request):
    return sensor_readings(random_state=request.param)


def test_all_but_faults_and_gaps_is_truth_and_noise(table):
    good = ~table.faults & ~np.isnan(table.values)
    off = (table.values - table.truth) / table.truth.std(axis=0)
    assert np.abs(off[good]).max() < 1.0
    assert np.median(np.abs(off[table.faults])) > 1.0
    assert not table.faults[np.isnan(table.values)].any()
    assert 0.01 < table.faults.mean() < 0.06
    assert 0.02 < np.isnan(table.values).mean() < 0.08


def test_sensors_have_units_and_follow_few_courses(table):
    assert len(set(table.columns)) == table.values.shape[1]
    assert np.linalg.matrix_rank(table.truth) == 4


def test_same_seed_gives_the_same_table():
    first, again, other = (sensor_readings(48, 4, random_state=seed).values for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other, equal_nan=True)


@pytest.mark.parametrize("arguments", [{"n_hours": 47}, {"n_sensors": 3}, {"noise": -1.0}])
def test_impossible_tables_are_refused(arguments):
    with pytest.raises(ValueError, match="must"):
        sensor_readings(**arguments)
