"""A camera that moves, and a film that is cut, are noticed; things, light and a little shaking are not."""

import numpy as np
import pytest
from scipy import ndimage

from unmingle.apps.video import Stream, separate
from unmingle.apps.video._camera import CAMERA, look_elsewhere, share_lost
from unmingle.apps.video._format import FrameFormat


@pytest.fixture(scope="module")
def wide():
    """A picture with texture, larger than what a camera sees of it."""
    rng = np.random.default_rng(3)
    rough = ndimage.gaussian_filter(rng.normal(size=(200, 260)), 2.0)
    return 128 + 40 * rough / rough.std()


def seen(wide, top, left, rng, zoom=1.0):
    window = wide[top : top + round(96 / zoom), left : left + round(128 / zoom)]
    window = ndimage.zoom(window, (96 / window.shape[0], 128 / window.shape[1]), order=1) if zoom != 1 else window
    return np.clip(window + rng.normal(0, 2, (96, 128)), 0, 255).astype(np.uint8)


def moves(kind, wide, rng):
    for i in range(140):
        late = max(0, i - 80)
        if kind == "cut":
            yield seen(wide, 90, 120, rng) if late else seen(wide, 20, 20, rng)
        elif kind == "pan":
            yield seen(wide, 20, 20 + min(100, 4 * late), rng)
        elif kind == "zoom":
            yield seen(wide, 20, 20, rng, 1 + min(0.6, 0.03 * late))
        elif kind == "kick":
            yield seen(wide, 20 + 7 * (late > 0), 20 + 9 * (late > 0), rng)
        elif kind == "shake":
            yield seen(wide, 20 + int(rng.integers(0, 2)), 20 + int(rng.integers(0, 2)), rng)
        elif kind == "light":
            yield np.clip((0.6 if late else 1.0) * seen(wide, 20, 20, rng).astype(float), 0, 255).astype(np.uint8)
        else:
            frame = seen(wide, 20, 20, rng)
            frame[20:70, 2 * late : 2 * late + 50 * (late > 0)] = 240
            yield frame


@pytest.mark.parametrize("kind", ["cut", "pan", "zoom", "kick"])
def test_a_moving_camera_is_noticed_within_ten_frames(wide, rng, kind):
    stream = Stream()
    found = [stream.push(frame) for frame in moves(kind, wide, rng)]
    moving = [one.index for one in found if one.state == "moving"]
    assert 81 <= moving[0] <= 91
    assert not any(found[index].mask.any() for index in moving)
    assert stream.card_["camera_moves"] >= 1
    if kind in ("cut", "kick"):
        assert found[-1].state == "watching"
        assert found[-1].score < 0.01  # the background is that of the new place


@pytest.mark.parametrize("kind", ["shake", "light", "thing"])
def test_a_camera_that_stands_is_not_said_to_move(wide, rng, kind):
    stream = Stream()
    assert "moving" not in [stream.push(frame).state for frame in moves(kind, wide, rng)]
    assert stream.card_["camera_moves"] == 0


def test_lost_texture_is_that_of_low_correlation(rng):
    one, other = rng.random((64, 80), dtype=np.float32), rng.random((64, 80), dtype=np.float32)
    mixed = one.copy()
    mixed[:, 40:] = other[:, 40:]
    cells = []
    for i in range(0, 64, CAMERA.cell):
        for j in range(0, 80, CAMERA.cell):
            pair = [picture[i : i + CAMERA.cell, j : j + CAMERA.cell].reshape(-1) for picture in (one, mixed)]
            cells.append(np.corrcoef(pair)[0, 1] < 0.5)
    form, flat = FrameFormat.of(one), np.full((64, 80), 0.5, dtype=np.float32)

    def lost(first, second):
        return share_lost(first.reshape(-1), second.reshape(-1), form)

    assert lost(one, mixed) == pytest.approx(np.mean(cells))
    assert lost(one, 0.5 * one + np.float32(0.2)) == 0.0
    assert lost(flat, flat + np.float32(0.2)) == 0.0


def test_a_moved_camera_is_told_in_the_card_and_in_a_sentence(wide, rng):
    result = separate(np.stack(list(moves("cut", wide, rng))))
    assert len(result.summary()["camera_moves"]) == 1
    assert 81 / 25 <= result.summary()["camera_moves"][0] <= 91 / 25
    assert result.summary()["frames_without_mask"] == 1  # those that follow are held back until there is a background
    assert "moved, or the film was cut, at 0:03." in result.summary_text()["camera"]
    assert result.warnings[0].startswith("The camera moved, or the film was cut, at 0:03.")
    short = separate(np.stack(list(moves("cut", wide, rng)))[:9])
    assert short.summary_text()["start"] == "the film is short, the background was learnt from 9 frames only"


def test_no_labelled_film_has_a_moving_camera(data_dir):
    from lab.paper.video import labelled_films, read_labelled

    for name in ("canoe", "badminton"):
        stream = Stream()
        for frame in read_labelled(labelled_films(data_dir)[name]).frames:
            stream.push(frame)
        assert stream.card_["camera_moves"] == 0


def test_a_background_that_is_found_elsewhere_speaks_for_a_move_and_a_shake_does_not(rng):
    scene = ndimage.gaussian_filter(rng.random((220, 260), dtype=np.float32), 2.0)
    scene = (scene - scene.min()) / np.ptp(scene)
    form = FrameFormat.of(scene[30:190, 30:230])

    def row(shift):
        return np.ascontiguousarray(scene[30:190, 30 + shift : 230 + shift]).reshape(-1)

    def elsewhere(*shifts):
        search, found = None, []
        for shift in shifts:
            search, away = look_elsewhere(search, row(0), row(shift), form)
            found.append(away)
        return found

    assert elsewhere(6, 7, 8, 9) == [True] * 4
    assert elsewhere(7, -7, 7, -7) == [True] + 3 * [False]
    assert not any(elsewhere(0, 1, 2, -2))
