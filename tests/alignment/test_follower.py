"""A shaking camera: frames against the background, one after the other."""

import numpy as np
import pytest
from scipy import ndimage

from unmingle.alignment.families import AlignedFrame, inverse
from unmingle.alignment.follower import Follower

SHAPE = (120, 160)


def scene(rng):
    picture = ndimage.gaussian_filter(rng.random((160, 200)), 2.0)
    return ((picture - picture.min()) / np.ptp(picture)).astype(np.float32)


def frame_at(picture, matrix):
    """What a camera sees that is displaced by a matrix, which maps the background into the frame."""
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    places = inverse(matrix) @ np.stack([x.ravel(), y.ravel(), np.ones(x.size)])
    places = places[:2] / places[2] + 20
    read = ndimage.map_coordinates(picture.astype(np.float64), places[::-1], order=5)
    return read.reshape(SHAPE).astype(np.float32)


@pytest.mark.parametrize("family", ["translation", "similarity", "projective"])
def test_a_random_walk_is_followed_with_things_in_front(rng, family):
    picture, frame = scene(rng), AlignedFrame(*SHAPE)
    follower = Follower(frame_at(picture, np.eye(3)), family)
    p = {"translation": 2, "similarity": 4, "projective": 8}[family]
    place, errors = np.zeros(p), []
    for number in range(20):
        place = np.clip(place + rng.uniform(-1.0, 1.0, p), -3, 3)
        truth = frame.to_matrix(family, place)
        seen = 0.95 * frame_at(picture, truth) + 0.01 * rng.standard_normal(SHAPE)
        seen[40:80, 4 * number : 4 * number + 30] = 0.9
        errors.append(float(frame.moves(follower.align(seen.astype(np.float32)).matrix, truth)))
    assert np.median(errors) < 0.1
    assert max(errors) < 0.4


def test_a_jump_is_found_from_coarse_to_fine(rng):
    picture, frame = scene(rng), AlignedFrame(*SHAPE)
    follower = Follower(frame_at(picture, np.eye(3)))
    truth = frame.to_matrix("translation", [6.0, -5.0])
    assert frame.moves(follower.align(frame_at(picture, truth)).matrix, truth) < 0.1


def test_backgrounds_and_frames_that_cannot_be(rng):
    with pytest.raises(ValueError, match="background must be a grey picture"):
        Follower(np.zeros((3, 3, 3, 3)))
    follower = Follower(frame_at(scene(rng), np.eye(3)))
    with pytest.raises(ValueError, match="image must be a grey picture"):
        follower.align(np.zeros(5))
