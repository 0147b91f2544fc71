"""Streams of frames: what they find, what they learn, and that they can be stopped and resumed."""

import numpy as np
from streams import watched, with_square

from unmingle.media import Planes


def test_known_foreground_stays_out(empty):
    known = np.zeros((60, 80), dtype=bool)
    known[18:38, 28:48] = True
    for told, melted in ((known, False), (None, True)):
        stream = watched(empty, patience=None, false_alarm_rate=1e-12)
        for _ in range(150):
            stream.push(with_square(empty(), step=12, opaque=False), known_foreground=told)
        frame = with_square(empty(), step=12, opaque=False)
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


def test_light_and_shadows_leave_the_texture(empty):
    """A place that is dimmed or lit keeps its texture; a thing of the same brightness has another one."""

    def changed(gain, thing=False):
        frame = empty().astype(float)
        frame[20:44, 30:54] *= gain
        if thing:
            frame[20:44, 30:54] = frame[20:44, 30:54].mean()
        return np.rint(np.clip(frame, 0, 255)).astype(np.uint8)

    for shadows in (False, True):
        stream = watched(empty, shadows=shadows)
        assert (stream.inspect(changed(0.6)).mask[26:38, 36:48].mean() > 0.9) == shadows
        assert stream.inspect(changed(1.5)).mask[26:38, 36:48].mean() < 0.1
        assert stream.inspect(changed(0.6, thing=True)).mask[26:38, 36:48].mean() > 0.9


def test_what_is_dim_but_alike_is_not_learnt(empty):
    stream = watched(empty, patience=None)
    for _ in range(60):
        dimmed = empty().astype(float)
        dimmed[24:40, 32:40] *= 0.6
        found = stream.push(np.rint(dimmed).astype(np.uint8))
    background = stream.inspect(empty()).background.astype(int)
    assert not found.mask[26:38, 34:38].any()
    assert np.abs(background - empty())[26:38, 34:38].mean() < 5


def test_colour_finds_what_has_the_brightness_of_the_background():
    rng = np.random.default_rng(0)

    def plain():
        return rng.integers(100, 105, (60, 80), dtype=np.uint8)

    def coloured():
        return np.repeat(plain()[..., None], 3, axis=2)

    frame = coloured().astype(int)
    frame[20:36, 30:46] += np.array([40, -24, 20])  # luma 0.299 * 40 - 0.587 * 24 + 0.114 * 20 = 0.2
    frame = np.clip(frame, 0, 255).astype(np.uint8)
    assert watched(coloured).push(frame).mask[22:34, 32:44].mean() > 0.95
    grey = Planes.from_rgb(frame).luma
    assert not watched(plain).push(np.ascontiguousarray(grey)).mask.any()


def test_planes_and_colours_give_the_same_masks_and_the_kind_that_was_given(empty):
    def coloured():
        return np.stack([empty(), empty() // 2 + 60, empty() // 3 + 40], axis=-1)

    one, other = watched(coloured), watched(lambda: Planes.from_rgb(coloured()))
    frame = coloured()
    frame[20:36, 30:46] = (40, 200, 90)
    a, b = one.push(frame), other.push(Planes.from_rgb(frame))
    assert (a.mask != b.mask).mean() < 0.005
    assert a.background.shape == a.foreground.shape == (60, 80, 3)
    assert isinstance(b.background, Planes)
    assert isinstance(b.foreground, Planes)
    assert np.abs(a.background.astype(int) - coloured()).mean() < 6
    assert np.abs(b.background.to_rgb().astype(int) - coloured()).mean() < 6
    assert (b.foreground.to_rgb()[~b.mask] < 60).mean() > 0.99


def test_what_is_known_everywhere_changes_nothing(empty):
    for encoder in ("layers", "exact"):
        stream = watched(empty, encoder=encoder)
        before = stream.state.model.components.copy()
        stream.push(255 - empty(), known_foreground=np.ones((60, 80), bool))
        np.testing.assert_allclose(stream.state.model.components, before, rtol=1e-2)


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
