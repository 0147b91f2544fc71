"""What is no file, names that other programs would run or refuse, and the wish of the system to end."""

import csv
import os
import subprocess
import sys

import numpy as np
import pytest
from command_line import failed
from openpyxl import load_workbook
from PIL import Image

from unmingle.synth import displaced_faces

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs named pipes and signals of POSIX")


@pytest.fixture
def faces(tmp_path):
    folder = tmp_path / "faces"
    folder.mkdir()
    for number, image in enumerate(displaced_faces(6, random_state=0).images):
        Image.fromarray(np.rint(255 * image).astype(np.uint8)).save(folder / f"{number}.png")
    return folder


def table(path, names):
    X = np.random.default_rng(0).standard_normal((40, 1)) + 0.1 * np.random.default_rng(1).standard_normal((40, 4))
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *X.tolist()])


def test_control_characters_in_excel_files(run, tmp_path):
    table(tmp_path / "t.csv", ["a\x07b", "c", "d", "e"])
    ended = run("decompose", "t.csv", "-o", "x.xlsx")
    assert ended.code == 0, ended.err
    assert next(load_workbook(tmp_path / "x.xlsx").active.iter_rows(values_only=True))[0] == "a_x0007_b"


def test_names_of_images_are_not_run_by_spreadsheets(run, faces, tmp_path):
    (faces / "0.png").rename(faces / "=cmd|' -C calc'!A0.png")
    (faces / "@x.png").write_bytes(b"no image")
    assert run("align", faces, "-o", tmp_path / "out", "--quiet").code == 0
    with (tmp_path / "out" / "transformations.csv").open(encoding="utf-8") as file:
        names = [row[0] for row in csv.reader(file)]
    assert "'=cmd|' -C calc'!A0.png" in names
    assert "'@x.png" in names


@POSIX
def test_pipes_are_not_waited_for(run, faces, tmp_path):
    os.mkfifo(faces / "pipe.png")
    os.mkfifo(tmp_path / "pipe.wav")
    assert run("align", faces, "-o", tmp_path / "out", "--quiet").code == 0
    assert failed(run("audio", "pipe.wav", "-o", "stems"), "pipe.wav is not a file; expected a sound file")
    region = run("video", faces, "--region", faces / "pipe.png")
    assert failed(region, "pipe.png is not a file; expected an image")


@POSIX
@pytest.mark.parametrize(
    "command",
    [
        ("decompose", "loop.csv"),
        ("audio", "loop.wav", "-o", "stems"),
        ("video", "loop.mp4"),
        ("info", "loop.safetensors"),
        ("align", "loop"),
    ],
    ids=lambda command: command[0],
)
def test_links_that_lead_nowhere(run, tmp_path, command):
    (tmp_path / command[1]).symlink_to(command[1])
    assert failed(run(*command), f"{command[1]} is a link that leads nowhere")


ENDED = """
import os, signal, sys, time
from pathlib import Path
from unmingle import store
from unmingle.cli import main

put = Path.write_bytes

def write_bytes(path, content):
    put(path, content)
    if path.name.startswith(".unmingle-"):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)

Path.write_bytes = write_bytes
main()
"""


@POSIX
def test_termination_leaves_nothing_half_done(tmp_path):
    """A command is told to end just when a temporary file is written."""
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((60, 8)))
    for command in (("fit", "x.npy", "-o", "m.safetensors"), ("decompose", "x.npy", "-o", "c.npy")):
        done = subprocess.run(
            [sys.executable, "-c", ENDED, *command], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 143, done.stderr
        assert done.stderr.splitlines()[-1] == "Terminated; incomplete results are not kept."
        assert not list(tmp_path.glob(".*"))
