"""`python -m lab nonnegative` on made faces and made sounds."""

import json

import numpy as np
import pytest
from made_faces import made_faces

from lab.data import DataMissing
from lab.paper.nonnegative import read_cases
from lab.registry import EXPERIMENTS

SPLITS = (1, 2, 3)


@pytest.fixture
def folder(rng, tmp_path):
    """Eight songs of one clip each, and eight people with eight pictures."""
    soundfile = pytest.importorskip("soundfile")
    sounds = tmp_path / "audio" / "mir1k" / "train"
    sounds.mkdir(parents=True)
    time = np.arange(60_000) / 16_000
    for song in range(8):
        tones = [np.sin(2 * np.pi * 220 * (song + k) * time) * (1 + np.sin(9 * k * time)) for k in (1, 2)]
        soundfile.write(sounds / f"anna_{song}_1.flac", 0.2 * np.stack(tones, axis=1), 16_000)
    images = np.rint(255 * made_faces(rng, 64)).astype(np.uint8)
    np.savez(tmp_path / "yaleB_half_8subjects.npz", images=images, subject=np.repeat(np.arange(8), 8))
    return tmp_path


def test_songs_and_faces_are_tested_on_that_were_not_trained_on(folder):
    cases = read_cases(folder)
    assert [case.name for case in cases] == [
        f"{kind}, split {seed}" for kind in ("spectrogram frames", "Yale faces") for seed in SPLITS
    ]
    for case in cases:
        rows = {row.tobytes() for row in case.train}
        assert not any(row.tobytes() in rows for row in case.test)
        assert case.train.min() >= 0
    assert cases[0].how == "2 of 8 songs left out"
    assert cases[0].train.shape[1] == 513
    tests = [case.test.tobytes() for case in cases]
    assert len(set(tests)) == len(tests)


def test_figures_tables_and_page_agree(folder, tmp_path):
    calls, out = [], tmp_path / "out"
    out.mkdir()
    (folder / "audio").rename(tmp_path / "elsewhere")
    result = EXPERIMENTS["nonnegative"].run(folder, out, max_steps=10, callback=calls.append)
    assert json.loads((out / "nonnegative.json").read_text()) == result
    assert len(calls) == 2 * len(SPLITS)
    for case in result["cases"].values():
        untrained, trained = (one["cost"] for one in case["encoders"].values())
        assert case["exact"] < trained < untrained
        assert all(one["above"] == pytest.approx(one["cost"] / case["exact"] - 1) for one in case["encoders"].values())
    ((_, rows),) = EXPERIMENTS["nonnegative"].tables(result)
    shares = [case["encoders"]["trained, untied"]["above"] for case in result["cases"].values()]
    assert rows[-1][0] == "Yale faces, 3 splits"
    assert f"{100 * np.mean(shares):.2f} %, worst {100 * max(shares):.2f} %" in rows[-1]
    page = (out / "nonnegative.html").read_text()
    assert page.startswith("<!doctype html>")
    assert f"worst {100 * max(shares):.2f} %" in page


def test_absent_data_are_told(tmp_path):
    with pytest.raises(DataMissing, match="neither audio/mir1k"):
        read_cases(tmp_path)
