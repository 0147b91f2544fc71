"""`unmingle align`."""

import csv
import json

import numpy as np
import pytest
from command_line import failed
from PIL import Image

import unmingle
from unmingle.apps import alignment
from unmingle.synth import displaced_faces

SIZE = ("--height", 48, "--width", 40)


@pytest.fixture
def faces(tmp_path):
    """A folder of faces: 12 grey ones, one in colour, a photograph on its side, and a larger one."""
    folder = tmp_path / "faces"
    folder.mkdir()
    images = np.rint(255 * displaced_faces(15, random_state=0).images).astype(np.uint8)
    for number, image in enumerate(images[:12]):
        Image.fromarray(image).save(folder / f"face{number}.png")
    Image.fromarray(np.repeat(images[12][..., None], 3, axis=2)).save(folder / "face12.png")
    exif = Image.Exif()
    exif[274] = 6  # to be turned by a quarter, clockwise
    Image.fromarray(np.rot90(images[13])).save(folder / "face13.png", exif=exif)
    Image.fromarray(np.pad(images[14], 4, mode="edge")).save(folder / "face14.png")
    return folder


def table_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_results_are_written_and_told(run, faces, tmp_path):
    ended = run("align", faces, "-o", tmp_path / "out", *SIZE, "--json")
    assert ended.code == 0, ended.err
    told = json.loads(ended.out)
    assert (told["images"], told["aligned"], told["not_aligned"]) == (15, 15, {})
    assert (told["height"], told["width"]) == (48, 40)
    settings = alignment.Settings(shape=(48, 40))
    called = alignment.separate(faces, alignment.Outputs(tmp_path / "out"), settings)
    assert called.summary() == told
    rows = table_of(tmp_path / "out" / "transformations.csv")
    assert [row["file"] for row in rows] == [f"face{number}.png" for number in range(15)]
    truth = displaced_faces(15, random_state=0).matrices[:, :2, 2]
    found = np.array([[float(row["m02"]), float(row["m12"])] for row in rows])
    found[14] -= 4
    off = found - truth
    assert np.abs(off - np.median(off, axis=0)).max() < 0.6
    for part in ("aligned", "low_rank", "outliers"):
        files = sorted((tmp_path / "out" / part).iterdir())
        assert len(files) == 15
        assert unmingle.media.read_image(files[0]).shape == (48, 40)
    page = (tmp_path / "out" / "align.html").read_text()
    assert page.count("<img") == 3 + 4 * 15
    assert "mean after" in page


def test_a_model_aligns_other_images(run, faces, tmp_path):
    assert run("align", faces, "-o", tmp_path / "out", *SIZE, "--quiet").out == ""
    others = tmp_path / "others"
    others.mkdir()
    images = displaced_faces(3, random_state=1).images
    for number, image in enumerate(images):
        Image.fromarray(np.rint(255 * image).astype(np.uint8)).save(others / f"{number}.png")
    model = tmp_path / "out" / "aligner.safetensors"
    ended = run("align", others, "-o", tmp_path / "new", "--model", model)
    assert ended.code == 0, ended.err
    assert "3 of 3 images" in ended.out
    assert not (tmp_path / "new" / "aligner.safetensors").exists()
    stored = np.rint(255 * images).astype(np.uint8)
    expected = unmingle.load(model).align(stored).matrices
    rows = table_of(tmp_path / "new" / "transformations.csv")
    np.testing.assert_allclose([float(row["m02"]) for row in rows], expected[:, 0, 2], atol=1e-3)
    assert "Aligner" in run("info", model).out


def test_images_that_cannot_be_aligned_are_named_and_the_rest_is_done(run, faces, tmp_path):
    Image.fromarray(np.zeros((64, 56), np.uint8)).save(faces / "blank.png")
    Image.fromarray(np.zeros((1, 1), np.uint8)).save(faces / "dot.png")
    (faces / "torn.jpg").write_bytes(b"no image")
    ended = run("align", faces, "-o", tmp_path / "out", *SIZE)
    assert ended.code == 0
    assert "15 of 18 images" in ended.out
    for name in ("blank.png", "dot.png", "torn.jpg"):
        assert name in ended.err
        assert name in (tmp_path / "out" / "align.html").read_text()
    assert {row["file"]: row["ok"] for row in table_of(tmp_path / "out" / "transformations.csv")}["torn.jpg"] == "no"


def test_failures_are_one_sentence(run, tmp_path):
    (tmp_path / "empty").mkdir()
    assert failed(run("align", tmp_path / "empty"), "contains no images")
    assert failed(run("align", tmp_path / "absent"), "does not exist")
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "a.png").write_bytes(b"x")
    assert failed(run("align", tmp_path / "torn"), "contains no images that can be read")
    (tmp_path / "blank").mkdir()
    for number in range(3):
        Image.fromarray(np.zeros((40, 40), np.uint8)).save(tmp_path / "blank" / f"{number}.png")
    assert failed(run("align", tmp_path / "blank"), "blank")
    assert run("align", tmp_path / "blank", "--height", 20).code == 2
    unmingle.RobustPCA().fit(np.eye(5)).save(tmp_path / "other.safetensors")
    assert failed(run("align", tmp_path / "blank", "--model", tmp_path / "other.safetensors"), "RobustPCA")


def test_options_that_would_do_nothing_are_refused(run, faces, tmp_path):
    ended = run("align", faces, "--starts", 3)
    assert ended.code == 2
    assert "--starts goes with --model" in ended.err
    for option in (("--motion", "affine"), SIZE, ("--components", 2), ("--rank-penalty", 1)):
        ended = run("align", faces, "--model", tmp_path / "aligner.safetensors", *option)
        assert ended.code == 2
        assert "are those of the model" in ended.err


def test_where_sizes_differ_a_note_says_what_may_help(run, faces, tmp_path):
    assert "--motion similarity" in run("align", faces, "-o", tmp_path / "out", *SIZE).err
    (faces / "face14.png").unlink()
    (faces / "face13.png").unlink()
    assert run("align", faces, "-o", tmp_path / "out", *SIZE).err == ""


def test_a_word_that_is_not_known_is_told_plainly(run, faces):
    ended = run("align", faces, "--motion", "similar")
    assert ended.code == 2
    assert "'similar' is not one of 'translation'" in " ".join(ended.err.split())
    assert "Value error" not in ended.err
