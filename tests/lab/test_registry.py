"""What there is is known by name before anything heavy is imported, and each job gets what it declares."""

import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest

from lab.bench.shared.comparisons import names, reports
from lab.data import DataMissing, find_data_folder
from lab.registry import EXPERIMENTS, JOBS, SECTIONS, list_jobs

ROOT = Path(__file__).parents[2]


def test_names_are_known_without_numpy():
    code = "import sys; from lab.__main__ import main; main(); print('numpy' in sys.modules, 'unmingle' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == f"{list_jobs()}\nFalse False\n"


@pytest.mark.parametrize("name", JOBS)
def test_every_job_takes_what_it_declares(name):
    job = JOBS[name]
    declared = {option.name for option in job.options} | ({"folder"} if job.data else set())
    if name in EXPERIMENTS:
        declared |= {"callback"}
        assert len(signature(job.home.tables).parameters) == 1
    assert {*signature(job.home.run).parameters} == declared


def test_the_page_has_the_list():
    assert list_jobs() in (ROOT / "lab" / "README.md").read_text(encoding="utf-8")


def test_sections_are_the_comparisons_in_their_order():
    assert sorted(SECTIONS) == names()
    assert list(SECTIONS) == list(reports())


def test_the_given_folder_comes_before_that_of_the_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("UNMINGLE_DATA", str(tmp_path))
    assert find_data_folder(None) == tmp_path
    (tmp_path / "other").mkdir()
    assert find_data_folder(tmp_path / "other") == tmp_path / "other"
    with pytest.raises(DataMissing, match="nowhere is not a folder"):
        find_data_folder(tmp_path / "nowhere")
    monkeypatch.setenv("UNMINGLE_DATA", "")
    with pytest.raises(DataMissing, match="No data"):
        find_data_folder(None)
