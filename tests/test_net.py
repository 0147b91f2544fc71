"""Results of many small jobs are what they were; tests/helpers/net.py holds them to the last bit, on one processor."""

import json

import pytest
from helpers.net import JOBS, STORED, missing_packages, results_of, summary

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
