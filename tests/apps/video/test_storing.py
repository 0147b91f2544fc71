"""Streams of frames: what they find, what they learn, and that they can be stopped and resumed."""

import numpy as np
import pytest
from streams import network, pushed, same

import unmingle
from unmingle._fields import to_store
from unmingle.apps.video import Stream
from unmingle.store import StoreError


@pytest.mark.parametrize(
    "settings",
    [{}, {"pixel_share": 0.3}, {"encoder": "exact"}, {"region": True}],
    ids=["plain", "some pixels", "exact", "region"],
)
@pytest.mark.parametrize("cut", [12, 75])
def test_a_stream_resumes_as_if_unbroken(film, tmp_path, settings, cut):
    frames, _ = film
    if "region" in settings:
        settings = {"region": np.arange(80) < np.full((60, 1), 50)}
    whole = pushed(Stream(**settings), frames)
    first = Stream(**settings)
    parts = pushed(first, frames[:cut])
    first.save(tmp_path / "camera.safetensors")
    again = unmingle.load(tmp_path / "camera.safetensors")
    parts += pushed(again, frames[cut:])
    assert same(whole, parts)
    assert again.card_ == {**again.card_, "frames": 120}


def refused(path, parameters, arrays):
    unmingle.store.write(path, "VideoStream", parameters, arrays)
    with pytest.raises(StoreError, match="does not hold a complete VideoStream"):
        unmingle.load(path)


def test_damaged_models_are_refused(film, tmp_path):
    """The compiled loops trust the sizes of what a file brings."""
    stream = Stream(pixel_share=0.5)
    pushed(stream, film[0][:40])
    stored, path = unmingle.store.read(_saved(stream, tmp_path)), tmp_path / "bad.safetensors"
    lights = stored.arrays.pop("scene.lights.pictures", stored.arrays["scene.model.last"][None])
    refused(path, stored.parameters, stored.arrays | {"scene.lights.pictures": lights[:, 1:]})
    refused(path, stored.parameters, stored.arrays | {"scene.lights.pictures": lights[0]})
    refused(
        path,
        stored.parameters,
        stored.arrays | {"scene.model.mean_codes": stored.arrays["scene.model.mean_codes"][:-1]},
    )
    for name, part in stored.arrays.items():
        refused(path, stored.parameters, {other: kept for other, kept in stored.arrays.items() if other != name})
        refused(
            path,
            stored.parameters,
            stored.arrays | {name: part[:-1] if not name.endswith("sample") else part[::-1].copy()},
        )
        wrong = part.astype(np.float64 if part.dtype != np.float64 else np.float32)
        refused(path, stored.parameters, stored.arrays | {name: wrong})
        if part.dtype.kind == "f":
            refused(path, stored.parameters, stored.arrays | {name: np.full_like(part, np.nan)})
    for wrong in ({"height": 10**8, "width": 10**8}, {"kind": "brown"}, {"pixel_type": "float64"}, {"height": None}):
        scene = stored.parameters["scene"]
        changed = {**scene, "format": scene["format"] | wrong}
        refused(path, stored.parameters | {"scene": changed}, stored.arrays)
    scene = {name: part for name, part in stored.parameters["scene"].items() if name != "format"}
    refused(path, stored.parameters | {"scene": scene}, stored.arrays)
    starting = Stream()
    pushed(starting, film[0][:5])
    stored = unmingle.store.read(_saved(starting, tmp_path))
    refused(path, stored.parameters, {"first": stored.arrays["first"][:, 1:]})


def _saved(stream, folder):
    stream.save(folder / "good.safetensors")
    return folder / "good.safetensors"


def test_a_frozen_stream_learns_nothing(film, tmp_path):
    frames, _ = film
    stream = Stream()
    pushed(stream, frames[:60])
    stream.freeze()
    model = stream.state.model
    kept = {name: part.copy() for name, part in to_store(model).items() if isinstance(part, np.ndarray)}
    assert {one.state for one in pushed(stream, frames[60:])} == {"frozen"}
    assert stream.state.model is model
    assert len(kept) == 10
    assert all(np.array_equal(part, getattr(model, name)) for name, part in kept.items())


def test_a_network_is_stored_with_its_stream(film, tmp_path):
    frames, _ = film
    stream = Stream(encoder=network(frames))
    pushed(stream, frames[:50])
    again = unmingle.load(_saved(stream, tmp_path))
    assert same(pushed(stream, frames[50:70]), pushed(again, frames[50:70]))


def test_the_card_says_how_it_went(film):
    stream = Stream()
    assert stream.card_["rank"] is None
    pushed(stream, film[0])
    card = stream.card_
    assert card["frames"] == 120
    assert 1 <= card["rank"] <= card["components"] <= 5
    assert 3 < card["noise"] < 9  # the film has noise of five steps
    assert card["settings"]["forgetting"] == 0.99
