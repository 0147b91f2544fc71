"""`unmingle reproduce`."""

import json

import pytest
from command_line import failed
from made_faces import made_faces, write_pictures

from unmingle.reproduce import EXPERIMENTS, DataMissing
from unmingle.reproduce.video import reproduce_video
from unmingle.reproduce.video._data import HALL


def test_the_command_offers_all_of_them(run):
    def unwrapped(text):
        return " ".join(text.replace("│", " ").split())

    words = unwrapped(run("reproduce", "--help").out)
    assert all(f"{name}: {EXPERIMENTS[name].help}." in words for name in EXPERIMENTS)
    ended = run("reproduce", "table2")
    assert ended.code == 2
    assert f"is not one of {', '.join(map(repr, EXPERIMENTS))}." in unwrapped(ended.err)


def test_command_writes_figures_and_a_page(run, rng, tmp_path):
    write_pictures(tmp_path / "film", made_faces(rng, 230))
    ended = run("reproduce", "online", "--data", tmp_path / "film", "--out", "results", "--max-steps", 5)
    assert ended.code == 0, ended
    assert "online" in ended.out
    assert (tmp_path / "results" / "online.html").read_text().startswith("<!doctype html>")
    assert json.loads((tmp_path / "results" / "online.json").read_text())["settings"]["steps"] == 5


def test_command_says_where_data_are_looked_for(run, tmp_path, monkeypatch):
    monkeypatch.delenv("UNMINGLE_DATA", raising=False)
    assert failed(run("reproduce", "table1"), "--data", "UNMINGLE_DATA")
    assert failed(run("reproduce", "table1", "--data", "nowhere"), "nowhere is not a folder")
    assert failed(run("reproduce", "online", "--data", tmp_path), "contains no faces")
    assert run("reproduce", "table2").code == 2


def test_command_says_which_films_are_missing(run, tmp_path):
    with pytest.raises(DataMissing, match="contains no films"):
        reproduce_video(tmp_path, tmp_path)
    assert failed(run("reproduce", "video", "--data", tmp_path), HALL, "UNMINGLE_DATA")
    (tmp_path / HALL).write_bytes(b"nothing")
    assert failed(run("reproduce", "video", "--data", tmp_path), "is damaged")
