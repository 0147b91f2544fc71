"""Measures of matrices agree with hand-made cases and with geometry."""

import numpy as np
import pytest

from unmingle.metrics import relative_error, subspace_angle


def test_relative_error_is_relative():
    truth = np.array([[3.0, 0.0], [0.0, 4.0]])
    assert relative_error(truth, truth) == 0.0
    assert relative_error(0 * truth, truth) == 1.0
    assert relative_error(1e3 * 1.1 * truth, 1e3 * truth) == pytest.approx(0.1)
    assert relative_error(np.float32(truth) + 5, truth) == pytest.approx(2.0)


def test_relative_error_to_nothing_is_defined():
    assert relative_error([0.0, 0.0], [0.0, 0.0]) == 0.0
    assert relative_error([0.0, 1e-9], [0.0, 0.0]) == np.inf
    with pytest.raises(ValueError, match="estimate must have the shape"):
        relative_error([1.0], [1.0, 2.0])


@pytest.mark.parametrize("degrees", [0.0, 1e-5, 12.0, 45.0, 89.0, 90.0])
def test_angle_between_planes_that_share_a_line(degrees, rng):
    turn = np.radians(degrees)
    A = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    B = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, np.cos(turn), np.sin(turn), 0.0]])
    rotation = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    mixed = rng.standard_normal((5, 2)) @ B
    assert subspace_angle(A, B) == pytest.approx(degrees, abs=1e-9)
    assert subspace_angle(A @ rotation, mixed @ rotation) == pytest.approx(degrees, abs=5e-6)
    assert subspace_angle(mixed @ rotation, A @ rotation) == pytest.approx(degrees, abs=5e-6)


def test_angle_of_a_contained_space_is_zero(rng):
    B = rng.standard_normal((4, 9))
    assert subspace_angle(rng.standard_normal((2, 4)) @ B, B) < 1e-6
    assert subspace_angle(np.zeros((2, 9)), B) == 0.0
    assert subspace_angle(np.zeros((0, 9)), B) == 0.0


def test_rounding_of_float32_adds_no_dimension(rng):
    B = rng.standard_normal((2, 50))
    rounded = (rng.standard_normal((30, 2)) @ B).astype(np.float32)
    away = np.vstack([B[:1], rng.standard_normal((1, 50))])
    assert subspace_angle(rounded, B) < 1e-3
    assert subspace_angle(rounded, away) > 45.0


@pytest.mark.parametrize("B", [np.ones((2, 3)), np.ones(4)])
def test_angle_refuses_what_are_no_matching_matrices(B):
    with pytest.raises(ValueError, match="same number of columns"):
        subspace_angle(np.ones((2, 4)), B)
