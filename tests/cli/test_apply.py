"""`unmingle apply`: every kind of model, on data like its own and on others."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from command_line import failed
from films import SCENE
from PIL import Image
from sensor_tables import FAULT, GAP, readings, truth
from stems import write_stems

import unmingle
from unmingle.apps import audio
from unmingle.synth import displaced_faces


def clean(n=60):
    frame = readings(n)
    frame.loc[FAULT], frame.loc[GAP] = truth(*FAULT), truth(*GAP)
    return frame


@pytest.fixture
def model(run, tmp_path):
    """A model of a table with a column of text and one of whole numbers."""
    frame = clean()
    frame["f"] = frame["f"].round().astype(int)
    frame.insert(2, "site", ["north", "south"] * 30)
    frame.to_csv(tmp_path / "april.csv", index=False)
    assert run("fit", "april.csv", "-o", "model.safetensors", "--quiet") == (0, "", "")
    return tmp_path / "model.safetensors"


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_table_is_cleaned_and_scored_with_columns_matched_by_name(run, tmp_path, model):
    new = readings()
    new["f"] = new["f"].round().astype(int)
    new.insert(0, "when", [f"day {n}" for n in range(40)])
    new["surplus"] = np.arange(40) ** 0.5
    new[["when", "f", "e", "d", "surplus", "c", "b", "a"]].to_csv(tmp_path / "may.csv", index=False)
    ended = run("apply", "model.safetensors", "may.csv", "-o", "out", "--json")
    assert ended.code == 0, ended.err
    assert "The model does not know 'surplus'" in ended.err
    told = json.loads(ended.out)
    assert (told["rows"], told["columns"], told["filled"]) == (40, 6, 1)
    assert (told["strongest_outliers"][0]["row"], told["strongest_outliers"][0]["column"]) == ("day 12", "c")
    cleaned = pd.read_csv(tmp_path / "out/may.cleaned.csv")
    assert cleaned.columns.tolist() == ["when", "f", "e", "d", "surplus", "c", "b", "a"]
    for row, column in (FAULT, GAP):
        assert cleaned.loc[row, column] == pytest.approx(truth(row, column), rel=0.03)
    assert cleaned["f"].dtype == np.int64
    fitted = unmingle.load(model)
    X = new[list("abcdef")]
    scores, codes = rows_of(tmp_path / "out/may.scores.csv"), rows_of(tmp_path / "out/may.codes.csv")
    assert [float(row["score"]) for row in scores] == pytest.approx(fitted.score_samples(X).tolist(), rel=1e-6)
    assert scores[12]["outlier"] == "yes"
    assert sum(row["outlier"] == "yes" for row in scores) < 5
    wanted = np.asarray(fitted.decompose(X, debias=True).codes)
    assert np.allclose([[float(row[f"code {n + 1}"]) for n in range(wanted.shape[1])] for row in codes], wanted)
    assert rows_of(tmp_path / "out/may.outliers.csv")[0]["row"] == "day 12"


def test_one_row_is_enough_and_other_formats_do(run, tmp_path, model):
    readings().iloc[[12]].to_excel(tmp_path / "now.xlsx", index=False)
    assert run("apply", "model.safetensors", "now.xlsx", "--report", "--quiet").code == 0
    found = pd.read_excel(tmp_path / "applied/now.cleaned.xlsx")
    assert found.loc[0, "c"] == pytest.approx(truth(*FAULT), rel=0.03)
    assert "stands out" in (tmp_path / "applied/now.report.html").read_text()
    np.save(tmp_path / "now.npy", readings().to_numpy())
    assert run("apply", "model.safetensors", "now.npy", "--quiet").code == 0
    assert np.load(tmp_path / "applied/now.cleaned.npy")[12, 2] == pytest.approx(truth(*FAULT), rel=0.03)


def test_data_that_do_not_fit_get_one_sentence(run, tmp_path, model):
    readings().drop(columns="d").to_csv(tmp_path / "less.csv", index=False)
    readings().assign(d="high").to_csv(tmp_path / "text.csv", index=False)
    np.save(tmp_path / "wide.npy", np.ones((3, 9)))
    (tmp_path / "folder").mkdir()
    Image.fromarray(np.zeros((8, 8), np.uint8)).save(tmp_path / "folder/a.png")
    assert failed(run("apply", "model.safetensors", "less.csv"), "has no column 'd', which the model was fitted to")
    assert failed(run("apply", "model.safetensors", "text.csv"), "column 'd' holds text, not numbers")
    assert failed(run("apply", "model.safetensors", "wide.npy"), "9 columns of numbers", "fitted to 6")
    assert failed(run("apply", "model.safetensors", "folder"), "images of 8 x 8 pixels", "--size HxW")
    assert failed(run("apply", "model.safetensors", "nowhere.csv"), "nowhere.csv does not exist")
    assert failed(run("apply", "nowhere.safetensors", "less.csv"), "nowhere.safetensors does not exist")
    assert not (tmp_path / "applied").exists()


def test_streams_and_trained_networks_take_arrays(run, tmp_path):
    from learned_models import learned, samples

    X, _, _ = samples(300, 1)
    new, _, _ = samples(30, 2)
    new[4, 5] += 40
    np.save(tmp_path / "new.npy", new)
    network = learned().fit(X)
    for name, model in {
        "stream": unmingle.OnlineRobustPCA(3).fit(X),
        "net": network,
        "plain": network.encoder_,
    }.items():
        model.save(tmp_path / f"{name}.safetensors")
        ended = run("apply", f"{name}.safetensors", "new.npy", "-o", name, "--json")
        assert ended.code == 0, ended.err
        strongest = json.loads(ended.out)["strongest_outliers"][0]
        assert (strongest["row"], strongest["column"]) == ("4", "5")
        assert (tmp_path / name / "new.scores.csv").exists() == (name != "plain")
        plain = name == "plain"
        low_rank = model.encode(new)[0] @ model.components if plain else model.decompose(new).low_rank
        assert np.load(tmp_path / name / "new.cleaned.npy")[4, 5] == pytest.approx(low_rank[4, 5])


def test_a_network_trained_on_a_table_knows_its_columns_by_name(run, tmp_path):
    clean().to_csv(tmp_path / "april.csv", index=False)
    readings()[list("fedcba")].to_csv(tmp_path / "may.csv", index=False)
    ended = run("train", "april.csv", "--out", "net.safetensors", "--layers", "2", "--max-steps", "20", "--json")
    assert ended.code == 0, ended.err
    model = unmingle.load(tmp_path / "net.safetensors")
    assert model.feature_names_in_.tolist() == list("abcdef")
    ended = run("apply", "net.safetensors", "may.csv", "--json")
    assert ended.code == 0, ended.err
    assert "5 standard deviations" in ended.err
    assert pd.read_csv(tmp_path / "applied/may.cleaned.csv").columns.tolist() == list("fedcba")
    found = [float(row["score"]) for row in rows_of(tmp_path / "applied/may.scores.csv")]
    assert found == pytest.approx(model.score_samples(readings()).tolist(), rel=1e-6)


def test_zarr_arrays_are_read_whole(run, tmp_path):
    import zarr

    X = clean().to_numpy().copy()
    X[7, 3] += 50
    zarr.create_array(tmp_path / "x.zarr", shape=X.shape, chunks=(20, 6), dtype="f8")[:] = X
    assert run("fit", "x.zarr", "--quiet").code == 0
    ended = run("apply", "x.safetensors", "x.zarr", "--json")
    assert ended.code == 0, ended.err
    strongest = json.loads(ended.out)["strongest_outliers"][0]
    assert (strongest["row"], strongest["column"]) == ("7", "3")
    assert np.load(tmp_path / "applied/x.cleaned.npy")[7, 3] == pytest.approx(truth(7, "d"), rel=0.05)


def test_images_are_taken_apart(run, tmp_path):
    faces = displaced_faces(30, random_state=0).images[:, ::2, ::2]
    unmingle.RobustPCA(5, random_state=0).fit(faces.reshape(30, -1)).save(tmp_path / "faces.safetensors")
    folder = tmp_path / "new"
    folder.mkdir()
    for number in range(3):
        Image.fromarray(np.rint(255 * faces[number]).astype(np.uint8)).save(folder / f"{number}.png")
    ended = run("apply", "faces.safetensors", "new", "-o", "out", "--json")
    assert ended.code == 0, ended.err
    told = json.loads(ended.out)
    assert (told["images"], told["height"], told["width"]) == (3, *faces.shape[1:])
    part = np.asarray(Image.open(tmp_path / "out/low_rank/1.png")) / 255
    assert np.abs(part - faces[1]).mean() < 0.05
    assert [row["row"] for row in rows_of(tmp_path / "out/scores.csv")] == ["0.png", "1.png", "2.png"]


def test_an_aligner_aligns(run, tmp_path):
    images = displaced_faces(14, random_state=0).images
    unmingle.Aligner(shape=(48, 40), n_components=3).fit(images[:12]).save(tmp_path / "aligner.safetensors")
    (tmp_path / "new").mkdir()
    Image.fromarray(np.rint(255 * images[13]).astype(np.uint8)).save(tmp_path / "new/a.png")
    ended = run("apply", "aligner.safetensors", "new", "-o", "out", "--json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["aligned"] == 1
    assert (tmp_path / "out/aligned/a.png").exists()
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    assert failed(run("apply", "aligner.safetensors", "x.csv"), "DATA must be a folder of images")


def test_a_stream_of_video_separates_a_film_and_stays_as_it_is(run, tmp_path):
    np.save(tmp_path / "street.npy", np.uint8(255 * SCENE))
    assert run("video", "street.npy", "--model", "street.safetensors", "--quiet").code == 0
    before = (tmp_path / "street.safetensors").read_bytes()
    ended = run("apply", "street.safetensors", "street.npy", "-o", "out", "--report", "--json")
    assert ended.code == 0, ended.err
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {"background.mp4", "foreground.mp4", "mask.mp4", "events.csv", "report.html"}
    assert json.loads(ended.out)["complete"] is True
    assert (tmp_path / "street.safetensors").read_bytes() == before
    assert failed(run("apply", "street.safetensors", "nowhere.mp4"), "nowhere.mp4 does not exist")


@pytest.mark.parametrize("name", ["phone", "stream.safetensors"])
def test_models_of_sound_separate_songs(run, tmp_path, name):
    write_stems(tmp_path, ["song"])
    audio.Stream(16000, method="phone").save(tmp_path / "stream.safetensors")
    ended = run("apply", name, "song.wav", "-o", "out", "--json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["failures"] == []
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"song.voice.flac", "song.music.flac"}
