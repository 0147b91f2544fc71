"""Numbers and times in words for people."""

import pytest

from unmingle.report.numbers_in_words import clock, counted, share

CLOCKS = {0.0: "0:00", 59.6: "1:00", 61.2: "1:01", 3725.0: "1:02:05"}


@pytest.mark.parametrize(("seconds", "words"), CLOCKS.items(), ids=CLOCKS.values())
def test_times_for_people(seconds, words):
    assert clock(seconds) == words


def test_numbers_for_people():
    assert clock(59.996, 2) == "1:00.00"
    assert clock(5.25, 2) == "0:05.25"
    assert [share(value) for value in (0.0, 0.0012, 0.0567, 0.345)] == ["0 %", "0.12 %", "5.7 %", "34 %"]
    assert [counted(n, "frame") for n in (0, 1, 2000)] == ["0 frames", "1 frame", "2,000 frames"]
