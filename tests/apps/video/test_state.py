"""What is known of a scene is a value: steps take one and give the next, settings say what they may be."""

import numpy as np
import pytest
from streams import pushed

import unmingle
from unmingle._fields import to_store
from unmingle.apps.video import Outputs, Settings, Stream, StreamSettings, separate
from unmingle.apps.video._stream import SceneState, step
from unmingle.apps.video.settings import SettingsError


def test_a_stream_is_its_steps(film):
    state, settings, stream = SceneState(), StreamSettings(), Stream()
    for frame in film[0][:50]:
        state, found = step(state, frame, settings)
        other = stream.push(frame)
        assert np.array_equal(found.mask, other.mask)
        assert np.array_equal(found.background, other.background)
    assert state.n_frames == stream.state.n_frames == 50
    assert state.change == stream.state.change


def test_a_look_leaves_state_and_background_alone(film):
    stream = Stream()
    pushed(stream, film[0][:50])
    state, before = stream.state, {}
    for name, part in to_store(stream.state.model).items():
        before[name] = part.copy() if isinstance(part, np.ndarray) else part
    codes = state.codes.copy()
    after, _ = step(state, film[0][70], stream.settings, learn=False)
    assert stream.state is state
    assert np.array_equal(state.codes, codes)
    assert not np.array_equal(after.codes, codes)
    assert all(np.array_equal(part, getattr(state.model, name)) for name, part in before.items())


def test_a_push_that_fails_leaves_the_state(film):
    stream = Stream()
    pushed(stream, film[0][:40])
    before = stream.state
    for bad in (film[0][0][:-1], film[0][0].astype(np.uint16), "a frame"):
        with pytest.raises((ValueError, TypeError)):
            stream.push(bad)
        assert stream.state is before


def test_a_film_goes_on_where_the_model_ended(film, tmp_path):
    outputs = Outputs(model=tmp_path / "model.safetensors")
    separate(film[0][:60], outputs)
    separate(film[0][60:], outputs)
    whole = Stream()
    pushed(whole.fit(film[0][:30]), film[0])
    again = unmingle.load(outputs.model)
    assert again.state.n_frames == 120
    assert np.array_equal(again.state.model.components, whole.state.model.components)
    frozen = separate(film[0][:3], outputs, Settings(freeze=True))
    assert frozen.written == {}


@pytest.mark.parametrize(
    ("settings", "sentence", "option"),
    [
        ({"components": 3, "exact": True}, "components, exact cannot be changed", "--components, --exact cannot"),
        ({"memory": 0.01}, "memory cannot be changed", "--memory cannot"),
        ({"keep_shadows": True}, "keep_shadows cannot be changed", "--keep-shadows cannot"),
    ],
)
def test_settings_of_a_model_stay(film, tmp_path, settings, sentence, option):
    outputs = Outputs(model=tmp_path / "model.safetensors")
    separate(film[0][:35], outputs)
    with pytest.raises(SettingsError, match=sentence) as caught:
        separate(film[0][:35], outputs, Settings(**settings))
    assert caught.value.in_options().startswith(option)
    with pytest.raises(SettingsError, match="cannot be changed: the stream has its own"):
        separate(film[0][:35], settings=Settings(**settings), stream=Stream())


def test_what_cannot_be_meant_together_is_refused(film):
    with pytest.raises(SettingsError, match="exact and encoder exclude each other"):
        Settings(exact=True, encoder="network.safetensors")
    with pytest.raises(SettingsError, match="freeze needs a model"):
        separate(film[0][:3], settings=Settings(freeze=True))
    with pytest.raises(SettingsError, match=r"memory must be longer than one frame, here 0.04 seconds; got 0.04"):
        separate(film[0][:3], settings=Settings(memory=0.04))


def test_times_of_a_film_are_seconds(film):
    stream = separate(film[0][:3], settings=Settings(memory=2.0, patience=4.0)).stream
    assert (stream.settings.forgetting, stream.settings.patience) == (0.98, 100)
    assert separate(film[0][:3], settings=Settings(patience=0.0)).stream.settings.patience is None
