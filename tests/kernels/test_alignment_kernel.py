"""Gauss-Newton on transformation and code, held to a plain cost and to SciPy's minimiser."""

import numpy as np
import pytest
from scipy import ndimage, optimize

from unmingle.alignment.families import FAMILIES, AlignedFrame, compose
from unmingle.alignment.pyramid import Grid, Pyramid
from unmingle.core.prox import huber
from unmingle.kernels.alignment import align_image

FRAME = AlignedFrame(30, 26)
START = np.array([[1.0, 0, 9.0], [0, 1, 8.0], [0, 0, 1]])
LAM, LAM_STAR = 0.05, 0.02


@pytest.fixture
def scene(rng):
    """An image and components of its frame, which the start misses by less than a pixel, and a cover over a tenth."""
    picture = ndimage.gaussian_filter(rng.standard_normal((48, 44)), 2.5)
    picture = (picture / np.abs(picture).max()).astype(np.float32)
    level = Grid.of(FRAME, "translation", 0)
    sharp = level.cut(Pyramid.of(picture, 1).levels[0], START, cubic=True)
    others = 0.1 * rng.standard_normal((1, sharp.size))
    atoms = np.concatenate([sharp[None], others]).astype(np.float32)
    picture[15:24, 15:24] = 0.8
    return Pyramid.of(picture, 1).levels[0], atoms


def moved_start(rng, family):
    p = len(Grid.of(FRAME, family, 0).fields)
    return compose(START, FRAME.to_matrix(family, rng.uniform(-0.7, 0.7, p)))


def descended(image, atoms, family, start, *, tol=1e-4, radius=1.5, most=200.0, still=0.0):
    level = Grid.of(FRAME, family, 0)
    matrix, code = level.matrix(start), np.array([0.9, 0.0], np.float32)
    shape = level.grid, level.fields, level.generators, level.corners
    cost, valid, moved = align_image(
        image, True, matrix, code, *shape, atoms, (LAM, LAM_STAR), (tol, radius, most, still)
    )
    return matrix @ FRAME.from_pixels, code, cost, valid, moved


def plain_cost(image, atoms, matrix, code):
    """The cost, written down."""
    values = Grid.of(FRAME, "translation", 0).cut(image, matrix, cubic=True).astype(np.float64)
    known = np.isfinite(values)
    misfit = (values - code.astype(np.float64) @ atoms)[known]
    return huber(misfit, LAM).sum() / known.mean() + LAM_STAR / 2 * np.sum(code.astype(np.float64) ** 2)


@pytest.mark.parametrize("family", FAMILIES)
def test_ends_where_a_minimiser_does(rng, scene, family):
    image, atoms = scene
    start = moved_start(rng, family)
    matrix, code, cost, valid, moved = descended(image, atoms, family, start)
    assert cost == pytest.approx(plain_cost(image, atoms, matrix / matrix[2, 2], code), rel=1e-4)
    assert valid == 1.0
    assert moved < 1e-3
    p = len(Grid.of(FRAME, family, 0).fields)

    def at(z):
        return plain_cost(image, atoms, compose(matrix, FRAME.to_matrix(family, z[:p])), code + z[p:])

    best = optimize.minimize(at, np.zeros(p + len(code)), method="Powell", options={"xtol": 1e-4, "ftol": 1e-9})
    assert cost <= best.fun * (1 + 2e-3)
    assert FRAME.moves(FRAME.to_matrix(family, best.x[:p])) < 0.02


def test_cost_never_rises(rng, scene):
    image, atoms = scene
    start = moved_start(rng, "similarity")
    costs = [descended(image, atoms, "similarity", start, most=float(most))[2] for most in range(12)]
    assert (np.diff(costs) <= 0).all()
    assert costs[-1] < 0.9 * costs[0]


def test_steps_stay_within_the_radius_and_first_ones_leave_the_matrix(rng, scene):
    image, atoms = scene
    start = compose(START, FRAME.to_matrix("affine", np.full(6, 0.7)))
    one = descended(image, atoms, "affine", start, radius=0.2, most=1.0)[0]
    assert FRAME.moves(np.linalg.inv(start) @ one) <= 0.21
    still, code = descended(image, atoms, "affine", start, most=2.0, still=2.0)[:2]
    np.testing.assert_allclose(still, start, atol=1e-9)
    assert not np.allclose(code, [0.9, 0.0])


def test_pixels_outside_do_not_count(scene):
    image, atoms = scene
    start = START.copy()
    start[0, 2] = -3.0
    _, _, cost, valid, _ = descended(image, atoms, "translation", start, most=0.0)
    assert valid == pytest.approx(1 - 3 / FRAME.width)
    assert cost == pytest.approx(plain_cost(image, atoms, start, np.array([0.9, 0.0])), rel=1e-4)


def test_unknown_pixels_do_not_count(rng, scene):
    """A hole leads to where a minimiser goes that leaves it out."""
    image, atoms = scene
    image = image.copy()
    image[20:26, 30:36] = np.nan
    matrix, code, cost, valid, _ = descended(image, atoms, "translation", moved_start(rng, "translation"))
    assert 0.8 < valid < 0.98
    assert cost == pytest.approx(plain_cost(image, atoms, matrix, code), rel=1e-4)

    def at(z):
        return plain_cost(image, atoms, compose(matrix, FRAME.to_matrix("translation", z[:2])), code + z[2:])

    best = optimize.minimize(at, np.zeros(4), method="Powell", options={"xtol": 1e-4, "ftol": 1e-9})
    assert FRAME.moves(FRAME.to_matrix("translation", best.x[:2])) < 0.05
