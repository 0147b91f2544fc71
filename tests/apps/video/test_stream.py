"""Streams of frames: what they find, what they learn, and that they can be stopped and resumed."""

import zipfile
from io import BytesIO
from itertools import pairwise

import numpy as np
import pytest

import unmingle
from unmingle.apps.video import Stream, separate
from unmingle.apps.video._background import Background
from unmingle.media import MediaError
from unmingle.metrics import MaskCounts, f_measure
from unmingle.store import StoreError
from unmingle.synth import crowd_scene, shaking_scene, surveillance_scene, water_scene


@pytest.fixture(scope="module")
def film():
    """A street at dusk, as bytes, with its truth."""
    scene = surveillance_scene(120, 60, 80, random_state=0)
    return np.rint(255 * scene.frames).astype(np.uint8), scene.masks


@pytest.fixture(scope="module")
def empty():
    """A still scene with noise of three steps, and a generator of more of its frames."""
    rng = np.random.default_rng(5)
    scene = np.rint(255 * surveillance_scene(1, 60, 80, n_people=0, n_cars=0, noise=0.0, random_state=1).frames[0])

    def frame():
        return np.clip(np.rint(scene + rng.normal(0, 3, scene.shape)), 0, 255).astype(np.uint8)

    return frame


def watched(frame, n=60, **settings):
    """A stream that has seen a scene for a while."""
    stream = Stream(**settings)
    for _ in range(n):
        found = stream.push(frame())
    assert not found.mask.any()
    return stream


def pushed(stream, frames):
    return [stream.push(frame) for frame in frames]


def same(one, other):
    arrays = [(a.mask, b.mask) for a, b in zip(one, other, strict=True)]
    arrays += [(a.background, b.background) for a, b in zip(one, other, strict=True)]
    return all(np.array_equal(a, b) for a, b in arrays) and [a.boxes for a in one] == [b.boxes for b in other]


def network(frames):
    """Five layers for the background of some frames."""
    model = unmingle.RobustPCA(n_components=4).fit(frames[:60:2].reshape(30, -1) / 255)
    components = model.components_.astype(np.float32)
    return unmingle.Encoder.from_components(components, rank_penalty=0.1, outlier_penalty=0.03, n_layers=5)


def with_square(frame, top=20, left=30, side=16, step=70):
    covered = frame.astype(int)
    covered[top : top + side, left : left + side] += step
    return np.clip(covered, 0, 255).astype(np.uint8)


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
    masks = np.array([found.mask for found in separate(scene.frames)])
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


def test_lamps_may_be_switched(data_dir):
    with np.load(data_dir / "video" / "i2r_lobby.npz") as stored:
        frames = np.cumsum(stored["tdiff"], axis=0, dtype=np.uint8)
    stream = Stream()
    shares = np.array([stream.push(frame).score for frame in frames])
    switches = [426, 433, 448, 1062, 1078, 1085, 1091, 1096, len(frames)]
    for switch, following in pairwise(switches):
        assert (shares[switch + 10 : following] < 0.05).all()
    assert stream.card_["scene_jumps"] >= 2


def test_every_frame_of_a_film_has_a_mask(film):
    frames, _ = film
    found = list(separate(frames[:70]))
    assert [one.index for one in found] == list(range(70))
    assert {one.state for one in found} == {"watching"}
    assert any(one.mask.any() for one in found[:30])
    np.testing.assert_allclose([one.time for one in found[:3]], [0.0, 0.04, 0.08])


def test_short_films_are_separated_too(film):
    frames, _ = film
    assert len(list(separate(frames[:7]))) == 7
    assert len(list(separate(frames[:1]))) == 1


def test_frames_before_a_failure_are_kept(film):
    frames, _ = film

    def broken():
        yield from frames[:10]
        yield frames[0][:-1]

    found, numbers = separate(broken()), []
    with pytest.raises(MediaError, match="59"):
        numbers.extend(one.index for one in found)
    assert numbers == list(range(10))


def test_settings_and_a_stream_exclude_each_other():
    with pytest.raises(ValueError, match="either a stream or settings"):
        next(separate([], stream=Stream(), forgetting=0.9))


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


def test_the_same_frames_give_the_same_parts(film):
    frames, _ = film
    assert same(pushed(Stream(pixel_share=0.2), frames), pushed(Stream(pixel_share=0.2), frames))


def refused(path, parameters, arrays):
    unmingle.store.write(path, "VideoStream", parameters, arrays)
    with pytest.raises(StoreError, match="does not hold a complete VideoStream"):
        unmingle.load(path)


def test_damaged_models_are_refused(film, tmp_path):
    """The compiled loops trust the sizes of what a file brings."""
    stream = Stream(pixel_share=0.5)
    pushed(stream, film[0][:40])
    stored, path = unmingle.store.read(_saved(stream, tmp_path)), tmp_path / "bad.safetensors"
    for name, part in stored.arrays.items():
        refused(path, stored.parameters, {other: kept for other, kept in stored.arrays.items() if other != name})
        refused(path, stored.parameters, stored.arrays | {name: part[:-1] if name != "sample" else part[::-1].copy()})
        wrong = part.astype(np.float64 if part.dtype != np.float64 else np.float32)
        refused(path, stored.parameters, stored.arrays | {name: wrong})
        if part.dtype.kind == "f":
            refused(path, stored.parameters, stored.arrays | {name: np.full_like(part, np.nan)})
    for wrong in ({"shape": [10**8, 10**8]}, {"shape": [60, 80, 2]}, {"dtype": "float64"}, {"shape": None}):
        refused(path, stored.parameters | wrong, stored.arrays)
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
    before = stream._model.arrays() | {}
    kept = {name: part.copy() for name, part in before.items() if name != "codes"}
    assert {one.state for one in pushed(stream, frames[60:])} == {"frozen"}
    assert all(np.array_equal(kept[name], part) for name, part in stream._model.arrays().items() if name != "codes")


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
                marked.append((stream._detector.canvas.marked >= 256).mean())
        assert rate / 3 < np.mean(marked) < 3 * rate


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


def test_known_foreground_stays_out(empty):
    known = np.zeros((60, 80), dtype=bool)
    known[18:38, 28:48] = True
    for told, melted in ((known, False), (None, True)):
        stream = watched(empty, patience=None, false_alarm_rate=1e-12)
        for _ in range(150):
            stream.push(with_square(empty(), step=12), known_foreground=told)
        frame = with_square(empty(), step=12)
        left = frame.astype(int) - stream.push(frame, known_foreground=told).background
        assert (left[24:32, 34:42].mean() < 6) == melted


def test_only_the_region_is_watched(empty):
    region = np.zeros((60, 80), dtype=bool)
    region[:, 40:] = True
    stream = watched(empty, region=region)
    found = stream.push(with_square(empty(), left=32))
    assert not found.mask[:, :40].any()
    assert found.mask[24:32, 42:46].mean() > 0.9
    assert found.score == found.mask.sum() / region.sum()


def test_small_regions_are_dropped(empty):
    small = with_square(empty(), side=8)
    assert watched(empty).push(small).mask.any()
    assert not watched(empty, min_area=100).push(small).mask.any()


def test_shadows_are_told_from_objects_by_colour(empty):
    def coloured(square=None):
        frame = np.stack([empty(), empty() // 2 + 60, empty() // 3 + 40], axis=-1)
        if square is not None:
            frame[20:36, 30:46] = np.rint(frame[20:36, 30:46] * np.array(square)).astype(np.uint8)
        return frame

    for shadows in (False, True):
        stream = watched(coloured, shadows=shadows)
        assert stream.inspect(coloured((0.6, 0.6, 0.6))).mask[24:32, 34:42].all() == shadows
        assert stream.inspect(coloured((0.4, 0.9, 0.9))).mask[24:32, 34:42].mean() > 0.9


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
    np.testing.assert_array_equal(stream._model.components, encoder.components)
    assert f_measure(np.array([one.mask for one in found])[60:], truth[60:]).f > 0.6
    with pytest.raises(ValueError, match="4800 numbers, got 2400"):
        pushed(Stream(encoder=encoder), frames[:40, :30])


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


def test_light_returns_after_a_black_start_and_a_black_spell(empty):
    black = np.zeros((60, 80), np.uint8)
    stream = Stream()
    pushed(stream, [black] * 40)
    found = [stream.push(empty()) for _ in range(30)]
    assert not any(one.mask.any() for one in found[15:])
    assert np.abs(stream._model.components).max() < 1, "of the size of a frame over that of a code"
    pushed(stream, [black] * 2000)
    found = [stream.push(empty()) for _ in range(20)]
    assert not any(one.mask.any() for one in found[10:])
    assert np.abs(found[-1].background.astype(int) - empty()).mean() < 6
    assert np.isfinite(stream._model.components).all()


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


def test_what_is_known_everywhere_changes_nothing(empty):
    for encoder in ("layers", "exact"):
        stream = watched(empty, encoder=encoder)
        before = stream._model.components.copy()
        stream.push(255 - empty(), known_foreground=np.ones((60, 80), bool))
        np.testing.assert_allclose(stream._model.components, before, rtol=1e-2)


def test_a_small_region_does_not_darken_the_background(empty):
    small = np.zeros((60, 80), dtype=bool)
    small[26:36, 26:36] = True
    stream = watched(empty, region=small)
    assert abs(stream.push(empty()).background[small].mean() - empty()[small].mean()) < 3
    assert stream.push(with_square(empty(), top=30, left=30)).mask[31:35, 31:35].mean() > 0.7


def test_masks_stay_within_a_region_with_holes(empty):
    region = np.ones((60, 80), dtype=bool)
    region[::3, ::3] = False
    found = watched(empty, region=region).push(255 - empty())
    assert not found.mask[~region].any()
    assert found.score <= 1.0


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


def test_refused_frames_do_not_count(empty):
    stream = Stream()
    with pytest.raises(ValueError, match="no background yet"):
        stream.inspect(np.zeros((4, 5), np.uint8))
    stream.push(empty())
    for bad in ({"known_foreground": np.ones((3, 3), bool)}, {"time": "noon"}):
        with pytest.raises(ValueError):  # noqa: PT011
            stream.push(empty(), **bad)
    assert stream.n_frames == 1


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
    np.testing.assert_array_equal(one._model.components, other._model.components)


def test_tall_pictures_are_probed_everywhere():
    rng = np.random.default_rng(0)
    frames = np.clip(rng.normal(100, 20, (60, 1000, 30)), 0, 255).astype(np.uint8)
    frames[:, :, 0] = 0
    stream = Stream()
    pushed(stream, frames)
    assert stream.card_["noise"] > 10


def test_rounding_is_no_direction_of_the_background():
    """Frames of two pictures have rank 2, and five atoms of one picture rank 1, however long they have been seen."""
    rng = np.random.default_rng(0)
    picture, light = 0.3 + 0.5 * rng.random(30_000), 0.006 * rng.uniform(-1, 1, 30_000)
    frames = (picture + np.outer(np.sin(np.arange(30)), light)).astype(np.float32)
    background = Background.start(frames, 5, 1, np.zeros(0, np.int32), None)
    assert len(background.components) == 2
    background.components = (np.outer(rng.uniform(0.5, 1.5, 5), np.ones(30_000)) * picture).astype(np.float32)
    background.squares, background.weight = 20_000 * np.eye(5), 20_000.0
    assert background.rank == 1
