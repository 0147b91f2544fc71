"""Splines, smaller images and warps, held to SciPy."""

import numpy as np
import pytest
from helpers import naive
from scipy import ndimage

from unmingle.alignment.families import AlignedFrame, compose
from unmingle.alignment.pyramid import Grid, Pyramid, spline_of
from unmingle.kernels.alignment import warp_image
from unmingle.kernels.warp import BORDER, pad_image, smooth_image

FRAME = AlignedFrame(17, 12)
INSIDE = (slice(BORDER, -BORDER),) * 2


def picture(rng, shape=(31, 27)):
    return ndimage.gaussian_filter(rng.random(shape), 1.0).astype(np.float32)


@pytest.mark.parametrize("shape", [(31, 27), (5, 3), (2, 40), (1, 9), (7, 1), (1, 1)])
def test_spline_is_that_of_scipy(rng, shape):
    image = rng.random(shape).astype(np.float32)
    expected = ndimage.spline_filter(image.astype(np.float64), 3, mode="mirror")
    np.testing.assert_allclose(spline_of(image)[INSIDE], expected, atol=2e-6)
    np.testing.assert_allclose(spline_of(image)[INSIDE], naive.spline_coefficients(image), atol=2e-6)


@pytest.mark.parametrize("shape", [(31, 27), (6, 8), (2, 3), (1, 4), (1, 1)])
def test_borders_mirror(rng, shape):
    image = rng.random(shape).astype(np.float32)
    padded = np.empty([side + 2 * BORDER for side in shape], np.float32)
    pad_image(image, padded)
    assert naive.BORDER == BORDER
    np.testing.assert_array_equal(padded, naive.pad_image(image))


@pytest.mark.parametrize("shape", [(31, 27), (6, 9), (3, 2), (1, 5)])
def test_smoothing_and_halving_are_convolutions(rng, shape):
    image = rng.random(shape).astype(np.float32)
    smooth = np.empty_like(image)
    smooth_image(image, np.empty_like(image), smooth)
    np.testing.assert_allclose(smooth, naive.smooth_image(image), atol=1e-6)
    half = Pyramid.of(image, 2).levels[1][INSIDE]
    np.testing.assert_allclose(half, naive.halve_image(image), atol=1e-6)


def warp(image, matrix, cubic, level):
    """Values and slopes of a warp, at the pixels of a level."""
    m = level.grid.shape[1]
    values, slopes = np.empty(m, np.float32), np.empty((2, m), np.float32)
    warp_image(image, cubic, level.matrix(matrix), level.grid, values, slopes)
    return values, slopes


def some_matrix(rng, family="projective"):
    moved = FRAME.to_matrix(family, rng.uniform(-1.5, 1.5, {"projective": 8, "translation": 2}[family]))
    return compose([[1, 0, 7], [0, 1, 8], [0, 0, 1]], moved)


@pytest.mark.parametrize("family", ["translation", "projective"])
@pytest.mark.parametrize("cubic", [False, True])
def test_warps_are_those_of_scipy(rng, cubic, family):
    image, matrix, level = picture(rng), some_matrix(rng, family), Grid.of(FRAME, family, 0)
    source = spline_of(image) if cubic else naive.pad_image(image)
    y, x = np.mgrid[: FRAME.height, : FRAME.width]
    places = matrix @ np.stack([x.ravel(), y.ravel(), np.ones(x.size)])
    expected = ndimage.map_coordinates(
        image.astype(np.float64), (places[:2] / places[2])[::-1], order=3 if cubic else 1, mode="mirror"
    )
    np.testing.assert_allclose(warp(source, matrix, cubic, level)[0], expected, atol=2e-6)


@pytest.mark.parametrize("family", ["translation", "euclidean", "similarity", "affine", "projective"])
@pytest.mark.parametrize("cubic", [False, True])
def test_jacobian_is_the_slope_of_the_warp(rng, cubic, family):
    """Slopes times fields against differences of warps by the two sides of a small member of the family."""
    image, matrix, level = picture(rng), some_matrix(rng), Grid.of(FRAME, family, 0)
    source = (spline_of(image) if cubic else naive.pad_image(image)).astype(np.float64)
    grid = level.grid.astype(np.float64)
    p, m, step = len(level.fields), grid.shape[1], 1e-4

    def warped(parameters):
        values, slopes = np.empty(m), np.empty((2, m))
        moved = compose(matrix, FRAME.to_matrix(family, parameters))
        warp_image(source, cubic, level.matrix(moved), grid, values, slopes)
        return values, slopes

    slopes = warped(np.zeros(p))[1]
    for k in range(p):
        jacobian = np.sum(slopes * level.fields[k], axis=0)
        ahead, back = warped(step * np.eye(p)[k])[0], warped(-step * np.eye(p)[k])[0]
        wrong = np.abs((ahead - back) / (2 * step) - jacobian) > 1e-3 * np.abs(jacobian).max()
        assert wrong.mean() <= (0.0 if cubic else 0.02)  # a linear one has no slope on the lines between pixels


def test_what_lies_outside_or_is_not_known_is_nan(rng):
    image, level = picture(rng), Grid.of(FRAME, "translation", 0)
    image[20, 10] = np.nan
    values = level.cut(spline_of(image), np.array([[1, 0, -3.0], [0, 1, 15.5], [0, 0, 1]]), cubic=True)
    values = values.reshape(FRAME.height, FRAME.width)
    y, x = np.mgrid[: FRAME.height, : FRAME.width]
    outside = (x < 3) | (y + 15.5 > 30)
    assert np.isnan(values[outside]).all()
    near = (np.abs(x - 13) <= 1) & (np.abs(y + 15.5 - 20) < 1.5)
    assert np.isnan(values[near & (y < 5)]).all()
    assert np.isfinite(values[~outside & ((np.abs(x - 13) > 2) | (np.abs(y + 15.5 - 20) > 2))]).all()


@pytest.mark.parametrize("shift", [(0.0, 0.0), (10.3, 9.7), (-4.25, 3.5), (20.5, 22.0), (-30.0, 2.0), (3.0, 80.0)])
@pytest.mark.parametrize("cubic", [False, True])
def test_shifts_take_a_short_way_to_the_same_numbers(rng, shift, cubic):
    """A grid with its places in another order is no rectangle, and goes the long way."""
    image, level = picture(rng), Grid.of(FRAME, "translation", 0)
    image[18, 14] = np.nan
    source = spline_of(image) if cubic else naive.pad_image(image)
    matrix = np.array([[1, 0, shift[0]], [0, 1, shift[1]], [0, 0, 1.0]])
    order = rng.permutation(level.grid.shape[1])
    mixed = Grid.of(FRAME, "translation", 0, order)
    (values, slopes), (others, leaning) = warp(source, matrix, cubic, level), warp(source, matrix, cubic, mixed)
    np.testing.assert_allclose(values[order], others, atol=2e-6)
    known = np.isfinite(others)
    if cubic or np.modf(shift)[0].all():  # a linear one has two slopes at a pixel
        np.testing.assert_allclose(slopes[:, order][:, known], leaning[:, known], atol=2e-4)
