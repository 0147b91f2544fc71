"""Events against objects of the truth."""

import numpy as np
import pytest

from lab.films.truth import event_score, found_events, true_objects
from lab.paper.video._data import Film
from unmingle.apps.video.events import EventPlace

MOVING, OUTSIDE = 255, 85


@pytest.fixture
def truth():
    """Two things that cross the upper half in turn, 30 and 15 frames long, a speck, and one that is seen briefly."""
    labels = np.zeros((60, 80, 120), np.uint8)
    for number in range(30):
        labels[number, 5:20, 2 * number : 2 * number + 12] = MOVING
    for number in range(40, 55):
        labels[number, 25:35, 100 - 3 * number + 120 : 110 - 3 * number + 120] = MOVING
    labels[10:50, 45:47, 50:52] = MOVING
    labels[20:28, 55:70, 10:30] = MOVING
    labels[:, 72:] = OUTSIDE
    return labels


def places_of(one, shift=0):
    return {
        number: EventPlace(number, number / 25, left + shift, top, right + shift, bottom)
        for number, (left, top, right, bottom) in one.boxes.items()
    }


def test_objects_are_large_and_long_enough(truth):
    first, second = true_objects(truth)
    assert list(first.boxes) == list(range(30))
    assert first.boxes[7] == (14, 5, 26, 20)
    assert list(second.boxes) == list(range(40, 55))


def test_what_meets_is_followed_by_the_larger_overlap():
    labels = np.zeros((40, 40, 100), np.uint8)
    for number in range(40):
        labels[number, 10:20, 2 * number : 2 * number + 10] = MOVING
        labels[number, 10:20, 40:44] = MOVING
    assert sorted(len(one.boxes) for one in true_objects(labels)) == [15, 17, 40]


def test_events_where_objects_are_find_them(truth):
    first, second = true_objects(truth)
    both = {1: places_of(first), 2: places_of(second)}
    assert event_score(truth, both) == (2, 2, 2, 2)
    assert event_score(truth, {1: places_of(first)}) == (2, 1, 1, 1)
    assert event_score(truth, {1: places_of(first, 60), 2: places_of(second)}) == (2, 2, 1, 2)
    short = {number: seen for number, seen in places_of(first).items() if number < 14}
    assert event_score(truth, {1: short, 2: places_of(second)}) == (2, 1, 1, 2)
    whole = {number: EventPlace(number, 0.0, 0, 0, 120, 72) for number in range(60)}
    assert event_score(truth, {1: whole}) == (2, 2, 0, 1)


def test_events_outside_of_what_was_labelled_do_not_count(truth):
    below = {number: EventPlace(number, 0.0, 10, 70, 30, 80) for number in range(20)}
    assert event_score(truth, {1: below}) == (2, 1, 0, 0)


def test_a_film_has_events_where_its_objects_are(rng):
    frames = np.clip(120 + 3 * rng.standard_normal((80, 60, 90)), 0, 255).astype(np.uint8)
    truth = np.zeros(frames.shape, np.uint8)
    for number in range(40, 70):
        part = (number, slice(20, 36), slice(2 * number - 80, 2 * number - 68))
        frames[part], truth[part] = 240, MOVING
    assert event_score(truth, found_events(Film(frames, truth, "cdnet"))) == (1, 1, 1, 1)
