"""Measures of masks agree with hand-made cases and with scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_fscore_support

from unmingle.metrics import FMeasure, MaskCounts, f_measure


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


CDNET_TRUTH = np.array([[255, 255, 255, 0, 0], [50, 50, 85, 170, 85]], dtype=np.uint8)
CDNET_MASK = np.array([[1, 1, 0, 1, 0], [1, 0, 1, 1, 0]])


def test_cdnet_labels_are_counted_by_hand():
    counts = MaskCounts.of(CDNET_MASK, CDNET_TRUTH, labels="cdnet")
    assert counts == MaskCounts(true_positives=2, false_positives=2, false_negatives=1, true_negatives=2)
    assert counts.f_measure == f_measure(CDNET_MASK, CDNET_TRUTH, labels="cdnet") == (2 / 4, 2 / 3, 4 / 7)
    assert counts.share_wrong == 3 / 7


@pytest.mark.parametrize("label", [85, 170])
def test_cdnet_pixels_without_a_score_do_not_count(label):
    truth = np.full((3, 4), label, dtype=np.uint8)
    assert MaskCounts.of(np.ones((3, 4)), truth, labels="cdnet") == MaskCounts()
    assert f_measure(np.ones((3, 4)), truth, labels="cdnet") == (1.0, 1.0, 1.0)


def test_cdnet_measure_agrees_with_scikit_learn_on_scored_pixels(rng):
    truth = rng.choice(np.array([0, 50, 85, 170, 255], dtype=np.uint8), (4, 20, 30))
    mask = rng.random(truth.shape) < 0.4
    scored = (truth != 85) & (truth != 170)
    expected = precision_recall_fscore_support(truth[scored] == 255, mask[scored], average="binary")[:3]
    np.testing.assert_allclose(f_measure(mask, truth, labels="cdnet"), expected)
    wrong = np.mean((truth[scored] == 255) != mask[scored])
    assert MaskCounts.of(mask, truth, labels="cdnet").share_wrong == pytest.approx(wrong)


@pytest.mark.parametrize("labels", ["binary", "cdnet"])
def test_counts_of_frames_add_up_to_those_of_the_film(labels, rng):
    truth = rng.choice(np.array([0, 255], dtype=np.uint8), (5, 8, 9), p=[0.8, 0.2])
    mask = rng.random(truth.shape) < np.linspace(0.1, 0.9, 5)[:, None, None]
    pairs = zip(mask, truth, strict=True)
    film = sum((MaskCounts.of(*pair, labels=labels) for pair in pairs), MaskCounts())
    assert film == MaskCounts.of(mask, truth, labels=labels)
    mean_of_frames = np.mean([f_measure(*pair).f for pair in zip(mask, truth, strict=True)])
    assert abs(film.f_measure.f - mean_of_frames) > 1e-3


def test_nothing_counted_is_nothing_wrong():
    assert MaskCounts().f_measure == (1.0, 1.0, 1.0)
    assert MaskCounts().share_wrong == 0.0


def test_counts_add_up_with_counts_only():
    with pytest.raises(TypeError, match="unsupported operand"):
        MaskCounts() + 3


def test_strange_labels_are_refused():
    with pytest.raises(ValueError, match="of CDnet only; got also 1, 254"):
        f_measure([0, 1, 1], np.array([255, 254, 1], dtype=np.uint8), labels="cdnet")
    with pytest.raises(ValueError, match='labels must be "binary" or "cdnet"; got \'voc\''):
        f_measure([0, 1], [0, 1], labels="voc")
