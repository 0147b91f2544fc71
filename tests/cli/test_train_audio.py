"""`unmingle train audio`: folders of songs to networks, judged by what is left out, whatever interrupts."""

import json

import numpy as np
import pytest
from command_line import failed
from stems import write_stems

import unmingle
from unmingle.apps.audio.training import plain
from unmingle.apps.audio.training import train as training
from unmingle.apps.audio.training.mixing import Mixing
from unmingle.apps.audio.training.train import Recipe


@pytest.fixture(autouse=True)
def small(monkeypatch, tmp_path):
    """Networks that are trained in a moment, and three songs of two singers."""
    recipe = Recipe(8, 1, 6, mixing=Mixing(sequences=2, frames=20))
    monkeypatch.setattr(training, "RECIPES", {"voice": recipe, "phone": recipe._replace(n_components=4)})
    monkeypatch.setattr(plain, "PLAIN", plain.PlainNetwork(frames=100, batches=1))
    write_stems(tmp_path / "songs", seconds=1)


def test_a_network_is_trained_and_used(run, tmp_path):
    ended = run("train", "audio", "--data", "songs", "--out", "voice.safetensors", "--half", "--seed", "3", "--json")
    assert (ended.code, ended.err) == (0, "")
    told = json.loads(ended.out)
    model = unmingle.load(tmp_path / "voice.safetensors")
    assert told["card"] == model.card_
    assert (model.card_["network"], model.card_["seed"], model.card_["songs"]) == ("voice", 3, 3)
    assert not list(tmp_path.glob("*.training*"))
    ended = run("audio", "songs/anna_1_01.wav", "-o", "stems", "--model", "voice.safetensors", "--json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["songs"][0]["method"] == "voice"


def test_songs_and_singers_left_out_judge(run, tmp_path):
    told = json.loads(
        run("train", "audio", "--data", "songs", "--out", "p.safetensors", "--network", "phone", "--validate",
            "singers", "--json").out
    )["card"]  # fmt: skip
    assert set(told["nsdr_without_anna"]) == {"mean", "anna"}
    assert np.isfinite(told["nsdr_without_bert"]["mean"])
    assert told["songs"] == 3  # the model itself has learnt from all
    assert failed(
        run("train", "audio", "--data", "songs", "--out", "p.safetensors", "--validate", "carl"),
        "No song or singer is called carl",
    )


def test_the_network_of_the_paper(run, tmp_path):
    plain_network = ["--data", "songs", "--out", "plain.safetensors", "--network", "plain", "--steps", "3", "--quiet"]
    for loss in ("source", "unsupervised"):
        assert run("train", "audio", *plain_network, "--loss", loss) == (0, "", "")
        assert unmingle.load(tmp_path / "plain.safetensors").n_layers == 20
    assert run("audio", "songs", "-o", "stems", "--model", "plain.safetensors", "--quiet") == (0, "", "")


def test_interrupted_training_goes_on(run, tmp_path, monkeypatch):
    arguments = ["train", "audio", "--data", "songs", "--out", "voice.safetensors", "--quiet"]
    assert run(*arguments).code == 0
    whole = unmingle.load(tmp_path / "voice.safetensors").encoder_.cell.encoder
    real, calls = training.train_voice, []

    def stopped(*given, callback, **options):
        def stop(progress):
            if progress.done >= 3 and not calls:
                calls.append(progress)
                raise KeyboardInterrupt
            return callback(progress)

        return real(*given, callback=stop, **options)

    monkeypatch.setattr(training, "train_voice", stopped)
    ended = run(*arguments)
    assert ended.code == 130
    assert (tmp_path / "voice.safetensors.training").exists()
    assert "goes on" in ended.err or "go on" in ended.err
    assert run(*arguments).code == 0
    assert np.array_equal(unmingle.load(tmp_path / "voice.safetensors").encoder_.cell.encoder, whole)
    assert not list(tmp_path.glob("*.training*"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--loss", "unsupervised"], "The loss unsupervised goes with the network plain"),
        (["--network", "plain", "--half"], "half is for the networks voice and phone"),
        (["--network", "huge"], "'huge' is not one of"),
        (["--out", "model.bin"], ".safetensors"),
    ],
)
def test_options_that_make_no_sense_are_told(run, arguments, words):
    ended = run("train", "audio", "--data", "songs", "--out", "voice.safetensors", *arguments)
    assert ended.code == 2
    assert words in " ".join(ended.err.replace("│", " ").split())


def test_folders_without_songs_are_told(run, tmp_path):
    (tmp_path / "empty").mkdir()
    assert failed(run("train", "audio", "--data", "empty", "--out", "a.safetensors"), "empty")
    assert failed(run("train", "audio", "--data", "nowhere", "--out", "a.safetensors"), "is not a folder")


def test_settings_may_come_from_a_file(run, tmp_path):
    (tmp_path / "how.toml").write_text('data = "songs"\nout = "voice.safetensors"\nnetwork = "phone"\nseed = 5\n')
    assert run("train", "audio", "--config", "how.toml", "--quiet") == (0, "", "")
    assert unmingle.load(tmp_path / "voice.safetensors").card_["seed"] == 5
