"""A whole job on images in one call: what comes back, what is written, and what is refused."""

import csv

import numpy as np
import pytest
from PIL import Image

import unmingle
from unmingle.apps import alignment
from unmingle.apps.alignment import Outputs, Settings, separate
from unmingle.synth import displaced_faces

SETTINGS = Settings(shape=(48, 40), n_components=4)


@pytest.fixture(scope="module")
def faces():
    return displaced_faces(12, random_state=0).images


@pytest.fixture(scope="module")
def plain(faces):
    """The result without a folder."""
    return separate(faces, settings=SETTINGS)


def test_arrays_are_aligned_as_the_function_does(faces, plain):
    expected = unmingle.align(faces, shape=(48, 40), n_components=4)
    np.testing.assert_array_equal(plain.alignment.matrices, expected.matrices)
    np.testing.assert_array_equal(plain.alignment.outliers, expected.outliers)
    assert (plain.names[0], plain.names[-1]) == ("image00", "image11")
    assert plain.written == {}
    assert plain.warnings == ()
    figures = plain.summary()
    assert figures == {
        "images": 12, "aligned": 12, "not_aligned": {}, "motion": "translation", "height": 48, "width": 40,
        "components": expected.codes.shape[1], "mean_cost": pytest.approx(expected.cost.mean()), "written": {},
    }  # fmt: skip
    assert plain.summary_text()["frame"] == "40 x 48 pixels"
    assert repr(plain) == "Result(12 of 12 images aligned)"


def test_everything_is_written_into_a_folder(faces, plain, tmp_path):
    done = []
    result = separate(list(faces), Outputs(tmp_path / "new" / "out"), SETTINGS, progress=done.append)
    assert done[-1].done <= done[-1].total
    assert set(result.written) == {"aligned", "low_rank", "outliers", "transformations", "model", "page"}
    assert result.summary()["written"]["page"] == str(tmp_path / "new" / "out" / "align.html")
    for part in ("aligned", "low_rank", "outliers"):
        assert len(list(result.written[part].iterdir())) == 12
    with result.written["transformations"].open(newline="") as file:
        assert [row["file"] for row in csv.DictReader(file)] == list(plain.names)
    loaded = unmingle.load(result.written["model"])
    np.testing.assert_array_equal(loaded.components_, plain.aligner.components_)


def test_a_model_is_used_as_it_is(plain, tmp_path):
    new = displaced_faces(3, random_state=1).images
    expected = plain.aligner.align(new).matrices
    plain.aligner.save(tmp_path / "model.safetensors")
    for model in (plain.aligner, tmp_path / "model.safetensors", str(tmp_path / "model.safetensors")):
        result = separate(new, Outputs(tmp_path), Settings(model=model))
        np.testing.assert_array_equal(result.alignment.matrices, expected)
        assert "model" not in result.written
    separate(new, settings=Settings(model=plain.aligner, n_starts=3))
    assert plain.aligner.n_starts == 1


def test_a_folder_of_which_some_cannot_be_used(faces, tmp_path):
    for number, image in enumerate(faces):
        Image.fromarray(np.rint(255 * image).astype(np.uint8)).save(tmp_path / f"{number}.png")
    Image.fromarray(np.zeros((30, 30), np.uint8)).save(tmp_path / "blank.png")
    (tmp_path / "torn.jpg").write_bytes(b"no image")
    result = separate(tmp_path, settings=SETTINGS)
    assert set(result.not_aligned) == {"blank.png", "torn.jpg"}
    assert result.summary()["aligned"] == 12
    assert "motion similarity" in result.warnings[0]
    assert result.warnings[1].startswith("blank.png is not aligned. It is blank")
    assert "torn.jpg" in result.warnings[2]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"motion": "shear"}, "motion must be one of 'translation'"),
        ({"n_components": 0}, "n_components must be a whole number of at least 1, got 0"),
        ({"rank_penalty": -1.0}, "rank_penalty must be 'auto' or a finite number above 0"),
        ({"n_starts": 10}, "n_starts must be a whole number from 1 to 9, got 10"),
        ({"model": "a.safetensors", "shape": (48, 40)}, "are those of the model"),
        ({"model": "a.safetensors", "motion": "affine"}, "are those of the model"),
    ],
)
def test_settings_are_checked(settings, words):
    with pytest.raises(ValueError, match=words):
        Settings(**settings)


def test_what_cannot_be_done_is_said(faces, tmp_path):
    with pytest.raises(ValueError, match="model is a RobustPCA; expected an Aligner"):
        separate(faces, settings=Settings(model=unmingle.RobustPCA()))
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="is not a folder that can be written to"):
        separate(faces, Outputs(tmp_path / "file"), SETTINGS)


def test_published_names():
    assert dir(alignment) == ["Outputs", "Result", "Settings", "separate"]
