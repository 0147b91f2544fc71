"""The tracker alone: its state goes to a file and comes back, and its units are its own business."""

import numpy as np
import pytest
from stream_samples import STEPS, leaves, rows_of

from unmingle.core.online.tracker import Tracker, TrackerSettings
from unmingle.metrics import subspace_angle


def tracker_of(rows, **settings):
    tracker = Tracker.fresh(TrackerSettings(**settings), rows.shape[1], rows.dtype, np.random.default_rng(0))
    return fed(tracker, rows)


def fed(tracker, rows):
    for start in range(0, len(rows), 50):
        tracker = tracker.learn(rows[start : start + 50])
    return tracker


@pytest.fixture(scope="module")
def stream():
    return rows_of(900)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seen", [0, 30, 600])
def test_what_was_stored_goes_on_as_if_nothing_had_happened(step, seen, stream):
    X, _ = stream
    tracker = tracker_of(X[:seen], dictionary_step=step)
    again = Tracker._from_store(tracker._to_store(), tracker.settings)
    tracker, again = fed(tracker, X[seen:]), fed(again, X[seen:])
    for mine, wanted in zip(again.learnt, tracker.learnt, strict=True):
        assert np.array_equal(mine, wanted)
    content, again_content = leaves(tracker._to_store()), leaves(again._to_store())
    assert content.keys() == again_content.keys()
    assert all(np.array_equal(content[name], again_content[name]) for name in content)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seen", [30, 600])
def test_a_tracker_is_a_value(step, seen, stream):
    """What is learnt next leaves it as it was, array by array."""
    X, _ = stream
    tracker = tracker_of(X[:seen], dictionary_step=step)
    before = {name: np.copy(value) for name, value in leaves(tracker._to_store()).items()}
    fed(tracker, np.concatenate([X[seen:], 1e6 * X[:, ::-1]])).settled().with_settings(TrackerSettings())
    after = leaves(tracker._to_store())
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**20, 2.0**600])
def test_powers_of_two_lose_no_digit(scale, stream):
    X, _ = stream
    plain, scaled = tracker_of(X), tracker_of(scale * X)
    one, other = plain.learnt, scaled.learnt
    assert np.array_equal(other.components / np.sqrt(scale), one.components)
    assert (other.rank_penalty, other.noise_level) == (scale * one.rank_penalty, scale * one.noise_level)


def test_units_are_unknown_until_something_is_known(stream):
    X, basis = stream
    tracker = tracker_of(np.concatenate([np.zeros((20, 60)), np.full((20, 60), np.nan)]))
    assert tracker.units is None
    tracker = fed(tracker, X)
    assert tracker.units is not None
    assert subspace_angle(tracker.learnt.components, basis) < 1


def test_given_penalties_come_back_in_the_units_of_the_data(stream):
    X, _ = stream
    lam = np.linspace(0.1, 0.3, 60)
    learnt = tracker_of(X, rank_penalty=3.0, outlier_penalty=lam).learnt
    assert learnt.rank_penalty == 3.0
    assert np.array_equal(learnt.outlier_penalty, lam)


@pytest.mark.parametrize("name", ["starting", "components"])
def test_states_that_cannot_be_are_refused(name, stream):
    X, _ = stream
    content = tracker_of(X)._to_store()
    if name == "starting":
        content |= {"starting": True, "waiting": X[:200]}
    else:
        content["dictionary"] |= {"components": np.zeros((0, 60))}
    with pytest.raises(ValueError, match="a stream that"):
        Tracker._from_store(content, TrackerSettings())
