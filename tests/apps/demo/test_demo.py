"""The demo in Python."""

import numpy as np
import pytest

from unmingle.apps.demo.demonstration import DemoSettings, run_demo
from unmingle.apps.demo.judging import choose_best_mask
from unmingle.apps.demo.readings import compare_readings
from unmingle.apps.demo.street import compare_street
from unmingle.metrics import f_measure


def test_the_report_is_written_by_any_kind_of_path(tmp_path):
    told = []
    done = run_demo(str(tmp_path / "new" / "folder"), DemoSettings(seed=1, frames=40), progress=told.append)
    assert told[-1].done == done.summary()["street"]["iterations"]
    path = done.written["report.html"]
    assert path == tmp_path / "new" / "folder" / "report.html"
    assert done.command in path.read_text(encoding="utf-8")
    for part, comparison in (
        ("street", compare_street(done.street)),
        ("table", compare_readings(done.readings)),
    ):
        assert [way["name"] for way in done.summary()[part]["ways"]] == [row[0] for row in comparison[1]]


@pytest.mark.parametrize(("name", "value"), [("seed", -1), ("frames", 9), ("frames", 2001), ("frames", 40.5)])
def test_settings_keep_their_rules(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a whole number"):
        DemoSettings(**{name: value})


@pytest.mark.parametrize("seed", range(3))
def test_no_threshold_is_better_than_the_best_one(seed):
    rng = np.random.default_rng(seed)
    truth = rng.random((20, 30)) < 0.2
    departure = rng.standard_normal(truth.shape) + 2.0 * truth
    best = f_measure(choose_best_mask(departure, truth), truth).f
    others = [f_measure(np.abs(departure) >= size, truth).f for size in np.abs(departure).ravel()]
    assert best == pytest.approx(max(others), rel=1e-12)


def test_without_pyav_all_files_but_the_film_are_written(tmp_path, monkeypatch):
    monkeypatch.setattr("unmingle.apps.demo.demonstration.find_spec", lambda name: None)
    files = run_demo(tmp_path, DemoSettings(frames=20)).written
    assert sorted(files) == ["faces", "readings.csv", "report.html", "song.wav"]
    assert all(path.exists() for path in files.values())
