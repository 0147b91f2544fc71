"""Measures agree with hand-made cases, with scikit-learn and with geometry."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_fscore_support

from unmingle.metrics import FMeasure, f_measure, relative_error, subspace_angle


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_f_measure_agrees_with_scikit_learn(pairs):
    mask, truth = np.array(pairs).T
    if mask.any() and truth.any():
        expected = precision_recall_fscore_support(truth, mask, average="binary")[:3]
        np.testing.assert_allclose(f_measure(mask, truth), expected)


def test_f_measure_counts_over_all_frames():
    truth = np.zeros((2, 3, 4), dtype=bool)
    truth[0, :2] = True
    mask = np.zeros_like(truth)
    mask[0, 0] = mask[1, 0] = True
    measure = f_measure(mask, truth)
    assert measure == FMeasure(precision=0.5, recall=0.5, f=0.5)
    assert measure.f == measure[2]


@pytest.mark.parametrize(
    ("mask", "truth", "expected"),
    [
        ([0, 0], [0, 0], (1.0, 1.0, 1.0)),
        ([1, 0], [0, 0], (0.0, 0.0, 0.0)),
        ([0, 0], [0, 1], (0.0, 0.0, 0.0)),
        ([1, 0], [0, 1], (0.0, 0.0, 0.0)),
        ([1, 1], [1, 1], (1.0, 1.0, 1.0)),
        ([], [], (1.0, 1.0, 1.0)),
    ],
)
def test_f_measure_of_empty_masks_is_defined(mask, truth, expected):
    assert f_measure(mask, truth) == expected


def test_f_measure_refuses_other_shapes():
    with pytest.raises(ValueError, match=r"mask must have the shape of truth, \(3,\); got \(2,\)"):
        f_measure([1, 0], [1, 0, 0])


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
