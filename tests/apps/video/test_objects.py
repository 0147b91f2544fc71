"""Objects are followed through regions: crossing, merging, splitting, gaps, parts."""

import numpy as np

from unmingle.apps.video import Box
from unmingle.apps.video._objects import FOLLOWING, ObjectFollower


def at(left, top=10, width=12, height=20):
    left, top = round(left), round(top)
    return Box(top, left, top + height, left + width, width * height)


def joined(*boxes):
    """One region in place of several that touch, apart ones as they are; boxes of one height, from left to right."""
    found = []
    for box in sorted(boxes, key=lambda box: box.left):
        if found and box.left <= found[-1].right:
            last = found.pop()
            right = max(last.right, box.right)
            area = (right - last.left) * (last.bottom - last.top)
            box = Box(last.top, last.left, last.bottom, right, area)
        found.append(box)
    return found


def followed(frames, certain=3):
    """The places of every object, by the order in which they came: {frame: (left, right)}."""
    follower, places = ObjectFollower(), {}
    for number, boxes in enumerate(frames):
        for one in follower.follow(number, boxes):
            one.certain = one.certain or one.seen >= certain
            places.setdefault(one, {})[number] = tuple(np.rint(one.box[[0, 2]]).astype(int).tolist())
    return list(places.values())


def test_a_thing_that_moves_is_one_object():
    (one,) = followed([[at(4 * t)] for t in range(20)])
    assert one == {t: (4 * t, 4 * t + 12) for t in range(20)}


def test_a_thing_that_leaps_beyond_itself_is_followed_by_its_speed():
    frames = [[at(10 * t)] for t in range(6)]
    assert len(followed([*frames, [], *[[at(10 * t)] for t in range(7, 12)]])) == 1


def test_two_that_cross_keep_their_names():
    tracks = [[at(20 + 4 * t), at(160 - 4 * t)] for t in range(36)]
    one, other = followed([joined(*boxes) for boxes in tracks])
    assert len(one) == len(other) == 36
    firsts, lasts = sorted([one[0], other[0]]), sorted([one[35], other[35]])
    assert (firsts[0] == one[0]) == (lasts[1] == one[35])
    for t, (first, second) in enumerate(tracks):
        for box, track in ((first, one), (second, other)):
            if one[0][0] > other[0][0]:
                track = other if track is one else one
            assert abs(track[t][0] - box.left) <= 12


def test_two_that_meet_and_go_on_together_part_as_they_were():
    def places(t):
        gap = 30 - 2 * t if t < 12 else 6 if t < 24 else 6 + 2 * (t - 24)
        return at(20 + t), at(20 + t + gap)

    tracks = followed([joined(*places(t)) for t in range(36)])
    assert len(tracks) == 2
    first, second = sorted(tracks, key=lambda track: track[0])
    assert len(first) == len(second) == 36
    assert first[35] < second[35]


def test_a_group_that_parts_becomes_two():
    tracks = followed([joined(at(40 - t), at(46 + t)) for t in range(20)])
    assert sorted(len(track) for track in tracks) == [15, 20] or sorted(len(track) for track in tracks)[1] == 20
    assert len(tracks) == 2


def test_parts_of_a_thing_belong_to_it():
    def person(t):
        if t % 3 == 1 and t > 3:  # a belt of the colour of the ground
            return [at(3 * t, 10, 12, 8), at(3 * t, 22, 12, 8)]
        return [at(3 * t)]

    (one,) = followed([person(t) for t in range(20)])
    assert len(one) == 20


def test_noise_beside_a_thing_does_not_take_its_name():
    frames = [[at(4 * t), *([at(4 * t + 20, 14, 3, 3)] if t % 2 else [])] for t in range(20)]
    tracks = followed(frames)
    assert max(len(track) for track in tracks) == 20
    assert sorted(len(track) for track in tracks)[:-1] == [len(t) for t in sorted(tracks, key=len)[:-1]]


def test_a_speck_that_meets_a_thing_is_part_of_it():
    frames = [[at(4 * t), *([at(30, 12, 4, 4)] if t < 4 else [])] for t in range(20)]
    follower = ObjectFollower()
    for number, boxes in enumerate(frames):
        for one in follower.follow(number, boxes):
            one.certain = one.seen >= 5
    assert [one.seen for one in follower.objects] == [20]


def test_the_work_for_a_frame_is_bounded():
    follower = ObjectFollower()
    rng = np.random.default_rng(0)
    for number in range(3):
        boxes = [at(left, top, 3, 3) for left, top in rng.integers(0, 1000, (3 * FOLLOWING.most, 2))]
        follower.follow(number, boxes)
    assert len(follower.objects) <= FOLLOWING.most
