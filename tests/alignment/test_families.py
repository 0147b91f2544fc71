"""Groups of transformations: exponentials, logarithms, inverses and means."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg

from unmingle.alignment.families import FAMILIES, AlignedFrame, compose, exponential, generators, inverse, logarithm

FRAME = AlignedFrame(40, 30)
families = st.sampled_from(FAMILIES)
seeds = st.integers(0, 2**32)


def members(family, seed, n=6, size=4.0):
    p = len(generators(family))
    return FRAME.to_matrix(family, np.random.default_rng(seed).uniform(-size, size, (n, p)))


@given(families, seeds)
def test_parameters_come_back(family, seed):
    parameters = np.random.default_rng(seed).uniform(-6, 6, (3, len(generators(family))))
    np.testing.assert_allclose(FRAME.to_parameters(family, FRAME.to_matrix(family, parameters)), parameters, atol=1e-7)


@given(families, seeds)
def test_exponential_and_logarithm_are_those_of_scipy(family, seed):
    small = np.tensordot(np.random.default_rng(seed).uniform(-0.4, 0.4, len(generators(family))), generators(family), 1)
    np.testing.assert_allclose(exponential(small), linalg.expm(small), atol=1e-12)
    scaled = linalg.expm(small) / np.cbrt(linalg.det(linalg.expm(small)))
    np.testing.assert_allclose(logarithm(linalg.expm(small)), linalg.logm(scaled).real, atol=1e-9)


@given(families, seeds)
def test_members_compose_to_members(family, seed):
    """What a family cannot do, none of its products does."""
    a, b, *_ = members(family, seed)
    product = compose(a, inverse(b))
    rest = compose(inverse(FRAME.to_matrix(family, FRAME.to_parameters(family, product))), product)
    np.testing.assert_allclose(FRAME.from_pixels @ rest @ FRAME.to_pixels, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(compose(product, inverse(product)), np.eye(3), atol=1e-9)


@given(seeds)
def test_kinds_keep_what_they_promise(seed):
    for matrix in members("euclidean", seed):
        np.testing.assert_allclose(matrix[:2, :2] @ matrix[:2, :2].T, np.eye(2), atol=1e-12)
    for matrix in members("similarity", seed):
        square = matrix[:2, :2] @ matrix[:2, :2].T
        np.testing.assert_allclose(square, square[0, 0] * np.eye(2), atol=1e-12)
    for matrix in members("affine", seed):
        np.testing.assert_allclose(matrix[2], [0, 0, 1], atol=1e-12)


@given(families, seeds)
def test_mean_is_taken_out(family, seed):
    matrices = members(family, seed)
    mean = FRAME.mean(family, matrices)
    np.testing.assert_allclose(FRAME.to_parameters(family, inverse(mean) @ matrices).sum(axis=0), 0, atol=1e-7)


def test_mean_of_shifts_is_their_mean():
    shifts = np.array([[1.0, 2.0], [3.0, -4.0], [2.0, 8.0]])
    mean = FRAME.mean("translation", FRAME.to_matrix("translation", shifts))
    np.testing.assert_allclose(mean[:2, 2], shifts.mean(axis=0))


def test_a_unit_moves_a_corner_by_about_a_pixel():
    for family in FAMILIES:
        for parameters in np.eye(len(generators(family))):
            assert 0.3 < FRAME.moves(FRAME.to_matrix(family, parameters)) < 1.1


@pytest.mark.parametrize(("family", "count"), [*zip(FAMILIES, [2, 3, 4, 6, 8], strict=True)])
def test_numbers_of_parameters(family, count):
    assert generators(family).shape == (count, 3, 3)
