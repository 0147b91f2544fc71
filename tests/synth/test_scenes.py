"""Moving water, a shaking camera and a crowd are what their truth says."""

import numpy as np
import pytest
from scipy.ndimage import binary_dilation, gaussian_filter

from unmingle.synth import crowd_scene, shaking_scene, water_scene
from unmingle.synth._canvas import Canvas, Stroke
from unmingle.synth._chance import oscillation, smooth_noise
from unmingle.synth._shaking import ShakingCamera

SIZE = (40, 96, 128)
SCENES = [water_scene, shaking_scene, crowd_scene]
NOBODY = {
    water_scene: {"n_people": 0, "n_boats": 0},
    shaking_scene: {"n_people": 0, "n_cars": 0},
    crowd_scene: {"n_people": 0},
}


def films(noise):
    return {make: make(*SIZE, noise=noise, random_state=0) for make in SCENES}


@pytest.fixture(scope="module")
def noisy():
    return films(0.015)


@pytest.fixture(scope="module")
def clean():
    return films(0.0)


def away_from(masks):
    """Return the pixels that nothing moving touches, not even with its blended edge."""
    padded = np.pad(masks, ((0, 0), (3, 3), (3, 3)), mode="edge")
    return ~binary_dilation(padded, np.ones((1, 5, 5)))[:, 3:-3, 3:-3]


@pytest.mark.parametrize("make", SCENES)
def test_scene_has_frames_background_and_masks(make, noisy):
    scene = noisy[make]
    assert scene.frames.shape == scene.background.shape == scene.masks.shape == SIZE
    assert scene.frames.dtype == scene.background.dtype == np.float32
    assert scene.masks.dtype == bool
    assert scene.masks.any()
    for film in (scene.frames, scene.background):
        assert film.min() >= 0.0
        assert film.max() <= 1.0
        assert film.std(axis=(1, 2)).min() > 0.08


@pytest.mark.parametrize("make", [water_scene, shaking_scene])
def test_empty_places_show_background_and_noise(make, noisy):
    scene = noisy[make]
    visible = away_from(scene.masks) & (np.abs(scene.background - 0.5) < 0.42)
    noise = (scene.frames - scene.background)[visible]
    assert abs(noise.mean()) < 5e-4
    assert noise.std() == pytest.approx(0.015, rel=0.02)


@pytest.mark.parametrize("make", [water_scene, shaking_scene])
def test_without_noise_only_movers_differ_from_the_background(make, clean):
    scene = clean[make]
    assert np.mean(np.abs(scene.frames - scene.background)[away_from(scene.masks)] > 1e-6) < 1e-3


@pytest.mark.parametrize("make", SCENES)
def test_most_of_what_moves_stands_out_but_not_all(make, clean):
    contrast = np.abs(clean[make].frames - clean[make].background)[clean[make].masks]
    assert 0.7 < np.mean(contrast > 0.06) < 0.99


@pytest.mark.parametrize("make", SCENES)
def test_scene_without_movers_is_background(make):
    scene = make(4, 48, 64, noise=0.0, random_state=1, **NOBODY[make])
    assert not scene.masks.any()
    np.testing.assert_array_equal(scene.frames, scene.background)


@pytest.mark.parametrize("make", SCENES)
def test_same_seed_gives_the_same_film(make):
    first, again, other = (make(5, 36, 48, random_state=seed).frames for seed in (6, 6, 7))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("make", SCENES)
@pytest.mark.parametrize("size", [(1, 48, 64), (3, 1, 1), (2, 31, 17)])
def test_small_films_can_be_made(make, size):
    assert make(*size, random_state=0).frames.shape == size


@pytest.mark.parametrize("make", SCENES)
@pytest.mark.parametrize("arguments", [{"n_frames": 0}, {"height": -3}, {"n_people": -1}, {"noise": -0.1}])
def test_impossible_scenes_are_refused(make, arguments):
    with pytest.raises(ValueError, match="must"):
        make(**arguments)


@pytest.fixture(scope="module")
def river():
    return water_scene(100, 180, 240, noise=0.0, random_state=3)


def test_water_moves_and_the_path_does_not(river):
    spread = river.background.std(axis=0)
    water, path = spread[68:126, 96:144], spread[168:]
    assert np.quantile(water, 0.05) > 0.04
    assert water.max() < 0.2
    assert np.median(water) > 4 * 0.015
    assert path.max() < 1e-5


def test_water_glitters(river):
    water = river.background[:, 68:126, 96:144].reshape(100, -1)
    standard = (water - water.mean(axis=0)) / water.std(axis=0)
    assert np.mean(standard**3) > 0.5


def test_water_does_not_repeat(river):
    water = river.background[:, 68:126, 96:144].reshape(100, -1)
    standard = (water - water.mean(axis=0)) / water.std(axis=0)
    likeness = [np.mean(standard[lag:] * standard[:-lag]) for lag in range(1, 80)]
    assert likeness[0] > 0.5
    assert max(likeness[4:]) < 0.5


def test_water_is_of_no_low_rank(river):
    water = river.background[:, 68:126].reshape(100, -1).astype(np.float64)
    singular_values = np.linalg.svd(water - water.mean(axis=0), compute_uv=False)
    assert np.sum(singular_values[:10] ** 2) < 0.75 * np.sum(singular_values**2)


def test_leaves_sway(river):
    leaves = river.background[:, 120:140, 4:36]
    assert np.median(leaves.std(axis=0)) > 2 * 0.015


def shift_between(picture, other):
    """Return by how many pixels, down and right, the other picture must be moved to match: phase correlation."""
    window = np.outer(*(np.hanning(n) for n in picture.shape))
    first, second = (np.fft.fft2((p - p.mean()) * window) for p in (picture, other))
    cross = first * second.conj()
    peak = np.fft.ifft2(cross / (np.abs(cross) + 1e-9)).real
    peak = gaussian_filter(peak, 1.0, mode="wrap")
    top = np.unravel_index(np.argmax(peak), peak.shape)
    place = []
    for axis, size in enumerate(peak.shape):
        low, middle, high = np.log(np.maximum(np.take(np.roll(peak, 1 - top[axis], axis), range(3), axis), 1e-12)).take(
            top[1 - axis], 1 - axis
        )
        fine = top[axis] + 0.5 * (low - high) / (low - 2 * middle + high)
        place.append((fine + size / 2) % size - size / 2)
    return np.array(place)


@pytest.mark.parametrize("shake", [1.0, 1.25])
def test_camera_shakes_as_much_as_claimed(shake):
    scene = shaking_scene(80, 120, 160, shake=shake, noise=0.0, random_state=4, **NOBODY[shaking_scene])
    shifts = np.array([shift_between(scene.background[0], frame) for frame in scene.background])
    np.testing.assert_allclose(shifts.std(axis=0), shake, rtol=0.15)
    largest = np.abs(shifts - shifts.mean(axis=0)).max()
    assert 2.0 * shake < largest < 3.5 * shake
    assert np.mean(np.abs(shifts - np.round(shifts)) > 0.1) > 0.5


def test_camera_that_does_not_shake_stands_still():
    scene = shaking_scene(6, 48, 64, shake=0.0, noise=0.0, random_state=5)
    assert np.linalg.svd(scene.background.reshape(6, -1), compute_uv=False)[1] < 1e-4


def test_movers_are_where_the_camera_sees_them():
    moves = np.array([[2.3, -1.6, 0.05], [0.0, 0.0, 0.0], [-3.0, 0.4, -0.02]])
    world = Canvas(80, 100)
    camera = ShakingCamera(moves, Canvas(60, 80, pixel=world.pixel, margin=10))
    line = Stroke(0.3, 0.4, 0.9, 0.6, 0.06, 1.0, soft=0.06)

    class Line:
        def strokes(self, time):
            yield line

    still = np.zeros((80, 100))
    world.paint(still, [line])
    for frame, seen in enumerate(camera.film(still)):
        painted = np.zeros((60, 80))
        camera.canvas.paint(painted, list(camera.see(Line(), frame)))
        np.testing.assert_allclose(painted, seen, atol=0.05)


@pytest.mark.parametrize("seed", range(3))
def test_no_frame_of_the_crowd_is_empty(seed):
    share = crowd_scene(120, 96, 128, random_state=seed).masks.mean(axis=(1, 2))
    assert share.min() > 0.1
    assert share.max() < 0.25


def test_shadows_darken_the_floor_and_are_not_in_the_masks(clean):
    scene = clean[crowd_scene]
    left = (scene.frames / scene.background)[away_from(scene.masks)]
    assert np.mean(left < 0.795) < 1e-3
    assert left.max() < 1.01
    assert 0.03 < np.mean(left < 0.95) < 0.3


def test_light_of_the_hall_drifts_slowly_and_has_rank_three():
    hall = crowd_scene(300, 24, 32, n_people=0, random_state=3).background.astype(np.float64)
    singular_values = np.linalg.svd(hall.reshape(len(hall), -1), compute_uv=False)
    assert singular_values[3] < 1e-5 * singular_values[0]
    assert np.abs(np.diff(hall, axis=0)).max() < 0.005
    assert 0.03 < np.ptp(hall, axis=0).max() < 0.3


def test_people_of_the_crowd_walk_and_stand():
    scene = crowd_scene(60, 96, 128, noise=0.0, random_state=2)
    covered = scene.masks.mean(axis=0)
    assert np.mean(covered > 0) > 0.5
    assert covered.max() > 0.6


def test_smooth_noise_and_oscillations_have_deviation_one(rng):
    assert smooth_noise(rng, (300, 400), (3.0, 2.0)).std() == pytest.approx(1.0, rel=0.05)
    swings = oscillation(rng, 4000, period=11.0, decay=15.0, count=4)
    assert swings.std() == pytest.approx(1.0, rel=0.05)
    spectrum = np.abs(np.fft.rfft(swings, axis=0)).mean(axis=1)
    assert 4000 / np.argmax(gaussian_filter(spectrum, 10)) == pytest.approx(11.0, rel=0.1)
