"""Streams of frames: what they find, what they learn, and that they can be stopped and resumed."""

import zipfile
from io import BytesIO

import numpy as np
import pytest
from streams import network, pushed, same, watched, with_square

from unmingle.apps.video import Stream, separated_frames
from unmingle.apps.video._background import Background
from unmingle.apps.video._format import FrameFormat
from unmingle.metrics import MaskCounts, f_measure
from unmingle.synth import crowd_scene, shaking_scene, water_scene


def test_a_street_is_separated(film):
    frames, truth = film
    found = pushed(Stream(), frames)
    masks = np.array([one.mask for one in found])
    assert f_measure(masks[60:], truth[60:]).f > 0.75
    assert {one.state for one in found[:30]} == {"starting"}
    assert not masks[:30].any()
    last = found[-1]
    assert last.background.dtype == np.uint8
    assert last.mask.dtype == bool
    np.testing.assert_array_equal(last.foreground, np.where(last.mask, frames[-1], 0))
    assert last.score == pytest.approx(last.mask.mean())
    assert sum(box.area for box in last.boxes) == last.mask.sum()
    for box in last.boxes:
        assert last.mask[box.top : box.bottom, box.left : box.right].sum() >= box.area
    assert (last.index, last.time) == (119, 119.0)


@pytest.mark.parametrize("make", [water_scene, shaking_scene, crowd_scene], ids=lambda make: make.__name__)
def test_people_are_found_before_restless_backgrounds(make):
    scene = make(160, 144, 192, random_state=1)
    masks = np.array([found.mask for found in separated_frames(scene.frames)])
    found = f_measure(masks[60:], scene.masks[60:])
    assert found.f > 0.68
    if make is not crowd_scene:  # a background that stands still has no use for more than its median
        plain = np.abs(scene.frames - np.median(scene.frames[:30], axis=0)) > 0.1
        assert found.f > f_measure(plain[60:], scene.masks[60:]).f + 0.1


def test_the_highway_is_found_again(data_dir):
    image = pytest.importorskip("PIL.Image")
    counts = MaskCounts()
    stream = Stream()
    with zipfile.ZipFile(data_dir / "video" / "cdnet_highway_470_969.zip") as film:
        for number in range(470, 970):
            frame = image.open(BytesIO(film.read(f"input/in{number:06d}.jpg"))).convert("L")
            mask = stream.push(np.asarray(frame)).mask
            if number >= 570:
                truth = np.asarray(image.open(BytesIO(film.read(f"groundtruth/gt{number:06d}.png"))).convert("L"))
                counts += MaskCounts.of(mask, truth, labels="cdnet")
    assert counts.f_measure.f > 0.92
    assert counts.f_measure.precision > 0.9


def test_the_same_frames_give_the_same_parts(film):
    frames, _ = film
    assert same(pushed(Stream(pixel_share=0.2), frames), pushed(Stream(pixel_share=0.2), frames))


def test_inspecting_changes_nothing(film):
    frames, _ = film
    one, other = Stream(), Stream()
    pushed(one, frames[:60])
    pushed(other, frames[:60])
    other.inspect(frames[100])
    assert same(pushed(one, frames[60:80]), pushed(other, frames[60:80]))
    with pytest.raises(ValueError, match="no background yet"):
        Stream().inspect(frames[0])


def test_a_clean_picture_can_be_given(empty):
    stream = Stream().fit([empty()])
    found = stream.push(with_square(empty()))
    assert found.mask[22:34, 32:44].mean() > 0.95
    assert found.mask.sum() < 400


@pytest.mark.parametrize("dtype", ["uint16", "float32", "float64"])
def test_all_numbers_of_a_camera_give_the_same_masks(film, dtype):
    frames, _ = film
    expected = [one.mask for one in pushed(Stream(), frames[:70])]
    other = frames[:70] * np.uint16(257) if dtype == "uint16" else (frames[:70] / 255).astype(dtype)
    found = pushed(Stream(), other)
    assert np.mean([(a != b.mask).mean() for a, b in zip(expected, found, strict=True)]) < 0.002
    assert found[-1].background.dtype == (np.uint16 if dtype == "uint16" else np.float32)


def test_false_alarms_are_as_rare_as_asked_for():
    rng = np.random.default_rng(0)
    for rate in (0.02, 0.002):
        stream, marked = Stream(false_alarm_rate=rate, min_area=1), []
        for number in range(260):
            stream.push(np.clip(0.5 + 0.04 * rng.standard_normal((60, 80)), 0, 1).astype(np.float32))
            if number >= 160:
                marked.append((stream.state.detector.canvas.marked >= 256).mean())
        assert rate / 3 < np.mean(marked) < 3 * rate


def test_some_pixels_are_enough(film):
    frames, truth = film
    scores = [f_measure(np.array([one.mask for one in pushed(Stream(pixel_share=p), frames)])[60:], truth[60:]).f
              for p in (1.0, 0.1)]  # fmt: skip
    assert scores[1] > scores[0] - 0.03


def test_a_trained_network_may_find_the_codes(film):
    frames, truth = film
    encoder = network(frames)
    stream = Stream(encoder=encoder)
    found = pushed(stream, frames)
    np.testing.assert_array_equal(stream.state.model.components, encoder.components)
    assert f_measure(np.array([one.mask for one in found])[60:], truth[60:]).f > 0.6
    with pytest.raises(ValueError, match="4800 numbers, got 2400"):
        pushed(Stream(encoder=encoder), frames[:40, :30])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (np.zeros((4, 5, 2), np.uint8), r"shape \(4, 5, 2\)"),
        (np.full((4, 5), 200.0), "divide it by 255"),
        (np.full((4, 5), np.nan), "NaN"),
        (np.zeros((4, 5), np.int64), "int64"),
        (np.zeros((7, 5), np.uint8), "began with"),
        (np.zeros((4, 5), np.uint16), "began with"),
    ],
    ids=["channels", "range", "nan", "integers", "size", "type"],
)
def test_bad_frames_are_refused(frame, message):
    stream = Stream()
    stream.push(np.zeros((4, 5), np.uint8))
    with pytest.raises(ValueError, match=message):
        stream.push(frame)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"forgetting": 0.0}, "forgetting"),
        ({"false_alarm_rate": 0}, "false_alarm_rate"),
        ({"encoder": "fast"}, "encoder"),
        ({"pixel_share": 0}, "pixel_share"),
        ({"smoothing": 4}, "smoothing"),
        ({"patience": -1}, "patience"),
        ({"start_size": 0}, "start_size"),
        ({"forgetting": "long"}, "forgetting"),
        ({"smoothing": 3.0}, "smoothing"),
        ({"random_state": -1}, "random_state"),
        ({"region": np.full((3, 3), np.nan)}, "region"),
    ],
    ids=lambda value: "-".join(map(str, next(iter(value.items()))))[:20] if isinstance(value, dict) else "",
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Stream(**settings)


def test_pictures_of_the_wrong_size_are_refused(empty):
    with pytest.raises(ValueError, match="region must have the shape"):
        Stream(region=np.ones((3, 3), bool)).push(empty())
    with pytest.raises(ValueError, match="known_foreground must have the shape"):
        watched(empty).push(empty(), known_foreground=np.ones((3, 3), bool))


def test_black_and_constant_pictures_do_no_harm():
    for value in (0, 255):
        found = pushed(Stream(), np.full((50, 12, 16), value, np.uint8))
        assert not any(one.mask.any() for one in found)
        assert np.abs(found[-1].background.astype(int) - value).max() <= 1


def test_refused_frames_do_not_count(empty):
    stream = Stream()
    with pytest.raises(ValueError, match="no background yet"):
        stream.inspect(np.zeros((4, 5), np.uint8))
    stream.push(empty())
    for bad in ({"known_foreground": np.ones((3, 3), bool)}, {"time": "noon"}):
        with pytest.raises(ValueError):  # noqa: PT011
            stream.push(empty(), **bad)
    assert stream.state.n_frames == 1


def test_frames_of_any_make_are_taken(film):
    frames = film[0][:40]
    expected = pushed(Stream(), frames)
    fixed = frames.copy()
    fixed.flags.writeable = False
    assert same(expected, pushed(Stream(), fixed))
    assert same(expected, pushed(Stream(), [np.asfortranarray(frame) for frame in frames]))
    masked = pushed(Stream(), [np.ma.masked_array(frame) for frame in frames])
    assert type(masked[-1].background) is np.ndarray
    assert same(expected, masked)


def test_a_buffer_may_be_used_again(film):
    frames, buffer = film[0][:30], np.empty_like(film[0][0])

    def reused():
        for frame in frames:
            buffer[:] = frame
            yield buffer

    one, other = Stream().fit(reused()), Stream().fit(frames)
    np.testing.assert_array_equal(one.state.model.components, other.state.model.components)


def test_tall_pictures_are_probed_everywhere():
    rng = np.random.default_rng(0)
    frames = np.clip(rng.normal(100, 20, (60, 1000, 30)), 0, 255).astype(np.uint8)
    frames[:, :, 0] = 0
    stream = Stream()
    pushed(stream, frames)
    assert stream.card_["noise"] > 10


def test_some_rows_of_a_large_picture_tell_its_light():
    rng = np.random.default_rng(0)
    scene = rng.integers(40, 200, (240, 320))

    def lit(gain):
        return np.clip(gain * scene + rng.normal(0, 2, scene.shape), 0, 255).astype(np.uint8)

    stream = Stream()
    pushed(stream, [lit(gain) for gain in 1.0 + 0.1 * np.sin(np.arange(60))])
    assert stream.state.model.stride == 4
    for gain in (0.95, 1.05):
        assert np.abs(stream.inspect(lit(gain)).background - gain * scene).mean() < 1.0


def test_rounding_is_no_direction_of_the_background():
    """Frames of two pictures have rank 2, and five atoms of one picture rank 1, however long they have been seen."""
    rng = np.random.default_rng(0)
    picture, light = 0.3 + 0.5 * rng.random(30_000), 0.006 * rng.uniform(-1, 1, 30_000)
    frames = (picture + np.outer(np.sin(np.arange(30)), light)).astype(np.float32)
    background = Background.start(
        frames, 5, FrameFormat.of(picture[None].astype(np.float32)), np.zeros(0, np.int32), 1, None
    )
    assert len(background.components) == 2
    background.components = (np.outer(rng.uniform(0.5, 1.5, 5), np.ones(30_000)) * picture).astype(np.float32)
    background.squares, background.weight = 20_000 * np.eye(5), 20_000.0
    assert background.rank == 1
