"""Files of format 1 are read, and the models in them answer as when they were saved; see files/format1/README.md."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import unmingle
from unmingle import Encoder, store
from unmingle.apps.video import Stream
from unmingle.learn import train

FOLDER = Path(__file__).parent / "files" / "format1"
near = partial(np.testing.assert_allclose, rtol=1e-7, atol=1e-9)


@pytest.fixture(scope="module")
def kept():
    with np.load(FOLDER / "answers.npz") as answers:
        return dict(answers)


def load(name):
    path = FOLDER / f"{name}.safetensors"
    assert store.peek(path).version == 1
    return unmingle.load(path)


def test_every_kind_that_has_changed_is_there():
    kinds = {store.peek(path).kind for path in FOLDER.glob("*.safetensors")}
    assert kinds >= set(store.MIGRATIONS[1])
    assert kinds == {"Encoder", "LearnedRobustPCA", "OnlineRobustPCA", "RobustPCA", "Training", "VideoStream"}


def test_a_model_of_a_table(kept):
    model = load("RobustPCA")
    X = pd.DataFrame(kept["X"], columns=model.feature_names_in_)
    assert model.feature_names_in_[0] == "sensor 0"
    assert np.array_equal(model.outlier_penalty, np.full(6, 0.2))
    near(model.transform(X), kept["RobustPCA"])


@pytest.mark.parametrize("name", ["OnlineRobustPCA", "LearnedRobustPCA"])
def test_a_stream_goes_on(kept, name):
    model = load(name)
    near(model.transform(kept["X"]), kept[name])
    model.partial_fit(kept["X"][30:], kept["y"][30:])
    near(model.components_, kept[f"{name}, gone on"], rtol=1e-5, atol=1e-7)


def test_an_encoder(kept):
    near(load("Encoder").encode(kept["X"])[0], kept["Encoder"])


def masks_after(stream, frames):
    return np.stack([stream.push(pixels).mask for pixels in frames])


def test_a_video_goes_on(kept):
    stream = load("VideoStream")
    assert (stream.n_frames, stream.forgetting, stream.start_size) == (30, 0.99, 25)
    masks = masks_after(stream, kept["frames"][30:])
    assert masks.any()
    assert np.array_equal(masks, kept["VideoStream"])


def test_a_video_that_was_starting_goes_on_as_a_new_one_would(kept):
    """It holds the first frames only; the rule of the mask has changed since its masks were kept."""
    stream = load("VideoStream starting")
    assert (stream.n_frames, stream.forgetting, stream.start_size) == (5, 0.99, 25)
    frames = kept["frames"]
    network = Encoder.from_components(
        np.full((1, frames[0].size), 0.5, np.float32), rank_penalty=0.1, outlier_penalty=0.1, n_layers=2
    )
    new = Stream(forgetting=0.99, start_size=25, encoder=network)
    masks_after(new, frames[:5])
    masks = masks_after(stream, frames[5:])
    assert masks.any()
    assert np.array_equal(masks, masks_after(new, frames[5:]))


def test_training_goes_on(kept, tmp_path):
    path = tmp_path / "work.training"
    path.write_bytes((FOLDER / "Training.safetensors").read_bytes())
    settings = {"max_steps": 20, "batch_size": 16, "random_state": 0}
    done = []
    training = train(load("Encoder"), np.nan_to_num(kept["X"]), checkpoint=path, callback=done.append, **settings)
    assert done[0].done == 6
    near([look.cost for look in training.history], kept["Training"], rtol=1e-6)


def test_what_is_saved_again_is_of_the_present_format(tmp_path):
    for name in ("RobustPCA", "OnlineRobustPCA", "LearnedRobustPCA", "Encoder", "VideoStream", "VideoStream starting"):
        load(name).save(tmp_path / "new.safetensors")
        stored = store.read(tmp_path / "new.safetensors")
        assert stored[:2] == (name.split()[0], store.FORMAT_VERSION)
        older = store.read(FOLDER / f"{name}.safetensors")
        wanted = dict(older.parameters)
        if "init" in wanted:
            given = {"scale": None, "debias": False} if name == "RobustPCA" else {}
            wanted["init"] = {**given, "contamination": "auto", **wanted["init"]}
        if name == "RobustPCA":
            former = ("score_center_", "score_scale_")
            wanted["fitted"] = {key: value for key, value in wanted["fitted"].items() if key not in former}
        if name == "VideoStream":
            wanted["numbers"] = {**wanted["numbers"], "stride": 1}
        if "scene_change" in wanted:
            wanted["scene_change"] = {**wanted["scene_change"], "before": 0.0}
        assert {part: stored.parameters[part] for part in wanted} == wanted
        assert stored.arrays.keys() == older.arrays.keys() | ({"usual"} if name == "VideoStream" else set())


@pytest.mark.parametrize("settings", [None, [], {}, *({"memory": size, "start": 3} for size in ("long", 0.5, np.nan))])
def test_senseless_files_are_refused_in_one_sentence(settings, tmp_path, monkeypatch):
    path = tmp_path / "odd.safetensors"
    for kind in store.MIGRATIONS[1]:
        monkeypatch.setattr(store, "FORMAT_VERSION", 1)
        store.write(path, kind, {"settings": settings, "init": settings}, {"a": np.ones(2), "tracker.": np.ones(2)})
        monkeypatch.undo()
        with pytest.raises(store.StoreError, match=f"does not hold a complete {kind}: .*") as caught:
            unmingle.load(path)
        assert "\n" not in str(caught.value)
