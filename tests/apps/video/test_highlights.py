"""Highlights: the few frames that a report keeps of a film of any length."""

import io

import numpy as np
import pytest
from PIL import Image
from streams import found

from unmingle.apps.video._highlights import BestPerInterval, Highlights, reduced
from unmingle.apps.video.events import EventFinder


def test_intervals_keep_the_best_and_never_too_many():
    intervals = BestPerInterval(8, 0.1)
    scores = np.random.default_rng(0).permutation(1000)
    for number, score in enumerate(scores):
        intervals.add(0.3 * number, (float(score),), (number, score))
    kept = intervals.items()
    assert 4 <= len(kept) <= 8
    assert kept == sorted(kept)
    assert max(score for _, score in kept) == 999
    assert len({intervals.number(0.3 * number) for number, _ in kept}) == len(kept)


def test_highlights_of_a_long_film_stay_small():
    highlights = Highlights()
    for number in range(3000):
        highlights.add(number, found(0.2 * number, 0.3 if number in (700, 2500) else 0.001))
    times, shares = highlights.curve()
    assert 250 < len(times) <= 600
    assert times == sorted(times)
    assert sorted(shares)[-2:] == [0.3, 0.3]
    assert len(highlights._moments.items()) <= 40
    moments = highlights.select([])
    assert len(moments) == 5
    assert moments[-1].time - moments[0].time > 300


def test_telling_moments_are_the_peaks_of_events_first():
    highlights, finder = Highlights(), EventFinder(1.0)
    peaks = {100: 0.5, 400: 0.2, 800: 0.4}
    for number in range(1000):
        score = max([0.0, *(top - 0.01 * abs(number - peak) for peak, top in peaks.items() if abs(number - peak) < 5)])
        frame = found(0.1 * number, score, (2, number % 100, 8, number % 100 + 8), shape=(12, 120))
        highlights.add(number, frame)
        finder.push(number, frame)
    finder.close()
    moments = highlights.select(finder.events)
    assert len(moments) == 5
    assert {100, 400, 800} <= {moment.number for moment in moments}
    assert [moment.time for moment in moments] == sorted(moment.time for moment in moments)


def test_a_short_film_has_fewer_moments():
    highlights = Highlights()
    highlights.add(0, found(0.0))
    (moment,) = highlights.select([])
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
