"""Synthetic data is what its truth says."""

import numpy as np
import pytest
from scipy.ndimage import binary_dilation

from unmingle.synth import low_rank_plus_sparse, surveillance_scene


def test_mixture_is_the_sum_of_its_parts():
    made = low_rank_plus_sparse(70, 50, 3, noise=0.1, random_state=0)
    np.testing.assert_allclose(made.X, made.low_rank + made.outliers + made.noise, rtol=0, atol=1e-14)


def test_low_rank_part_has_the_rank_and_unit_deviation():
    made = low_rank_plus_sparse(600, 500, 10, random_state=1)
    assert np.linalg.matrix_rank(made.low_rank) == 10
    assert made.low_rank.std() == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize(("fraction", "count"), [(0.0, 0), (0.1, 200), (0.0337, 67), (1.0, 2000)])
def test_outliers_are_exactly_as_many_as_asked_for(fraction, count):
    made = low_rank_plus_sparse(50, 40, 2, outlier_fraction=fraction, random_state=2)
    assert np.count_nonzero(made.outliers) == count


def test_outliers_are_uniform_up_to_three_times_the_scale():
    made = low_rank_plus_sparse(300, 200, 2, outlier_fraction=0.5, outlier_scale=4.0, random_state=3)
    values = made.outliers[made.outliers != 0]
    assert 11.9 < np.abs(values).max() <= 12.0
    assert values.std() == pytest.approx(12.0 / np.sqrt(3.0), rel=0.02)
    assert abs(values.mean()) < 0.2


def test_noise_has_its_deviation():
    made = low_rank_plus_sparse(300, 200, 2, noise=0.25, random_state=4)
    assert made.noise.std() == pytest.approx(0.25, rel=0.02)


def test_missing_entries_are_nan_in_the_matrix_only():
    made = low_rank_plus_sparse(40, 25, 2, missing=0.3, random_state=5)
    assert np.count_nonzero(np.isnan(made.X)) == 300
    assert np.isfinite([made.low_rank, made.outliers, made.noise]).all()


def test_rank_zero_leaves_outliers_only():
    made = low_rank_plus_sparse(6, 5, 0, random_state=6)
    assert not made.low_rank.any()
    np.testing.assert_array_equal(made.X, made.outliers)


def test_dtype_is_that_of_all_parts():
    made = low_rank_plus_sparse(6, 5, 2, dtype=np.float32, missing=0.1, random_state=7)
    assert {part.dtype for part in (made.X, made.low_rank, made.outliers, made.noise)} == {np.dtype(np.float32)}


def test_seed_decides():
    def make(seed):
        return low_rank_plus_sparse(9, 8, 2, noise=0.1, random_state=seed).X

    np.testing.assert_array_equal(make(8), make(8))
    assert not np.array_equal(make(8), make(9))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n": 5, "m": 4, "rank": 5}, "rank must lie"),
        ({"n": 5, "m": 4, "rank": -1}, "rank must lie"),
        ({"n": 0, "m": 4, "rank": 0}, "non-empty"),
        ({"n": 5, "m": 4, "rank": 2, "outlier_fraction": 1.5}, "outlier_fraction must lie"),
        ({"n": 5, "m": 4, "rank": 2, "missing": float("nan")}, "missing must lie"),
        ({"n": 5, "m": 4, "rank": 2, "noise": -1.0}, "must not be negative"),
    ],
)
def test_impossible_matrices_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        low_rank_plus_sparse(**arguments)


@pytest.fixture(scope="module", params=[("calm", 0), ("calm", 1), ("calm", 2), ("changing", 0), ("changing", 1)])
def scene(request):
    light, seed = request.param
    return surveillance_scene(light=light, random_state=seed)


def test_scene_has_frames_background_and_masks(scene):
    assert scene.frames.shape == scene.background.shape == scene.masks.shape == (120, 120, 160)
    assert scene.frames.dtype == scene.background.dtype == np.float32
    assert scene.masks.dtype == bool
    for film in (scene.frames, scene.background):
        assert film.min() >= 0.0
        assert film.max() <= 1.0


def test_background_has_rank_three_in_changing_light(scene):
    singular_values = np.linalg.svd(np.float64(scene.background.reshape(120, -1)), compute_uv=False)
    assert singular_values[3] < 1e-6 * singular_values[0]
    assert singular_values[2] > 3e-3 * singular_values[0]


def test_empty_places_show_background_and_noise(scene):
    noise = (scene.frames - scene.background)[~binary_dilation(scene.masks, np.ones((1, 3, 3)))]
    assert abs(noise.mean()) < 5e-4
    assert noise.std() == pytest.approx(0.02, rel=0.02)


def test_objects_stand_out(scene):
    contrast = np.abs(scene.frames - scene.background)[scene.masks]
    assert np.mean(contrast > 0.06) > 0.85


def test_objects_come_and_go(scene):
    covered = scene.masks.mean(axis=(1, 2))
    assert covered.max() > 0.05
    assert covered.min() < 0.2 * covered.max()
    assert 0.0 < scene.masks.mean(axis=0).max() < 0.4
    assert scene.masks[:, :, 0].any() or scene.masks[:, :, -1].any()


def test_without_noise_only_objects_differ_from_the_background():
    scene = surveillance_scene(30, 48, 64, noise=0.0, random_state=4)
    differs = np.abs(scene.frames - scene.background) > 1e-6
    reach = binary_dilation(scene.masks, np.ones((1, 3, 3)))
    assert scene.masks.any()
    inner = (slice(None), slice(1, -1), slice(1, -1))
    assert not (differs & ~reach)[inner].any()


def test_empty_street_has_empty_masks():
    scene = surveillance_scene(5, 48, 64, n_people=0, n_cars=0, noise=0.0, random_state=5)
    assert not scene.masks.any()
    np.testing.assert_allclose(scene.frames, scene.background, atol=1e-6)


def test_same_seed_gives_the_same_film():
    first, again, other = (surveillance_scene(8, 24, 32, random_state=seed).frames for seed in (6, 6, 7))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_changing_light_changes_every_place_for_long():
    empty = surveillance_scene(light="changing", random_state=0).background
    middle = np.median(empty, axis=0)
    assert np.median(np.abs(empty - middle).max(axis=0)) > 0.1


@pytest.mark.parametrize(
    "arguments", [{"n_frames": 0}, {"height": -3}, {"n_people": -1}, {"noise": -0.1}, {"light": "neon"}]
)
def test_impossible_scenes_are_refused(arguments):
    with pytest.raises(ValueError, match="must"):
        surveillance_scene(**arguments)
