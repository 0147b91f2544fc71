"""The command line: results, sentences and exit codes."""

import base64
import io
import json
import re
import subprocess
import sys
import wave
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from unmingle.apps.tables import read_table
from unmingle.media import open_frames
from unmingle.media.images import image_paths


def test_the_same_demo_gives_the_same_figures(run):
    figures = [json.loads(run("demo", "--frames", "40", "--json").out) for _ in range(2)]
    for found in figures:
        for way in found["street"]["ways"]:
            del way["seconds"]
        for part in ("table", "song"):
            del found[part]["seconds"]
        del found["street"]["first_call_seconds"]
    assert figures[0] == figures[1]


class Sources(HTMLParser):
    """Collects what a page loads, and checks that its elements are closed in order."""

    EMPTY = frozenset({"img", "meta", "source"})

    def __init__(self):
        super().__init__()
        self.loaded, self.open, self.elements = [], [], []

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.loaded += [value for name, value in attrs if name in ("src", "srcset", "href")]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def demo_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "new folder"
    code = "from unmingle.cli import main; main()"
    command = [sys.executable, "-c", code, "demo", "--out", str(folder), "--seed", "1", "--frames", "60", "--json"]
    return folder, subprocess.run(command, capture_output=True, text=True, check=False)


def test_demo_beats_the_simple_ways_and_meets_the_truth(demo_run):
    folder, done = demo_run
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    street, table, song = result["street"], result["table"], result["song"]
    ours, stream, median, moving, pca, truth = (way["f"] for way in street["ways"])
    assert ours > max(moving, pca, stream)
    assert ours > median + 0.2
    assert abs(ours - truth) < 0.04
    assert 3 <= street["rank"] <= 5
    assert street["converged"] is True
    ours, *others = table["ways"]
    assert ours["faults_found"] > 0.7 * table["faults"]
    assert ours["false_alarms"] < 0.05 * table["faults"]
    for way in others:
        assert ours["faults_found"] > way["faults_found"]
        assert ours["gap_error"] < way["gap_error"] / 3
    assert min(song["voice_gain"], song["music_gain"]) > 2
    assert result["report"] == str(folder / "report.html")


def test_the_data_of_the_demo_are_what_the_commands_read(demo_run):
    result = json.loads(demo_run[1].stdout)
    files = {name: Path(path) for name, path in result["files"].items()}
    assert set(files) == {"readings.csv", "song.wav", "faces", "street.mp4"}
    table = read_table(files["readings.csv"])
    assert table.values.shape == (result["table"]["rows"], result["table"]["columns"])
    assert np.count_nonzero(np.isnan(table.values)) == result["table"]["gaps"]
    with open_frames(files["street.mp4"]) as frames:
        assert sum(1 for _ in frames) == 60
    assert len(image_paths(files["faces"])) == 40


def test_demo_report_is_complete_and_self_contained(demo_run):
    folder, _ = demo_run
    text = (folder / "report.html").read_text(encoding="utf-8")
    page = Sources()
    page.feed(text)
    assert page.open == []
    written = re.sub(r"base64,[A-Za-z0-9+/=]*", "", text)  # a picture may spell anything
    assert "http" not in written
    assert "url(" not in written
    assert all(source.startswith(("data:image/", "data:audio/wav")) for source in page.loaded)
    sounds = [source for source in page.loaded if source.startswith("data:audio/")]
    for source in sounds:
        with wave.open(io.BytesIO(base64.b64decode(source.partition(",")[2]))) as sound:
            assert (sound.getframerate(), sound.getnframes()) == (16000, 8 * 16000)
    assert len(sounds) == 3
    assert page.elements.count("svg") == 3
    assert page.elements.count("img") == 1 + 5 * 5 + 3 + 3
    assert "unmingle demo --seed 1 --frames 60" in text
    pictures = [
        Image.open(io.BytesIO(base64.b64decode(source.partition(",")[2])))
        for source in page.loaded
        if source not in sounds
    ]
    assert sorted({picture.format for picture in pictures}) == ["PNG", "WEBP"]
    assert [picture.n_frames for picture in pictures if picture.format == "WEBP"] == [60]
    assert sum(picture.size == (160, 120) for picture in pictures) == 25
    with Image.open(folder / "film_strip.png") as strip:
        assert strip.size == (5 * 160 + 4 * 3, 5 * 120 + 4 * 3)


def test_demo_prints_a_table_and_the_path_last(run, tmp_path):
    ended = run("demo", "--frames", "40")
    assert ended.code == 0
    for words in (
        "robust PCA",
        "plain PCA",
        "median of all frames",
        "F-measure",
        "faults found",
        "voice",
        "readings.csv",
    ):
        assert words in ended.out
    assert ended.out.splitlines()[-1] == f"report: {Path('unmingle-demo') / 'report.html'}"
    assert (tmp_path / "unmingle-demo" / "report.html").exists()
