"""Streams of frames: what they find, what they learn, and that they can be stopped and resumed."""

import numpy as np
from streams import watched, with_square


def test_known_foreground_stays_out(empty):
    known = np.zeros((60, 80), dtype=bool)
    known[18:38, 28:48] = True
    for told, melted in ((known, False), (None, True)):
        stream = watched(empty, patience=None, false_alarm_rate=1e-12)
        for _ in range(150):
            stream.push(with_square(empty(), step=12), known_foreground=told)
        frame = with_square(empty(), step=12)
        left = frame.astype(int) - stream.push(frame, known_foreground=told).background
        assert (left[24:32, 34:42].mean() < 6) == melted


def test_only_the_region_is_watched(empty):
    region = np.zeros((60, 80), dtype=bool)
    region[:, 40:] = True
    stream = watched(empty, region=region)
    found = stream.push(with_square(empty(), left=32))
    assert not found.mask[:, :40].any()
    assert found.mask[24:32, 42:46].mean() > 0.9
    assert found.score == found.mask.sum() / region.sum()


def test_small_regions_are_dropped(empty):
    small = with_square(empty(), side=8)
    assert watched(empty).push(small).mask.any()
    assert not watched(empty, min_area=100).push(small).mask.any()


def test_shadows_are_told_from_objects_by_colour(empty):
    def coloured(square=None):
        frame = np.stack([empty(), empty() // 2 + 60, empty() // 3 + 40], axis=-1)
        if square is not None:
            frame[20:36, 30:46] = np.rint(frame[20:36, 30:46] * np.array(square)).astype(np.uint8)
        return frame

    for shadows in (False, True):
        stream = watched(coloured, shadows=shadows)
        assert stream.inspect(coloured((0.6, 0.6, 0.6))).mask[24:32, 34:42].all() == shadows
        assert stream.inspect(coloured((0.4, 0.9, 0.9))).mask[24:32, 34:42].mean() > 0.9


def test_what_is_known_everywhere_changes_nothing(empty):
    for encoder in ("layers", "exact"):
        stream = watched(empty, encoder=encoder)
        before = stream._model.components.copy()
        stream.push(255 - empty(), known_foreground=np.ones((60, 80), bool))
        np.testing.assert_allclose(stream._model.components, before, rtol=1e-2)


def test_a_small_region_does_not_darken_the_background(empty):
    small = np.zeros((60, 80), dtype=bool)
    small[26:36, 26:36] = True
    stream = watched(empty, region=small)
    assert abs(stream.push(empty()).background[small].mean() - empty()[small].mean()) < 3
    assert stream.push(with_square(empty(), top=30, left=30)).mask[31:35, 31:35].mean() > 0.7


def test_masks_stay_within_a_region_with_holes(empty):
    region = np.ones((60, 80), dtype=bool)
    region[::3, ::3] = False
    found = watched(empty, region=region).push(255 - empty())
    assert not found.mask[~region].any()
    assert found.score <= 1.0
