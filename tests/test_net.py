"""Results of many small jobs are what they were; tests/helpers/net.py holds them to the last bit, on one processor."""

import json

import numpy as np
import pytest
from helpers.net import JOBS, STORED, compare, missing_packages, results_of, summary

VALUES = json.loads(STORED.read_text(encoding="utf-8"))


def test_every_job_has_stored_values():
    assert VALUES.keys() == JOBS.keys()


@pytest.mark.parametrize("name", JOBS)
def test_results_are_what_they_were(name):
    """Up to ten times what they differ from processor to processor."""
    if missing := missing_packages(name):
        pytest.skip(f"needs {', '.join(missing)}")
    found = summary(results_of(name))
    assert found.keys() == VALUES[name].keys()
    off = [
        f"{key}: {found[key]!r}, was {value!r} (tolerance {tolerance:.1e})"
        for key, (value, tolerance) in VALUES[name].items()
        if not abs(found[key] - value) <= tolerance
    ]
    assert not off, "\n".join(off)


def test_one_bit_is_a_difference(tmp_path, capsys):
    old, new = tmp_path / "old.npz", tmp_path / "new.npz"
    values = np.array([1.0, np.nan, 3.0])
    np.savez(old, **{"one/values": values, "other/values": values})
    np.savez(new, **{"one/values": values, "other/values": np.array([1.0, np.nan, np.nextafter(3.0, 4.0)])})
    assert compare(old, old) == 0
    assert compare(old, new) == 1
    assert capsys.readouterr().out.splitlines()[3:5] == [
        "one: same",
        "other: values largest relative difference 1.48e-16",
    ]
