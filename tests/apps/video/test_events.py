"""Events: when something came and went."""

import numpy as np
import pytest
from streams import found

from unmingle.apps.video.events import EVENTS, EventFinder, FrameStep, write_events

SHAPE = (20, 400)


def passing(number, shift=0):
    """The box of a thing that moves."""
    return (2, 3 * number + shift, 8, 3 * number + shift + 8)


def events_of(frames, gap=1.0):
    finder = EventFinder(gap)
    for number, frame in enumerate(frames):
        finder.push(number, frame)
    finder.close()
    return finder.rows()


def seen(times, scores, **kwargs):
    return [
        found(time, score, passing(number), shape=SHAPE, **kwargs)
        for number, (time, score) in enumerate(zip(times, scores, strict=True))
    ]


@pytest.mark.parametrize(("gap", "spans"), [(2.0, [(1, 8)]), (1.5, [(1, 3), (6, 8)])], ids=["longer", "shorter"])
def test_an_event_spans_gaps_that_are_short(gap, spans):
    times = [0.0, 0.5, 0.6, 0.8, 1.6, 2.3, 2.5, 3.6, 3.7, 3.8]
    scores = [0.0, 0.1, 0.3, 0.1, 0.0, 0.0, 0.2, 0.1, 0.1, 0.0]
    assert [(row["first_frame"], row["last_frame"]) for row in events_of(seen(times, scores), gap)] == spans


def test_gaps_are_measured_in_the_time_of_the_source():
    times = [0.0, 0.1, 0.2, 5.0, 5.1, 5.2]
    rows = events_of(seen(times, [0.1] * 3 + [0.2] * 3))
    assert [(row["event"], row["start"], row["end"], row["duration"]) for row in rows] == [
        (1, 0.0, 0.3, 0.3),
        (2, 5.0, 5.3, 0.3),
    ]
    assert [row["peak_share"] for row in rows] == [0.1, 0.2]


@pytest.mark.parametrize("gap", [0.0, 1.0])
def test_slow_films_have_events(gap):
    scores = [0.0, 0.1, 0.2, 0.1, 0.0, 0.0, 0.1, 0.1, 0.1, 0.1]
    rows = events_of([found(60.0 * number, score) for number, score in enumerate(scores)], gap)
    assert [(row["first_frame"], row["last_frame"], row["duration"]) for row in rows] == [(1, 3, 180.0), (6, 9, 240.0)]


def test_the_typical_step_is_not_that_of_a_gap():
    steps = FrameStep(10.0)
    assert steps.typical == 0.1
    for time in (0.0, 0.25, 0.5, 90.0, 90.25):
        steps.add(time)
    assert steps.typical == 0.25
    assert FrameStep().typical == 0.0


def test_what_is_seen_for_a_moment_is_no_event():
    assert events_of(seen([0.0, 0.2], [0.1, 0.1])) == []
    assert events_of(seen(np.arange(7) / 25, [0.1] * 7)) == []
    assert len(events_of(seen(np.arange(8) / 25, [0.1] * 8))) == 1


def test_what_flickers_where_it_is_is_no_event_and_what_stays_is_one():
    times = np.arange(100) / 25
    blinking = [0.1 if number % 3 else 0.0 for number in range(100)]
    assert events_of([found(time, score) for time, score in zip(times, blinking, strict=True)]) == []
    (event,) = events_of([found(time, 0.1) for time in times])
    assert (event["first_frame"], event["last_frame"]) == (0, 99)


@pytest.mark.parametrize("state", ["starting", "adapting"])
def test_other_states_start_no_event_and_do_not_shape_one(state):
    times = 0.1 * np.arange(10)
    others = seen(times, [0.9] * 10, state=state)
    assert events_of(others) == []
    (event,) = events_of([*others[:5], *seen(times, [0.1] * 10)[5:8], others[8]])
    assert (event["first_frame"], event["last_frame"], event["peak_share"]) == (5, 7, 0.1)


def test_when_the_camera_moves_all_events_are_over():
    times = 0.1 * np.arange(10)
    frames = seen(times, [0.1] * 10)
    frames[5] = found(times[5], 0.0, state="moving", shape=SHAPE)
    assert [(row["first_frame"], row["last_frame"]) for row in events_of(frames)] == [(0, 4), (6, 9)]


def test_a_frozen_stream_has_events():
    assert len(events_of(seen(0.1 * np.arange(4), [0.1] * 4, state="frozen"))) == 1


def test_things_at_one_time_are_events_of_their_own():
    finder = EventFinder(1.0)
    for number in range(20):
        here = found(0.1 * number, 0.2, passing(number), shape=SHAPE)
        there = found(0.1 * number, 0.2, (12, 380 - 2 * number, 18, 390 - 2 * number), shape=SHAPE)
        here.boxes += there.boxes if number > 4 else ()
        finder.push(number, here)
    finder.close()
    rows = finder.rows()
    assert [(row["event"], row["first_frame"], row["last_frame"], row["top"]) for row in rows] == [
        (1, 0, 19, 2),
        (2, 5, 19, 12),
    ]
    assert rows[1]["peak_share"] == pytest.approx(0.1)


def test_the_box_is_around_all_of_an_event():
    (event,) = events_of(seen(0.1 * np.arange(4), [0.1, 0.2, 0.1, 0.1]))
    assert [event[side] for side in ("top", "left", "bottom", "right")] == [2, 0, 8, 17]
    assert event["peak_time"] == 0.1


def test_sightings_are_all_places_of_all_events():
    finder, told = EventFinder(1.0), []
    for number, frame in enumerate(seen(0.1 * np.arange(100), [0.1] * 100)):
        finder.push(number, frame)
        told += finder.sightings
    assert [(event, place.frame, place.left, place.right) for event, place in told] == [
        (1, number, 3 * number, 3 * number + 8) for number in range(100)
    ]
    finder.close()
    (event,) = finder.events
    assert len(event.boxes) <= EVENTS.most_boxes
    assert [place.frame for place in event.boxes] == list(range(0, 100, 2))


def test_events_are_written_with_milliseconds(tmp_path):
    write_events(tmp_path / "events.csv", events_of(seen(0.1 * np.arange(3), [0.125] * 3)))
    lines = (tmp_path / "events.csv").read_text().splitlines()
    assert lines[1] == "1,0.000,0.300,0.300,0,2,0.12500,0.000,0,2,14,8,"


def test_what_went_out_of_the_picture_is_gone_and_the_next_one_is_another():
    finder = EventFinder(1.0)
    for number in range(45):
        left = 380 + 2 * number if number < 15 else 400 - 2 * (number - 20)
        box = (2, max(0, left), 12, min(400, left + 20))
        finder.push(number, found(0.04 * number, 0.1 if box[1] < box[3] else 0.0, box, shape=SHAPE))
    finder.close()
    assert len(finder.events) == 2
