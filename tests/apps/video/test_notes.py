"""What the command line notes down about a film of any length: events, highlights, and words for both."""

import io
import re

import numpy as np
import pytest
from PIL import Image

from unmingle.apps.video import Box, Separation
from unmingle.apps.video._events import EventFinder, FrameStep, write_events
from unmingle.apps.video._highlights import Highlights, Stretches, reduced
from unmingle.apps.video._words import clock, facts, share
from unmingle.cli.video_plot import time_plot


def found(time, score=0.0, box=(2, 3, 6, 9), state="watching", shape=(8, 12)):
    frame = np.full(shape, 100, np.uint8)
    mask = np.zeros(shape[:2], bool)
    boxes = (Box(*box, 24),) if score else ()
    return Separation(0, time, frame, frame, mask, boxes, score, state)


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


def test_stretches_keep_the_best_and_never_too_many():
    stretches = Stretches(8, 0.1)
    scores = np.random.default_rng(0).permutation(1000)
    for number, score in enumerate(scores):
        stretches.add(0.3 * number, (float(score),), (number, score))
    kept = stretches.items()
    assert 4 <= len(kept) <= 8
    assert kept == sorted(kept)
    assert max(score for _, score in kept) == 999
    assert len({stretches.number(0.3 * number) for number, _ in kept}) == len(kept)


def test_highlights_of_a_long_film_stay_small():
    highlights = Highlights()
    for number in range(3000):
        highlights.add(number, found(0.2 * number, 0.3 if number in (700, 2500) else 0.001))
    times, shares = highlights.curve()
    assert 250 < len(times) <= 600
    assert times == sorted(times)
    assert sorted(shares)[-2:] == [0.3, 0.3]
    assert len(highlights._moments.items()) <= 40
    moments = highlights.telling([])
    assert len(moments) == 5
    assert moments[-1].time - moments[0].time > 300


def test_telling_moments_are_the_peaks_of_events_first():
    highlights, finder = Highlights(), EventFinder(1.0)
    peaks = {100: 0.5, 400: 0.2, 800: 0.4}
    for number in range(1000):
        score = max([0.0, *(top - 0.01 * abs(number - peak) for peak, top in peaks.items() if abs(number - peak) < 5)])
        frame = found(0.1 * number, score)
        highlights.add(number, frame)
        finder.push(number, frame)
    finder.close()
    moments = highlights.telling(finder.events)
    assert len(moments) == 5
    assert {100, 400, 800} <= {moment.number for moment in moments}
    assert [moment.time for moment in moments] == sorted(moment.time for moment in moments)


def test_a_short_film_has_fewer_moments():
    highlights = Highlights()
    highlights.add(0, found(0.0))
    (moment,) = highlights.telling([])
    assert set(moment.pictures) == {"frame", "background", "foreground", "mask"}
    with Image.open(io.BytesIO(moment.pictures["frame"])) as picture:
        assert picture.size == (12, 8)


PICTURES = {
    "grey": np.full((480, 640), 51, np.uint8),
    "wide": np.full((100, 1001), 13107, np.uint16),
    "colour": np.full((30, 40, 3), 0.2, np.float32),
}


@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES.keys())
def test_reduced_pictures_keep_their_values(picture):
    small = reduced(picture)
    assert small.shape[1] <= 320
    assert small.ndim == picture.ndim
    np.testing.assert_allclose(small, 0.2, atol=1e-4)
    assert reduced(np.ones((5, 700), bool)).max() == 1.0


CLOCKS = {0.0: "0:00", 59.6: "1:00", 61.2: "1:01", 3725.0: "1:02:05"}


@pytest.mark.parametrize(("seconds", "words"), CLOCKS.items(), ids=CLOCKS.values())
def test_times_for_people(seconds, words):
    assert clock(seconds) == words


def test_numbers_for_people():
    assert clock(59.996, 2) == "1:00.00"
    assert clock(5.25, 2) == "0:05.25"
    assert [share(value) for value in (0.0, 0.0012, 0.0567, 0.345)] == ["0 %", "0.12 %", "5.7 %", "34 %"]


def test_the_card_leaves_out_what_is_not_known():
    card = {
        "frames": 1200, "height": 48, "width": 64, "duration": 48.0, "rank": None, "noise": None, "mean_share": 0.01,
        "largest_share": 0.2, "adapting_frames": 9, "scene_changes": 1, "dropped": 0, "frames_per_second": None,
        "region": False, "seconds": {"reading": 1.0, "separating": 2.0, "writing": 0.5},
    }  # fmt: skip
    told = facts(card)
    assert told["film"] == "1,200 frames of 64 x 48 pixels, 0:48.0"
    assert told["scene changes"] == "1, which took 9 frames to learn"
    assert not {"noise", "rank of the background", "dropped"} & told.keys()
    told = facts({**card, "rank": 3, "noise": 2.34, "dropped": 5})
    assert (told["rank of the background"], told["noise"]) == ("3", "2.3 of 255 grey steps")
    assert told["dropped"].startswith("5 frames")
    assert told["foreground"] == "1 % of the picture on average, at most 20 %"
    told = facts({**card, "frames": 1, "dropped": 1, "region": True})
    assert told["film"].startswith("1 frame of")
    assert told["dropped"].startswith("1 frame that")
    assert told["foreground"] == "1 % of the region on average, at most 20 %"


def test_the_plot_has_real_times_and_bands():
    plot = time_plot([0.0, 10.0, 75.0], [0.0, 0.05, 0.01], bands=[(5.0, 12.0)], label="share & more")
    assert "share &amp; more" in plot
    assert [mark in plot for mark in (">0:00<", ">0:30<", ">1:10<", ">6 %<")] == [True] * 4
    assert plot.count("<rect") == 1
    assert time_plot([], [], label="nothing").count("<svg") == 1


def test_small_shares_and_late_bands_fit_into_the_plot():
    plot = time_plot([0.0, 10.0], [0.0, 0.0001], bands=[(5.0, 20.0)], label="share")
    assert '<text x="64"' in plot
    assert ">0.0075 %<" in plot
    (left, width), *_ = re.findall(r'<rect [^>]*x="([0-9.]+)"[^>]*width="([0-9.]+)"', plot)
    assert float(left) + float(width) == pytest.approx(944)
