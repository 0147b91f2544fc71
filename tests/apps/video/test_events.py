"""Events: when something was in front of the background."""

import pytest
from streams import found

from unmingle.apps.video._events import EventFinder, FrameStep, write_events


def events_of(frames, gap=1.0):
    finder = EventFinder(gap)
    for number, frame in enumerate(frames):
        finder.push(number, frame)
    finder.close()
    return finder.rows()


@pytest.mark.parametrize(("gap", "spans"), [(2.0, [(1, 8)]), (1.5, [(1, 3), (6, 8)])], ids=["longer", "shorter"])
def test_an_event_spans_gaps_that_are_short(gap, spans):
    times = [0.0, 0.5, 0.6, 0.7, 1.5, 2.3, 2.5, 3.6, 3.7, 3.8]
    scores = [0.0, 0.1, 0.3, 0.1, 0.0, 0.0, 0.2, 0.1, 0.1, 0.0]
    rows = events_of([found(time, score) for time, score in zip(times, scores, strict=True)], gap)
    assert [(row["first_frame"], row["last_frame"]) for row in rows] == spans


def test_gaps_are_measured_in_the_time_of_the_source():
    close = [found(0.1 * number, 0.1) for number in range(3)]
    late = [found(5.0 + 0.1 * number, 0.2) for number in range(3)]
    rows = events_of([*close, *late])
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


def test_fewer_than_three_frames_are_no_event():
    assert events_of([found(0.0, 0.1), found(0.1, 0.1)]) == []
    assert events_of([found(0.0, 0.1), found(0.1, 0.0), found(0.2, 0.1), found(0.3, 0.0)]) == []


@pytest.mark.parametrize("state", ["starting", "adapting"])
def test_other_states_start_no_event_and_do_not_shape_one(state):
    others = [found(0.1 * number, 0.9, (0, 0, 8, 12), state) for number in range(5)]
    assert events_of(others) == []
    frames = [*others, *(found(0.5 + 0.1 * number, 0.1) for number in range(3)), found(0.8, 0.9, (0, 0, 8, 12), state)]
    (event,) = events_of(frames)
    assert (event["first_frame"], event["last_frame"], event["peak_share"]) == (5, 7, 0.1)


def test_a_frozen_stream_has_events():
    assert len(events_of([found(0.1 * number, 0.1, state="frozen") for number in range(3)])) == 1


def test_the_box_is_around_all_of_an_event():
    boxes = [(2, 3, 6, 9), (1, 5, 4, 6), (3, 1, 8, 4)]
    frames = [found(0.1 * number, 0.1 + 0.1 * (number == 1), box) for number, box in enumerate(boxes)]
    (event,) = events_of(frames)
    assert [event[side] for side in ("top", "left", "bottom", "right")] == [1, 1, 8, 9]
    assert event["peak_time"] == 0.1


def test_events_are_written_with_milliseconds(tmp_path):
    write_events(tmp_path / "events.csv", events_of([found(0.1 * number, 0.125) for number in range(3)]))
    lines = (tmp_path / "events.csv").read_text().splitlines()
    assert lines[1] == "1,0.000,0.300,0.300,0,2,0.12500,0.000,3,2,9,6"
