"""What is written of events: boxes, an overlay, clips, dates and regions."""

import csv
import json
from datetime import UTC, datetime

import av
import numpy as np
import pytest

from unmingle.apps.video import Outputs, Settings, Stream, separate, separated_frames
from unmingle.apps.video._drawing import with_boxes
from unmingle.apps.video._films import Clips, clip_name
from unmingle.apps.video._outputs import BoxTable
from unmingle.apps.video._smaller import Reduction, larger, like, smaller, times_smaller
from unmingle.apps.video.events import EventPlace
from unmingle.media import Frame, MediaError, Planes


@pytest.fixture(scope="module")
def crossing():
    """Ninety frames of noise before which a square moves from left to right in frames 40 to 69."""
    rng = np.random.default_rng(8)
    frames = np.clip(120 + 3 * rng.standard_normal((90, 64, 96)), 0, 255)
    for number in range(40, 70):
        left = 2 * (number - 40)
        frames[number, 20:36, left : left + 12] = 240
    return frames.astype(np.uint8)


def times_of(path):
    with av.open(str(path)) as film:
        return [frame.time for frame in film.decode(video=0)]


def test_boxes_follow_the_thing(crossing, tmp_path):
    result = separate(crossing, outputs=Outputs(boxes=tmp_path / "boxes.csv"))
    assert result.written == {"boxes": tmp_path / "boxes.csv"}
    with (tmp_path / "boxes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["frame"]) for row in rows] == list(range(40, 70))
    assert {row["event"] for row in rows} == {"1"}
    for row in rows:
        left = 2 * (int(row["frame"]) - 40)
        box = [int(row[side]) for side in ("left", "top", "right", "bottom")]
        np.testing.assert_allclose(box, [left, 20, left + 12, 36], atol=2)
        assert float(row["time"]) == pytest.approx(int(row["frame"]) / 25, abs=6e-4)


def test_boxes_are_in_the_order_of_frames_also_where_they_are_known_late(tmp_path):
    table = BoxTable(tmp_path / "boxes.csv")

    def seen(frame):
        return EventPlace(frame, frame / 10, 1, 2, 3, 4, regions=("door", "gate"))

    table.add(5, [(1, seen(5))])
    table.add(6, [(2, seen(2)), (2, seen(6)), (1, seen(6))])
    table.close()
    lines = (tmp_path / "boxes.csv").read_text().splitlines()
    assert [line.split(",")[:3:2] for line in lines[1:]] == [["2", "2"], ["5", "1"], ["6", "1"], ["6", "2"]]
    assert lines[1] == "2,0.200,2,1,2,3,4,door; gate"
    assert [path.name for path in tmp_path.iterdir()] == ["boxes.csv"]


def test_a_table_that_cannot_be_written_is_told_and_leaves_the_rest(crossing, tmp_path, monkeypatch):
    def full(self, frame, sightings):
        self._end(OSError, OSError(28, "No space left on device"), None)

    monkeypatch.setattr(BoxTable, "add", full)
    result = separate(crossing[:40], outputs=Outputs(boxes=tmp_path / "boxes.csv", mask=tmp_path / "mask.npz"))
    assert [str(error) for error in result.errors] == [
        f"{tmp_path / 'boxes.csv'} cannot be written: No space left on device."
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["mask.npz"]


def test_an_event_is_cut_out_with_its_margins(crossing, tmp_path):
    result = separate(crossing, outputs=Outputs(clips=tmp_path / "clips"))
    assert result.written == {"clips": tmp_path / "clips"}
    (clip,) = (tmp_path / "clips").iterdir()
    assert clip.name == "event_0001_00h00m01s.mp4"
    assert len(times_of(clip)) == len(range(40 - 25, min(90, 69 + 25 + 1)))


def test_events_at_one_time_have_a_clip_each_and_gaps_are_filled(tmp_path):
    clips, frame = Clips(tmp_path, 10.0), np.zeros((16, 16), np.uint8)

    def seen(number):
        return EventPlace(number, number / 10, 0, 0, 4, 4)

    for number in range(80):
        here = [(1, seen(number))] if 20 <= number < 60 and not 30 < number < 50 else []
        there = [(2, seen(number))] if 25 <= number < 40 else []
        going_on = {1} if number < 65 else set()
        clips.write(frame, number / 10, here + there, going_on | ({2} if number < 45 else set()))
    assert clips.close() == []
    lengths = {path.name: len(times_of(path)) for path in tmp_path.iterdir()}
    assert lengths == {clip_name(1, 2.0): 60, clip_name(2, 2.5): 35}
    assert clips.n_written == 2


@pytest.mark.parametrize("kind", ["grey", "colours", "planes"])
def test_boxes_and_time_are_drawn_on_a_copy(kind):
    grey = np.full((60, 100), 90, np.uint8)
    picture = {"grey": grey, "colours": np.repeat(grey[..., None], 3, axis=2)}
    picture["planes"] = Planes.from_rgb(picture["colours"])
    frame = picture[kind]
    drawn = with_boxes(frame, [(7, EventPlace(0, 0.0, 40, 20, 60, 50))], 1.5)
    before, after = (one.luma if kind == "planes" else one if kind == "grey" else one[..., 0] for one in (frame, drawn))
    assert (before == 90).all()
    changed = np.argwhere(after != 90)
    assert {20, 21, 48, 49} <= set(changed[changed[:, 1] == 50][:, 0].tolist())
    assert not (changed[:, 0] > 50).any()
    assert (after[22:48, 42:58] == 90).all()
    assert with_boxes(np.zeros((4, 4), np.float32), [(1, EventPlace(0, 0.0, -9, -9, 99, 99))], 0.0).max() <= 1.0


def test_the_overlay_has_every_frame(crossing, tmp_path):
    separate(crossing, outputs=Outputs(overlay=tmp_path / "overlay.npz"))
    with np.load(tmp_path / "overlay.npz") as stored:
        drawn = stored["frames"]
    assert drawn.shape == crossing.shape
    assert (drawn[60, 40:] == crossing[60, 40:]).all()
    assert (drawn[60, 20, 40:52] != crossing[60, 20, 40:52]).all()


def test_events_name_the_regions_they_touch(crossing, tmp_path):
    left, right, below = (np.zeros((64, 96), bool) for _ in range(3))
    left[:, :40], right[:, 40:], below[50:] = True, True, True
    outputs = Outputs(events=tmp_path / "events.csv")
    result = separate(crossing, outputs, Settings(region={"left": left, "right": right, "below": below}))
    assert [event.regions for event in result.events] == [("left", "right")]
    assert (tmp_path / "events.csv").read_text().splitlines()[1].endswith(",left; right")
    only = separate(crossing, settings=Settings(region={"below": below}))
    assert only.summary()["region"] is True
    assert only.events == []
    (error,) = separate(crossing, settings=Settings(region={"door": np.ones((3, 3))}), stream=Stream()).errors
    assert "Region door has 3 x 3 pixels, but the frames have 96 x 64" in str(error)


def test_events_have_dates_where_the_start_is_known(crossing, tmp_path):
    outputs = Outputs(events=tmp_path / "events.json")
    separate(crossing, outputs, Settings(start_time=datetime(2026, 5, 1, 8, 30, tzinfo=UTC)))
    told = json.loads((tmp_path / "events.json").read_text())
    assert told["start_time"] == "2026-05-01T08:30:00.000+00:00"
    (event,) = told["events"]
    assert event["start_time"] == "2026-05-01T08:30:01.600+00:00"
    assert [box["frame"] for box in event["boxes"]] == list(range(40, 70))
    assert separate(crossing[:3], settings=Settings(live=True)).started is not None


@pytest.mark.parametrize(("width", "wanted", "side"), [(3839, None, 1), (3840, None, 2), (7680, None, 4), (100, 40, 3)])
def test_very_wide_pictures_are_worked_on_smaller(width, wanted, side):
    assert times_smaller(width, wanted) == side


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_smaller_pictures_are_means_and_larger_ones_repeat_them(rng, dtype):
    frame = (rng.random((13, 20)) * (np.iinfo(dtype).max if dtype != np.float32 else 1)).astype(dtype)
    small = smaller(frame, 3)
    means = frame[:12, :18].astype(np.float64).reshape(4, 3, 6, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(small, means, atol=0.5 if dtype != np.float32 else 1e-6)
    assert small.dtype == dtype
    whole = larger(small, 3, 13, 20)
    assert whole.shape == frame.shape
    np.testing.assert_array_equal(whole[1:12:3, 1:18:3], small)
    planes = Planes.from_rgb((rng.random((26, 38, 3)) * 200).astype(np.uint8))
    little = smaller(planes, 3)
    assert (little.height, little.width) == (8, 12)
    np.testing.assert_allclose(
        little.chroma[1], planes.chroma[1][:12, :18].reshape(4, 3, 6, 3).mean(axis=(1, 3)), atol=0.5
    )
    assert larger(little, 3, 26, 38).shape == planes.shape


def test_results_have_the_size_of_the_frames(crossing, tmp_path):
    large = crossing.repeat(2, axis=1).repeat(2, axis=2)
    outputs = Outputs(background=tmp_path / "bg.npz", mask=tmp_path / "mask.npz", boxes=tmp_path / "boxes.csv")
    region = np.ones(large.shape[1:], bool)
    stream = Stream(region=region, min_area=16)
    result = separate(large, outputs, Settings(max_width=96), stream=stream)
    assert result.errors == []
    assert (
        stream.state.format.height,
        stream.state.format.width,
        stream.settings.region.shape,
        stream.settings.min_area,
    ) == (64, 96, (64, 96), 4)
    plain = separate(crossing, settings=Settings(min_area=4))
    assert [event.row()["first_frame"] for event in result.events] == [40]
    for side in ("left", "top", "right", "bottom"):
        assert getattr(result.events[0], side) == 2 * getattr(plain.events[0], side)
    with np.load(tmp_path / "mask.npz") as masks, np.load(tmp_path / "bg.npz") as backgrounds:
        assert masks["frames"].shape == backgrounds["frames"].shape == large.shape
    assert (result.summary()["height"], result.summary()["width"]) == (128, 192)


def test_a_picture_of_the_empty_scene_is_the_first_background(crossing, tmp_path):
    occupied = crossing.copy()
    occupied[:40, 20:36, 60:72] = 240
    shares = {}
    for name, empty in (("with", crossing[0]), ("without", None)):
        separate(occupied[:40], Outputs(mask=tmp_path / f"{name}.npz"), Settings(background_image=empty))
        with np.load(tmp_path / f"{name}.npz") as masks:
            shares[name] = (masks["frames"][:40] > 0).mean(axis=(1, 2))
    assert shares["with"].min() > 0.02
    assert shares["without"].max() < 0.005
    result = separate(occupied[:5], settings=Settings(background_image=np.zeros((3, 4), np.uint8)))
    assert "has 4 x 3 pixels, but the frames have 96 x 64" in str(result.errors[0])


def test_pictures_become_like_frames():
    picture = np.full((4, 6, 3), (10, 100, 200), np.uint8)
    assert like(picture, np.zeros((4, 6), np.uint8)).shape == (4, 6)
    np.testing.assert_allclose(like(picture, np.zeros((4, 6, 3), np.float32)), picture / np.float32(255))
    np.testing.assert_array_equal(like(picture, np.zeros((4, 6, 3), np.uint16)), picture.astype(np.uint16) * 257)
    assert isinstance(like(picture[..., 0], Planes.from_rgb(picture)), Planes)


def test_frames_that_are_small_enough_are_not_touched(crossing):
    reduction = Reduction(Stream())
    reduction.begin(Frame(0.0, crossing[0]))
    assert reduction.side == 1
    assert smaller(crossing[0], 1) is crossing[0] or np.shares_memory(smaller(crossing[0], 1), crossing)
    (one,) = separated_frames(crossing[:1])
    assert one.mask.shape == crossing[0].shape


def test_a_folder_for_clips_that_is_a_file_is_refused(crossing, tmp_path):
    (tmp_path / "clips").write_text("")
    with pytest.raises(MediaError, match="no folder to write clips to"):
        separate(crossing, outputs=Outputs(clips=tmp_path / "clips"))
