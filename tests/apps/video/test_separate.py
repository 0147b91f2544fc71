"""Streams of frames: what they find, what they learn, and that they can be stopped and resumed."""

import numpy as np
import pytest

from unmingle.apps.video import Stream, separated_frames
from unmingle.media import MediaError


def test_every_frame_of_a_film_has_a_mask(film):
    frames, _ = film
    found = list(separated_frames(frames[:70]))
    assert [one.index for one in found] == list(range(70))
    assert {one.state for one in found} == {"watching"}
    assert any(one.mask.any() for one in found[:30])
    np.testing.assert_allclose([one.time for one in found[:3]], [0.0, 0.04, 0.08])


def test_short_films_are_separated_too(film):
    frames, _ = film
    assert len(list(separated_frames(frames[:7]))) == 7
    assert len(list(separated_frames(frames[:1]))) == 1


def test_frames_before_a_failure_are_kept(film):
    frames, _ = film

    def broken():
        yield from frames[:10]
        yield frames[0][:-1]

    found, numbers = separated_frames(broken()), []
    with pytest.raises(MediaError, match="59"):
        numbers.extend(one.index for one in found)
    assert numbers == list(range(10))


def test_settings_and_a_stream_exclude_each_other():
    with pytest.raises(ValueError, match="either a stream or settings"):
        next(separated_frames([], stream=Stream(), forgetting=0.9))
