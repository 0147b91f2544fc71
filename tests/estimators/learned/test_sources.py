"""`LearnedRobustPCA` where the true parts are known."""

import numpy as np
import pytest
from learned_models import M, Q, assert_same, learned, samples

import unmingle
from unmingle.metrics import subspace_angle


def test_true_parts_separate_better():
    X, background, foreground = samples(400, 10)
    new, *wanted = samples(500, 11)
    y = np.stack([background, foreground], axis=1)
    models = [learned(loss=loss, passes=60).fit(X, y) for loss in ("source", "unsupervised")]
    errors = [
        np.mean([(part.low_rank - wanted[0]) ** 2, (part.outliers - wanted[1]) ** 2])
        for part in (model.decompose(new) for model in models)
    ]
    assert errors[0] < 0.9 * errors[1]


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (None, "requires y to be passed, but the target y is None"),
        (np.zeros((300, M)), r"shape \(300, 2, 24\), got \(300, 24\)"),
        (np.zeros((300, 2, M - 1)), r"got \(300, 2, 23\)"),
        (np.zeros((299, 2, M)), r"got \(299, 2, 24\)"),
        (np.full((300, 2, M), np.nan), "finite background and foreground"),
        (["voice"] * 300, "y must hold numbers"),
    ],
    ids=lambda value: str(np.shape(value)),
)
def test_wrong_parts_are_refused(y, sentence, X):
    for learn in (learned(loss="source").fit, learned(loss="source").partial_fit):
        with pytest.raises(ValueError, match=sentence):
            learn(X, y)


def test_y_is_not_read_otherwise(X):
    assert_same(learned().fit(X[:60], "nonsense"), learned().fit(X[:60]))
    assert_same(learned().partial_fit(X[:60], np.zeros(3)), learned().partial_fit(X[:60]))


def test_streams_with_true_parts(tmp_path):
    X, *parts = samples(130, 12)
    y = np.stack(parts, axis=1)
    options = {"loss": "source", "window": 40, "update_dictionary": True}
    model, path = learned(**options).partial_fit(X[:73], y[:73]), tmp_path / "m.safetensors"
    model.save(path)
    other = unmingle.load(path)
    for one in (model, other):
        one.partial_fit(X[73:], y[73:])
    assert_same(other, model)
    assert subspace_angle(model.components_, np.random.default_rng(99).standard_normal((Q, M))) < 0.5


def test_a_change_of_the_loss_in_mid_stream_is_refused(X):
    model = learned().fit(X)
    with pytest.raises(ValueError, match="mid-stream"):
        model.set_params(loss="source").partial_fit(X, np.stack([X, X], axis=1))
