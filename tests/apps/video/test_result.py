"""Numbers of a film in words for people."""

from unmingle.apps.video._result import summary_text


def test_the_card_leaves_out_what_is_not_known():
    card = {
        "frames": 1200, "height": 48, "width": 64, "duration": 48.0, "rank": None, "noise": None, "mean_share": 0.01,
        "largest_share": 0.2, "adapting_frames": 9, "scene_changes": 1, "dropped": 0, "frames_per_second": None,
        "region": False, "seconds": {"reading": 1.0, "separating": 2.0, "writing": 0.5},
    }  # fmt: skip
    told = summary_text(card)
    assert told["film"] == "1,200 frames of 64 x 48 pixels, 0:48.0"
    assert told["scene changes"] == "1, which took 9 frames to learn"
    assert not {"noise", "rank of the background", "dropped"} & told.keys()
    told = summary_text({**card, "rank": 3, "noise": 2.34, "dropped": 5})
    assert (told["rank of the background"], told["noise"]) == ("3", "2.3 of 255 grey steps")
    assert told["dropped"].startswith("5 frames")
    assert told["foreground"] == "1 % of the picture on average, at most 20 %"
    told = summary_text({**card, "frames": 1, "dropped": 1, "region": True})
    assert told["film"].startswith("1 frame of")
    assert told["dropped"].startswith("1 frame that")
    assert told["foreground"] == "1 % of the region on average, at most 20 %"
