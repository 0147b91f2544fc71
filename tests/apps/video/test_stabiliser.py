"""A camera that shakes is followed: what it sees is laid over the background, and what is found is laid back."""

import numpy as np
import pytest
from scipy import ndimage
from streams import network, pushed, same

import unmingle
from unmingle.alignment.families import AlignedFrame, inverse
from unmingle.apps.video import Settings, Stream, separate
from unmingle.apps.video._stabiliser import nearly_still
from unmingle.media import Planes
from unmingle.store import StoreError

SHAPE, BORDER = (96, 128), 24
FRAME = AlignedFrame(*SHAPE)
PARAMETERS = {"translation": 2, "similarity": 4, "projective": 8}


@pytest.fixture(scope="module")
def ground():
    """A picture with texture and colours, larger than what a camera sees of it."""
    rng = np.random.default_rng(3)
    rough = [ndimage.gaussian_filter(rng.normal(size=(SHAPE[0] + 48, SHAPE[1] + 48)), s) for s in (2.0, 4.0, 5.0)]
    light, red, blue = (part / part.std() for part in rough)
    return np.stack([120 + 30 * light + 12 * red, 120 + 30 * light, 120 + 30 * light + 12 * blue], axis=2)


def seen(ground, matrix, rng, box=None, noise=2.0):
    """What a camera sees after a matrix, which maps places of the background to those of the frame; and the truth."""
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    places = inverse(matrix) @ np.stack([x.ravel(), y.ravel(), np.ones(x.size)])
    places = places[:2] / places[2]
    read = [ndimage.map_coordinates(part, places[::-1] + BORDER, order=3) for part in np.moveaxis(ground, 2, 0)]
    frame, truth = np.stack(read, axis=1).reshape(*SHAPE, 3), np.zeros(SHAPE, bool)
    if box is not None:
        top, left, bottom, right = box
        across, down = places[0].reshape(SHAPE), places[1].reshape(SHAPE)
        truth = (down >= top) & (down < bottom) & (across >= left) & (across < right)
        frame[truth] = 250
    return np.clip(frame + rng.normal(0, noise, frame.shape), 0, 255).astype(np.uint8), truth


def walk(family, rng, n, most=4.0):
    place, matrices = np.zeros(PARAMETERS[family]), []
    for _ in range(n):
        place = np.clip(place + rng.uniform(-1.5, 1.5, place.size), -most, most)
        matrices.append(FRAME.to_matrix(family, place))
    return np.stack(matrices)


def shaking(ground, family, rng, n=70, colour=True):
    """Frames of a shaking camera with a thing that walks, truth, and the matrices."""
    matrices, frames, truths = walk(family, rng, n), [], []
    for i, matrix in enumerate(matrices):
        frame, truth = seen(ground, matrix, rng, (40, i, 62, i + 22) if i >= 30 else None)
        frames.append(Planes.from_rgb(frame) if colour else np.ascontiguousarray(frame[..., 1]))
        truths.append(truth)
    return frames, np.stack(truths), matrices


def overlap(masks, truths):
    both = np.logical_and(masks, truths).sum()
    return 2 * both / (np.sum(masks) + np.sum(truths))


@pytest.mark.parametrize("family", PARAMETERS)
def test_a_shaking_camera_is_followed_from_the_first_frame_on(ground, rng, family):
    frames, truths, matrices = shaking(ground, family, rng)
    stream = Stream(stabilise=family)
    found, places = [], []
    for frame in frames:
        found.append(stream.push(frame))
        places.append(None if stream.state.stabiliser is None else stream.state.stabiliser.matrix)
    apart = inverse(matrices[35]) @ places[35]  # the background lies where the first frames were on average
    errors = [float(FRAME.moves(places[i], matrices[i] @ apart)) for i in range(36, 70)]
    assert np.mean(errors) < 0.1
    plain = pushed(Stream(), frames)
    good, bad = (overlap([one.mask for one in ones[32:]], truths[32:]) for ones in (found, plain))
    assert good > 0.93
    assert bad < good - 0.03
    for one, truth in zip(found[32:], truths[32:], strict=True):
        assert sum(box.area for box in one.boxes) == one.mask.sum()
        assert one.score == one.mask.sum() / one.mask.size
        off = np.abs(one.background.luma.astype(int) - one.frame.luma)[~truth]
        assert np.quantile(off, 0.95) < 12  # the background fits the frame as the camera saw it: noise of two steps


@pytest.mark.parametrize("kind", ["grey", "colours", "planes", "float32"])
def test_frames_of_every_kind(ground, rng, kind):
    frames, truths, _ = shaking(ground, "translation", rng, 45)
    if kind == "colours":
        frames = [frame.to_rgb() for frame in frames]
    elif kind != "planes":
        frames = [frame.luma if kind == "grey" else (frame.luma / 255).astype(np.float32) for frame in frames]
    found = pushed(Stream(stabilise="translation"), frames)
    assert overlap([one.mask for one in found[33:]], truths[33:]) > 0.85
    last = found[-1]
    assert type(last.background) is type(last.frame)
    assert last.background.shape == last.frame.shape
    assert last.background.dtype == last.frame.dtype
    if kind != "planes":
        assert np.array_equal(last.background, last.background)  # made once, kept


@pytest.mark.parametrize("cut", [12, 52])
def test_a_stream_that_follows_resumes_to_the_bit(ground, rng, tmp_path, cut):
    frames, _, _ = shaking(ground, "similarity", rng, colour=False)
    whole = pushed(Stream(stabilise="similarity"), frames)
    first = Stream(stabilise="similarity")
    parts = pushed(first, frames[:cut])
    first.save(tmp_path / "camera.safetensors")
    again = unmingle.load(tmp_path / "camera.safetensors")
    assert again.settings.stabilise == "similarity"
    assert same(whole, parts + pushed(again, frames[cut:]))


def test_damaged_places_are_refused(ground, rng, tmp_path):
    stream, path = Stream(stabilise="translation", start_size=10), tmp_path / "camera.safetensors"
    pushed(stream, shaking(ground, "translation", rng, 15, colour=False)[0])
    stream.save(path)
    stored = unmingle.store.read(path)
    for name, wrong in (("reference", np.zeros(7, np.uint8)), ("light", np.full(2, np.nan)), ("matrix", np.eye(2))):
        unmingle.store.write(
            path, "VideoStream", stored.parameters, stored.arrays | {f"scene.stabiliser.{name}": wrong}
        )
        with pytest.raises(StoreError):
            unmingle.load(path)


def test_a_look_leaves_no_trace(ground, rng):
    frames, _, _ = shaking(ground, "translation", rng, colour=False)
    one, other = Stream(stabilise="translation"), Stream(stabilise="translation")
    pushed(one, frames[:50])
    pushed(other, frames[:50])
    looked = one.inspect(frames[60])
    assert looked.mask.shape == SHAPE
    assert same(pushed(one, frames[50:]), pushed(other, frames[50:]))


def test_known_foreground_is_meant_in_the_frame(ground, rng):
    frames, truths, _ = shaking(ground, "translation", rng, colour=False)
    stream = Stream(stabilise="translation")
    for frame, truth in zip(frames[:60], truths, strict=False):
        stream.push(frame, known_foreground=ndimage.binary_dilation(truth, iterations=3))
    found = stream.push(frames[60], known_foreground=truths[60])
    assert overlap(found.mask, truths[60]) > 0.85


def test_a_pan_is_still_noticed_and_the_camera_followed_again(ground, rng):
    wide = np.tile(ground, (1, 3, 1))[:, : 3 * SHAPE[1]]
    stream, states = Stream(stabilise="translation"), []
    for i in range(150):
        x = 2 * np.clip(i - 50, 0, 60)
        frame = wide[10 : 10 + SHAPE[0], x : x + SHAPE[1], 1] + rng.normal(0, 2, SHAPE)
        states.append(stream.push(np.clip(frame, 0, 255).astype(np.uint8)).state)
    assert "moving" not in states[:51]
    assert "moving" in states[51:110]
    assert states[-1] == "watching"
    assert stream.card_["camera_moves"] >= 1


def test_the_warning_names_the_option_unless_it_is_on(ground, rng):
    frames = [seen(ground, np.eye(3), rng)[0][..., 1] for _ in range(45)]
    other = [np.ascontiguousarray(frame[::-1, ::-1]) for frame in frames]
    told = separate(np.stack(frames + other)).warnings
    assert "--stabilise" in told[0]
    told = separate(np.stack(frames + other), settings=Settings(stabilise="translation")).warnings
    assert len(told) == 1
    assert "--stabilise" not in told[0]


def test_a_camera_that_stands_is_separated_as_ever(ground, rng):
    frames = []
    for i in range(60):
        frame, _ = seen(ground, np.eye(3), rng, (40, i, 62, i + 22) if i >= 30 else None)
        frames.append(np.ascontiguousarray(frame[..., 1]))
    assert same(pushed(Stream(), frames), pushed(Stream(stabilise="translation"), frames))


def test_what_cannot_be_followed(ground, rng):
    with pytest.raises(ValueError, match="stabilise must be one of 'translation', 'similarity', 'projective'"):
        Stream(stabilise="affine")
    with pytest.raises(ValueError, match="stabilise cannot be used with a trained encoder"):
        Stream(encoder=network(np.zeros((60, 8, 8), np.uint8) + 9), stabilise="translation")
    blank = np.full((60, *SHAPE), 90, np.uint8)
    assert not any(found.mask.any() for found in pushed(Stream(stabilise="projective"), blank))


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (7, 50), (48, 1)])
def test_pictures_too_small_to_be_followed_are_left_as_they_are(rng, shape):
    frames = rng.integers(0, 255, (40, *shape), dtype=np.uint8)
    for family in PARAMETERS:
        assert same(pushed(Stream(), frames), pushed(Stream(stabilise=family), frames))


def test_only_shifts_by_nearly_whole_pixels_are_made_whole():
    assert nearly_still(FRAME, FRAME.to_matrix("translation", [0.1, -0.05])) is None
    assert np.array_equal(
        nearly_still(FRAME, FRAME.to_matrix("translation", [3.1, -1.95])),
        FRAME.to_matrix("translation", [3.0, -2.0]),
    )
    turned = FRAME.to_matrix("similarity", [0.0, 2.0, 0.0, 0.0])
    assert nearly_still(FRAME, turned) is turned
