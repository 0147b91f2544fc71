"""Numbers of a film in words for people."""

import pytest

from unmingle.apps.video._words import facts
from unmingle.report import clock, share

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
