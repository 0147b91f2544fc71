"""Streams of frames: what they find, what they learn, and that they can be stopped and resumed."""

from itertools import pairwise

import numpy as np
from scipy.ndimage import gaussian_filter
from streams import pushed, watched, with_square

import unmingle
from unmingle.apps.video import Stream


def test_lamps_may_be_switched(data_dir):
    with np.load(data_dir / "video" / "i2r_lobby.npz") as stored:
        frames = np.cumsum(stored["tdiff"], axis=0, dtype=np.uint8)
    stream = Stream()
    shares = np.array([stream.push(frame).score for frame in frames])
    switches = [426, 433, 448, 1062, 1078, 1085, 1091, 1096, len(frames)]
    for switch, following in pairwise(switches):
        assert (shares[switch + 10 : following] < 0.05).all()
    assert stream.card_["scene_jumps"] >= 2

    for switch, following in ((1078, 1084), (1095, len(frames))):  # to lights that were seen before
        assert (shares[switch + 2 : following] < 0.05).all()


def test_gain_and_offset_are_no_foreground(empty):
    stream = watched(empty)
    for _ in range(3):
        found = stream.push(with_square(np.rint(0.7 * empty() + 30).astype(np.uint8)))
        assert found.mask[22:34, 32:44].all()
        assert found.mask.sum() < 0.1 * found.mask.size


def test_a_new_scene_is_background_within_ten_frames(empty):
    stream = watched(empty)
    light = np.where(np.arange(80) > 40, 70, 0)

    def lit():
        return np.clip(empty().astype(int) + light, 0, 255).astype(np.uint8)

    states = [stream.push(lit()).state for _ in range(10)]
    assert "adapting" in states
    found = stream.push(with_square(lit(), left=10))
    assert found.mask[22:34, 12:24].mean() > 0.95
    assert found.mask.sum() < 400


def lamp_lit(empty):
    """The scene with a lamp on its right side."""
    return np.clip(empty().astype(int) + np.where(np.arange(80) > 40, 70, 0), 0, 255).astype(np.uint8)


def test_a_light_seen_before_is_followed_at_once(empty):
    stream = watched(empty)
    for _ in range(40):
        stream.push(lamp_lit(empty))
    for light in (empty, lambda: lamp_lit(empty)):
        for _ in range(10):
            found = stream.push(with_square(light(), left=10))
            assert found.mask[22:34, 12:24].mean() > 0.9
            assert found.mask.sum() < 400


def test_lights_are_kept_in_files(empty, tmp_path):
    stream = watched(empty)
    for _ in range(40):
        stream.push(lamp_lit(empty))
    stream.save(tmp_path / "camera.safetensors")
    again, frame = unmingle.load(tmp_path / "camera.safetensors"), empty()
    ours, theirs = stream.push(frame), again.push(frame)
    assert not theirs.mask.any()
    assert np.array_equal(ours.background, theirs.background)


def test_a_thing_is_no_light(rng):
    """It hides the texture behind it, and a lamp does not."""
    scene = 110 + 250 * gaussian_filter(rng.standard_normal((60, 80)), 1.5)

    def frame():
        return np.clip(scene + rng.normal(0, 2, scene.shape), 0, 255).astype(np.uint8)

    stream = watched(frame)
    for _ in range(10):
        found = stream.push(with_square(frame(), top=10, left=10, side=35))
    assert found.mask[15:40, 15:40].mean() > 0.9
    assert stream.state.lights.pictures is None
    lit = watched(frame)
    lit.push(lamp_lit(frame))
    assert len(lit.state.lights.pictures) == 1


def test_what_stopped_is_absorbed_after_the_patience(empty):
    stream = watched(empty, n=100, patience=40)
    present = [stream.push(with_square(empty())).mask[28, 38] for _ in range(80)]
    assert all(present[:36])
    assert not any(present[50:])
    patient = watched(empty, n=60, patience=None)
    assert all(patient.push(with_square(empty())).mask[28, 38] for _ in range(150))


def test_what_left_is_soon_forgotten(empty):
    stream = Stream()
    for _ in range(30):
        stream.push(with_square(empty()))
    gone = [stream.push(empty()).mask[28, 38] for _ in range(100)]
    assert gone[5]
    assert not any(gone[80:])


def test_light_returns_after_a_black_start_and_a_black_spell(empty):
    black = np.zeros((60, 80), np.uint8)
    stream = Stream()
    pushed(stream, [black] * 40)
    found = [stream.push(empty()) for _ in range(30)]
    assert not any(one.mask.any() for one in found[15:])
    assert np.abs(stream.state.model.components).max() < 1, "of the size of a frame over that of a code"
    pushed(stream, [black] * 2000)
    found = [stream.push(empty()) for _ in range(20)]
    assert not any(one.mask.any() for one in found[10:])
    assert np.abs(found[-1].background.astype(int) - empty()).mean() < 6
    assert np.isfinite(stream.state.model.components).all()


def test_long_patience_is_long(empty):
    stream = watched(empty, patience=65_546)
    assert all(stream.push(with_square(empty())).mask[28, 38] for _ in range(60))


def test_known_foreground_is_not_absorbed(empty):
    known = np.zeros((60, 80), dtype=bool)
    known[18:38, 28:48] = True
    stream = watched(empty, patience=20)
    for _ in range(150):
        found = stream.push(with_square(empty()), known_foreground=known)
    assert np.abs(found.background[24:32, 34:42].astype(int) - empty()[24:32, 34:42]).mean() < 10


def test_light_is_followed_without_patience_too(empty):
    stream = watched(empty, patience=None)
    light = np.where(np.arange(80) > 40, 70, 0)
    for _ in range(15):
        found = stream.push(np.clip(empty().astype(int) + light, 0, 255).astype(np.uint8))
    assert not found.mask.any()


def test_frozen_streams_and_inspection_follow_dimmed_light(empty):
    stream = watched(empty)
    assert stream.inspect(empty() // 2).score < 0.02
    stream.freeze()
    assert stream.push(empty() // 2).score < 0.02
