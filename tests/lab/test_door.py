"""`python -m lab`: one list, one parser, one sentence for what is missing."""

import json
from pathlib import Path

import pytest
from command_line import Ended, failed
from made_faces import made_faces, write_pictures

from lab import __main__ as door
from lab.data import DataMissing
from lab.paper.video import reproduce_video
from lab.paper.video._data import HALL
from lab.registry import EXPERIMENTS, JOBS, Experiment, Option, list_jobs


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run the door in an empty folder and return how it ended."""
    monkeypatch.chdir(tmp_path)

    def run_door(*arguments):
        code, sentence = 0, ""
        try:
            door.main([str(argument) for argument in arguments])
        except SystemExit as end:
            code, sentence = (end.code, "") if isinstance(end.code, int) else (1, f"{end.code}\n")
        out, err = capsys.readouterr()
        return Ended(code, out, err + sentence)

    return run_door


def test_without_a_name_it_lists_all_there_is(run):
    assert run() == Ended(0, list_jobs() + "\n", "")


def test_a_job_offers_what_it_declares_and_no_more(run):
    for job in JOBS.values():
        words = run(job.name, "--help").out
        assert ("--data" in words) == bool(job.data)
        assert ("--json" in words) == isinstance(job, Experiment)
        assert ("--max-steps" in words) == ("max_steps" in {option.name for option in job.options})
        for option in job.options:
            assert " ".join(option.help.split()) in " ".join(words.split())
    assert run("alignment", "--max-steps", 3).code == 2
    assert run("table2").code == 2


def test_sections_are_named_one_after_the_other(run, monkeypatch):
    given = []
    monkeypatch.setattr("lab.bench.shared.command.run", lambda **options: given.append(options))
    run("bench")
    run("bench", "pcp", "video", "--quick", "--data", ".")
    assert given[0] == {"folder": None, "sections": [], "quick": False, "out": None}
    assert given[1] == {"folder": Path(), "sections": ["pcp", "video"], "quick": True, "out": None}
    ended = run("bench", "speed")
    assert ended.code == 2
    assert "'speed' is not one of pcp, " in ended.err


def test_an_experiment_writes_figures_and_a_page(run, rng, tmp_path):
    write_pictures(tmp_path / "film", made_faces(rng, 230))
    ended = run("online", "--data", tmp_path / "film", "--out", "results", "--max-steps", 5)
    assert ended.code == 0, ended
    assert "| mean F of later faces |" in ended.out
    assert "results/online.html" in ended.out
    assert ended.err.splitlines()[-1] == "online: 230 of 230"
    assert (tmp_path / "results" / "online.html").read_text().startswith("<!doctype html>")
    written = json.loads((tmp_path / "results" / "online.json").read_text())
    assert written["settings"]["steps"] == 5
    again = run("online", "--data", tmp_path / "film", "--out", "results", "--max-steps", 5, "--json")
    assert json.loads(again.out) == written


def test_it_says_where_data_are_looked_for(run, tmp_path, monkeypatch):
    monkeypatch.delenv("UNMINGLE_DATA", raising=False)
    assert failed(run("table1"), "--data", "UNMINGLE_DATA")
    assert failed(run("table1", "--data", "nowhere"), "nowhere is not a folder")
    assert failed(run("online", "--data", tmp_path), "contains no faces")


def test_it_says_which_films_are_missing(run, tmp_path):
    with pytest.raises(DataMissing, match="contains no films"):
        reproduce_video(tmp_path, tmp_path)
    assert failed(run("video", "--data", tmp_path), HALL, "UNMINGLE_DATA")
    (tmp_path / HALL).write_bytes(b"nothing")
    assert failed(run("video", "--data", tmp_path), "is damaged")


def test_it_says_which_packages_are_missing(run, tmp_path, monkeypatch):
    monkeypatch.setattr("lab.registry.find_spec", lambda name: None)
    sentence = "voices needs soundfile and torch: pip install soundfile torch"
    assert failed(run("voices", "--data", tmp_path), sentence)


def test_options_of_one_name_are_the_same_for_all_experiments():
    options = {option for experiment in EXPERIMENTS.values() for option in experiment.options}
    assert {option.name for option in options} == {"out", "max_steps", "n_jobs"}
    assert len(options) == 3
    assert all(isinstance(option, Option) for option in options)
