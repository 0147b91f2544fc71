"""The demo in Python."""

import numpy as np
import pytest

from unmingle.apps import demo
from unmingle.metrics import f_measure


def test_the_report_is_written_by_any_kind_of_path(tmp_path):
    told = []
    done = demo.run(40, 1, told.append)
    assert told[-1].done == demo.figures(done)["street"]["iterations"]
    path = demo.write_report(done, str(tmp_path))
    assert path == tmp_path / "report.html"
    assert done.command in path.read_text(encoding="utf-8")
    for part, comparison in (
        ("street", demo.street_comparison(done.street)),
        ("table", demo.table_comparison(done.table)),
    ):
        assert [way["name"] for way in demo.figures(done)[part]["ways"]] == [row[0] for row in comparison[1]]


@pytest.mark.parametrize("seed", range(3))
def test_no_threshold_is_better_than_the_best_one(seed):
    rng = np.random.default_rng(seed)
    truth = rng.random((20, 30)) < 0.2
    departure = rng.standard_normal(truth.shape) + 2.0 * truth
    best = f_measure(demo.best_mask(departure, truth), truth).f
    others = [f_measure(np.abs(departure) >= size, truth).f for size in np.abs(departure).ravel()]
    assert best == pytest.approx(max(others), rel=1e-12)


def test_without_pyav_all_files_but_the_film_are_written(tmp_path, monkeypatch):
    monkeypatch.setattr("unmingle.apps.demo._files.find_spec", lambda name: None)
    files = demo.write_files(demo.run(20, 0, lambda progress: None), tmp_path)
    assert sorted(files) == ["faces", "readings.csv", "song.wav"]
    assert all(path.exists() for path in files.values())
