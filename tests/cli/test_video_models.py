"""`unmingle video`: films, events, reports and models, whatever ends the film."""

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import failed
from films import SCENE
from PIL import Image

from unmingle import Encoder, RobustPCA, load
from unmingle.apps.video import separated_frames


def test_a_model_goes_on_where_it_ended(run, tmp_path):
    pixels = np.uint8(255 * SCENE)
    np.save(tmp_path / "all.npy", pixels)
    np.save(tmp_path / "first.npy", pixels[:40])
    np.save(tmp_path / "second.npy", pixels[40:])
    assert run("video", "all.npy", "--mask", "all.npz", "--memory", "2", "--quiet") == (0, "", "")
    saved = ["--model", "model.safetensors", "--quiet"]
    assert run("video", "first.npy", "--mask", "first.npz", "--memory", "2", *saved) == (0, "", "")
    assert run("video", "second.npy", "--mask", "second.npz", *saved) == (0, "", "")
    masks = {name: np.load(f"{name}.npz")["frames"] for name in ("all", "first", "second")}
    np.testing.assert_array_equal(np.concatenate([masks["first"], masks["second"]]), masks["all"])


def test_a_model_has_its_own_settings(run, street):
    assert run("video", "street.mp4", "--model", "model.safetensors", "--quiet").code == 0
    ended = run("video", "street.mp4", "--model", "model.safetensors", "--memory", "3", "--exact")
    assert ended.code == 2
    assert "--memory, --exact cannot be changed" in " ".join(ended.err.replace("│", " ").split())
    before = Path("model.safetensors").read_bytes()
    assert run("video", "street.mp4", "--model", "model.safetensors", "--freeze", "--quiet").code == 0
    assert Path("model.safetensors").read_bytes() == before


def test_a_model_is_for_frames_like_its_own(run, street, tmp_path):
    np.save(tmp_path / "small.npy", np.uint8(255 * SCENE[:, :40, :50]))
    np.save(tmp_path / "float.npy", SCENE)
    assert run("video", "street.mp4", "--model", "model.safetensors", "--quiet").code == 0
    before, saved = Path("model.safetensors").read_bytes(), ["--model", "model.safetensors"]
    assert failed(run("video", "small.npy", *saved), "model.safetensors was learnt from 64 x 48 col", "50 x 40 grey")
    assert failed(run("video", "street.mp4", "--grey", *saved), "64 x 48 grey pixels; leave --grey out.")
    np.save(tmp_path / "coloured.npy", np.repeat(SCENE[..., None], 3, axis=3))
    assert failed(run("video", "coloured.npy", *saved), "model.safetensors was learnt from pixels of uint8", "float32")
    assert Path("model.safetensors").read_bytes() == before


def test_a_trained_network_finds_the_background(run, tmp_path):
    np.save(tmp_path / "street.npy", SCENE)
    rows = SCENE.reshape(len(SCENE), -1)
    network = Encoder.from_components(np.linalg.svd(rows)[2][:3], rank_penalty=0.1, outlier_penalty=0.1, n_layers=5)
    network.save(tmp_path / "network.safetensors")
    ended = run("video", "street.npy", "--encoder", "network.safetensors", "--mask", "mask.npz", "--quiet")
    assert ended == (0, "", "")
    with np.load("mask.npz") as stored:
        expected = [found.mask for found in separated_frames(SCENE, encoder=network)]
        np.testing.assert_array_equal(stored["frames"] > 0, expected)
    np.save(tmp_path / "small.npy", SCENE[:, :40, :50])
    encoder = ["--encoder", "network.safetensors"]
    assert failed(run("video", "small.npy", *encoder), "network.safetensors was trained for frames of 3072", "50 x 40")
    np.save(tmp_path / "coloured.npy", np.repeat(SCENE[..., None], 3, axis=3))
    assert run("video", "coloured.npy", *encoder, "--mask", "other.npz", "--quiet") == (0, "", "")
    with np.load("other.npz") as stored:  # a network sees the brightness
        assert (stored["frames"] > 0).mean() == pytest.approx(np.mean(expected), rel=0.05)


def test_a_model_of_grey_frames_goes_on_in_grey(run, street):
    saved = ["--model", "model.safetensors", "--quiet"]
    assert run("video", "street.mp4", "--grey", *saved).code == 0
    assert run("video", "street.mp4", *saved, "--background", "bg").code == 0
    assert load("model.safetensors").state.n_frames == 120
    assert np.asarray(Image.open("bg/frame_000001.png")).ndim == 2


@pytest.mark.parametrize("encoder", [[], ["--encoder", "network.safetensors"]], ids=["layers", "network"])
def test_saved_streams_can_be_looked_at(run, tmp_path, encoder):
    np.save(tmp_path / "street.npy", SCENE)
    basis = np.linalg.svd(SCENE.reshape(len(SCENE), -1))[2][:3]
    Encoder.from_components(basis, rank_penalty=0.1, outlier_penalty=0.1, n_layers=5).save("network.safetensors")
    assert run("video", "street.npy", *encoder, "--model", "model.safetensors", "--quiet") == (0, "", "")
    ended = run("info", "model.safetensors", "--details")
    assert (ended.code, ended.err) == (0, "")
    assert all(word in ended.out for word in ("VideoStream", "false_alarm_rate", "variance"))
    assert ("5, tied" in ended.out) == bool(encoder)
    told = json.loads(run("info", "model.safetensors", "--json").out)
    assert ("encoder" in told, told["kind"]) == (bool(encoder), "VideoStream")


def test_other_models_are_refused(run, street, tmp_path):
    rows = np.random.default_rng(0).normal(size=(30, 8))
    RobustPCA(n_components=2).fit(rows).save(tmp_path / "other.safetensors")
    assert failed(run("video", "street.mp4", "--model", "other.safetensors"), "holds a RobustPCA", "unmingle video")
    assert failed(run("video", "street.mp4", "--encoder", "other.safetensors"), "without an encoder")
