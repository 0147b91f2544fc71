"""The experiment on misaligned faces: its data, its rivals, and its bars on real faces in small."""

import numpy as np
import pytest

from lab.data import DataMissing
from lab.paper.alignment import FacesApart, rasl, read_sets
from lab.paper.alignment import _run as experiment
from lab.paper.alignment._data import covered, random_change, shifted, warped
from lab.paper.alignment._trials import OURS, family_trials, original_costs, shift_trials
from lab.registry import EXPERIMENTS
from unmingle.alignment.families import AlignedFrame, compose, inverse
from unmingle.synth import displaced_faces

SHAPE = (40, 32)


def made(n, name="Gore", seed=0):
    faces = displaced_faces(n, shift=1.5, random_state=seed)
    starts = np.tile([[1.0, 0, 12.0], [0, 1, 12.0], [0, 0, 1]], (n, 1, 1))
    return FacesApart(name, list(faces.images), SHAPE, starts, 4)


def test_absent_and_damaged_data_are_told(tmp_path):
    with pytest.raises(DataMissing, match=r"rasl_gore.*UNMINGLE_DATA"):
        read_sets(tmp_path)
    for name in ("rasl_gore_000_069.npz", "rasl_dummy.npz"):
        (tmp_path / name).write_bytes(b"nothing")
    with pytest.raises(DataMissing, match="damaged"):
        read_sets(tmp_path)


def test_shifts_and_warps_move_content_as_told(rng):
    image = displaced_faces(1, shift=0.0, noise=0.0, random_state=0).images[0]
    np.testing.assert_allclose(shifted(image, np.array([2.0, -1.0]))[10:40, 10:40], image[11:41, 8:38], atol=1e-5)
    change = np.array([[1.0, 0, 2.0], [0, 1, -1.0], [0, 0, 1]])
    np.testing.assert_allclose(warped(image, change)[10:40, 10:40], image[9:39, 12:42], atol=1e-5)
    hidden = covered(image, np.eye(3), SHAPE, rng)
    assert 0.08 < np.mean(hidden[: SHAPE[0], : SHAPE[1]] == 0.5) < 0.12
    corners = AlignedFrame(*SHAPE).corners[:2].T
    for family in ("affine", "projective"):
        change = random_change(rng, family, corners)
        moved = AlignedFrame(*SHAPE).moves(change)
        assert 0 < moved <= np.sqrt(32) + 1e-9
        assert (abs(change[2, :2]).max() < 1e-12) == (family == "affine")


def test_rasl_aligns_drawn_faces():
    faces = displaced_faces(20, random_state=1)
    starts = np.tile([[1.0, 0, 12.0], [0, 1, 12.0], [0, 0, 1]], (20, 1, 1))
    found = rasl(list(faces.images), SHAPE, starts)
    off = (compose(inverse(faces.matrices), found))[:, :2, 2]
    known = np.c_[np.ones(20), faces.moods]
    rest = off - known @ np.linalg.lstsq(known, off)[0]
    assert np.abs(rest).max() < 0.3
    assert np.abs(found - starts)[:, :2, 2].max() > 1.0


def test_all_figures_are_there(monkeypatch, tmp_path):
    monkeypatch.setattr(experiment, "TRIALS", 12)
    monkeypatch.setattr(experiment, "read_sets", lambda folder: [made(12), made(12, "dummy", 1)])
    heard = []
    result = EXPERIMENTS["alignment"].run(tmp_path, tmp_path, callback=heard.append)
    assert heard[-1].done == heard[-1].total
    assert len(result["shifts"]) == 3
    assert [row["family"] for row in result["families"]] == ["similarity", "affine", "projective"] * 2
    assert len(EXPERIMENTS["alignment"].tables(result)) == 5
    page = (tmp_path / "alignment.html").read_text()
    assert page.count("<img") == 2 * 3 * 3 * 4
    assert (tmp_path / "alignment.json").exists()


@pytest.fixture(scope="module")
def sets(data_dir):
    return {faces.name: faces for faces in read_sets(data_dir)}


@pytest.mark.parametrize(
    ("name", "cover", "mean", "p95"),
    [("Gore", False, 0.03, 0.05), ("Gore", True, 0.06, 0.2), ("dummy", False, 0.05, 0.1)],
)
def test_real_faces_are_found_again(sets, name, cover, mean, p95):
    entry = shift_trials(sets[name], 2, cover=cover)
    ours = entry["methods"][OURS]
    assert ours["mean"] <= mean
    assert ours["p95"] <= p95
    assert ours["beyond_1"] == 0
    assert entry["cost"]["lower"] >= 0.99


def test_real_faces_are_turned_back(sets):
    row = family_trials(sets["Gore"], "similarity", 1)
    assert row["angle"] <= 0.5
    assert row["scale"] <= 0.01
    for family in ("affine", "projective"):
        assert family_trials(sets["Gore"], family, 1)["corner"] <= 0.3


def test_aligning_real_faces_as_they_are_never_costs_more(sets):
    for faces in sets.values():
        costs = original_costs(faces)
        assert costs["aligned"] <= costs["plain"]
        assert costs["not_higher"] >= 0.99
