"""`unmingle video`: films, events, reports and models, whatever ends the film."""

import json
import os
from pathlib import Path

import av
import numpy as np
import pytest
from command_line import failed
from films import SCENE, frames_of, read_csv, write_film
from PIL import Image

from unmingle.apps.video import Stream, separated_frames
from unmingle.apps.video.settings import STABILISERS


def test_every_output_holds_every_frame(run, street):
    ended = run(
        "video", "street.mp4", "--background", "bg.mp4", "--foreground", "fg", "--mask", "mask.npz", "--quiet"
    )  # fmt: skip
    assert ended == (0, "", "")
    found = list(separated_frames("street.mp4"))
    with np.load("mask.npz") as stored:
        np.testing.assert_array_equal(stored["frames"] > 0, [each.mask for each in found])
        np.testing.assert_allclose(stored["times"], [each.time for each in found], atol=1e-9)
    assert sorted(os.listdir("fg")) == [f"frame_{number:06d}.png" for number in range(1, 61)]
    for number in (1, 31, 60):
        picture = np.asarray(Image.open(f"fg/frame_{number:06d}.png"))
        np.testing.assert_array_equal(picture, found[number - 1].foreground.to_rgb())
    background = frames_of("bg.mp4")
    assert len(background) == 60
    assert {frame.pixels.shape for frame in background} == {(48, 64)}
    assert abs(np.stack([f.pixels for f in background]) - np.float32([f.background.luma for f in found])).mean() < 4


def test_grey_is_asked_for(run, street):
    assert run("video", "street.mp4", "--grey", "--mask", "mask.npz", "--foreground", "fg", "--quiet").code == 0
    found = list(separated_frames("street.mp4", colour=False))
    with np.load("mask.npz") as stored:
        np.testing.assert_array_equal(stored["frames"] > 0, [each.mask for each in found])
    np.testing.assert_array_equal(np.asarray(Image.open("fg/frame_000060.png")), found[-1].foreground)
    assert found[-1].background.shape == (48, 64)


def test_odd_sizes_become_even_in_videos_and_stay_in_folders(run, tmp_path):
    np.save(tmp_path / "odd.npy", np.uint8(255 * SCENE[:, :45, :61]))
    assert run("video", "odd.npy", "--background", "bg.mp4", "--mask", "mask").code == 0
    assert frames_of("bg.mp4")[0].pixels.shape == (46, 62)
    assert np.asarray(Image.open("mask/frame_000060.png")).shape == (45, 61)


def test_a_folder_of_images_and_colours(run, tmp_path):
    coloured = np.repeat(SCENE[..., None], 3, axis=3) * np.float32([1.0, 0.8, 0.6])
    write_film(tmp_path / "pictures", coloured)
    assert run("video", "pictures", "--colour", "--background", "bg", "--max-frames", "40").code == 0
    assert np.asarray(Image.open("bg/frame_000040.png")).shape == (48, 64, 3)
    assert len(os.listdir("bg")) == 40
    assert run("video", "pictures", "--grey", "--background", "grey", "--seconds", "1").code == 0
    assert np.asarray(Image.open("grey/frame_000001.png")).shape == (48, 64)
    assert len(os.listdir("grey")) == 25


def test_figures_are_those_of_the_frames(run, street):
    ended = run("video", "street.mp4", "--json", "--quiet")
    assert (ended.code, ended.err) == (0, "")
    told, found = json.loads(ended.out), list(separated_frames("street.mp4"))
    card, shares = told["card"], [each.score for each in found]
    assert (told["source"], told["complete"], told["written"]) == ("street.mp4", True, {})
    assert (card["frames"], card["height"], card["width"], card["duration"]) == (60, 48, 64, 2.4)
    assert card["largest_share"] == max(shares)
    assert card["mean_share"] == pytest.approx(np.mean(shares))
    assert card["adapting_frames"] == sum(each.state == "adapting" for each in found)
    assert card["dropped"] == 0
    assert list(card["seconds"]) == ["reading", "separating", "writing"]
    assert card["frames_per_second"] > 0
    stream = Stream()
    list(separated_frames("street.mp4", stream=stream))
    assert (card["rank"], card["noise"]) == (stream.card_["rank"], stream.card_["noise"])


def test_without_outputs_the_results_are_printed(run, street):
    ended = run("video", "street.mp4")
    assert ended.code == 0
    assert "60 frames of 64 x 48 pixels" in ended.out
    assert "event" in ended.out
    assert ended.err == (
        "Nothing was written; --background, --mask, --overlay, --clips, --events, --boxes and --report write files.\n"
    )
    assert os.listdir() == ["street.mp4"]
    assert run("video", "street.mp4", "--quiet") == (0, "", "")


def test_events_have_the_times_of_the_source(run, visit):
    assert run("video", "visit.npz", "--events", "events.csv", "--quiet").code == 0
    first, second = read_csv("events.csv")
    assert list(first) == [
        "event", "start", "end", "duration", "first_frame", "last_frame", "peak_share", "peak_time",
        "left", "top", "right", "bottom", "regions",
    ]  # fmt: skip
    assert (first["first_frame"], first["last_frame"]) == ("40", "49")
    end = visit[49] + np.median(np.diff(visit[:50])[-25:])
    assert (first["start"], float(first["end"])) == (f"{visit[40]:.3f}", pytest.approx(end, abs=2e-3))
    assert float(first["duration"]) == pytest.approx(end - visit[40], abs=2e-3)
    box = [int(first[side]) for side in ("left", "top", "right", "bottom")]
    np.testing.assert_allclose(box, [5, 10, 51, 22], atol=2)
    assert float(first["peak_share"]) == pytest.approx(12 * 10 / (48 * 64), rel=0.3)
    assert (second["event"], second["first_frame"], second["last_frame"]) == ("2", "70", "74")


def test_events_as_json_are_those_that_are_told(run, visit):
    ended = run("video", "visit.npz", "--events", "events.json", "--event-gap", "100", "--json")
    told = json.loads(ended.out)
    document = json.loads(Path("events.json").read_text())
    assert (document["film"], document["start_time"], document["events"]) == ("visit.npz", None, told["events"])
    assert [box["frame"] for box in document["events"][1]["boxes"]] == [70, 71, 72, 73, 74]
    assert [event["start_time"] for event in document["events"]] == [None, None]
    assert [(event["first_frame"], event["last_frame"]) for event in told["events"]] == [(40, 49), (70, 74)]
    assert told["written"] == {"events": "events.json"}


def test_the_report_shows_moments_and_events(run, visit):
    assert run("video", "visit.npz", "--report", "report.html", "--quiet").code == 0
    page = Path("report.html").read_text(encoding="utf-8")
    assert page.count("data:image/jpeg") == 5 * 4
    assert page.count("<svg") == 1
    assert page.count('class="area second"') == 2
    assert [page.count(mark) for mark in (">0:00<", ">0:06<", ">0 %<")] == [1, 1, 1]
    assert "http" not in page.replace("base64", "")
    for words in ("visit.npz", "90 frames of 64 × 48 pixels", "40–49", "70–74", "false_alarm_rate", "scene changes"):
        assert words in page


def test_the_report_of_a_film_without_events(run, tmp_path):
    np.save(tmp_path / "still.npy", np.full((40, 24, 32), 100, np.uint8))
    assert run("video", "still.npy", "--report", "report.html").out.count("no events") == 1
    assert "nothing was in front of the background" in Path("report.html").read_text(encoding="utf-8")


def test_options_reach_the_stream(run, street, tmp_path, monkeypatch):
    Image.fromarray(np.uint8([[0] * 32 + [255] * 32] * 48)).save(tmp_path / "right.png")
    Image.fromarray(np.full((4, 4), 255, np.uint8)).save(tmp_path / "small.png")
    made = []

    class Seen(Stream):
        def __init__(self, **settings):
            made.append(settings)
            super().__init__(**settings)

    monkeypatch.setattr("unmingle.apps.video._begin.Stream", Seen)
    options = {
        "--components": 3, "--memory": 2, "--false-alarm-rate": 0.001, "--patience": 4, "--pixel-share": 0.5,
        "--region": "right.png", "--min-area": 7, "--smoothing": 3, "--stabilize": "similarity",
    }  # fmt: skip
    words = [word for pair in options.items() for word in pair]
    ended = run("video", "street.mp4", *words, "--exact", "--keep-shadows", "--colour", "--mask", "mask.npz", "--quiet")
    assert ended == (0, "", "")
    region = made[0].pop("region")
    assert region[:, 32:].all()
    assert not region[:, :32].any()
    assert made[0] == {
        "n_components": 3, "forgetting": 0.98, "false_alarm_rate": 0.001, "patience": 100, "pixel_share": 0.5,
        "encoder": "exact", "min_area": 7, "smoothing": 3, "shadows": True, "stabilise": "similarity",
    }  # fmt: skip
    with np.load("mask.npz") as stored:
        assert not stored["frames"][:, :, :32].any()
    assert failed(run("video", "street.mp4", "--region", "small.png"), "small.png has 4 x 4 pixels", "64 x 48")
    assert run("video", "street.mp4", "--patience", "0").code == 0
    assert made[2] == {"patience": None}
    assert run("video", "street.mp4").code == 0
    assert made[3] == {}


def test_ways_to_follow_a_camera_are_those_of_the_stream(run, street):
    assert f"<{'|'.join(STABILISERS)}>" in " ".join(run("video", "--help").out.split())
    assert "stabilise must be one of 'translation', 'similarity', 'projective'" in refused(
        run("video", "street.mp4", "--stabilise", "affine")
    )


def test_help_tells_the_true_defaults(run):
    told = " ".join(run("video", "--help").out.replace("│", " ").split())
    stream = Stream()
    assert f"components of the background; {stream.settings.n_components} by default" in told
    assert f"{1 / (1 - stream.settings.forgetting):g} frames by default" in told
    assert f"{stream.settings.patience} frames by default" in told
    assert f"noise may mark; {stream.settings.false_alarm_rate:.10f}".rstrip("0") + " by default" in told


USAGE = {
    "both encoders": (["--exact", "--encoder", "a.safetensors"], "exclude each other"),
    "frozen without a model": (["--freeze"], "--freeze needs a model"),
    "frozen with a new model": (["--freeze", "--model", "new.safetensors"], "--freeze needs a model"),
    "output is input": (["--background", "street.mp4"], "is the same as IN"),
    "output is input by another name": (["--background", "../{here}/street.mp4"], "is the same as IN"),
    "two in one": (["--background", "a.mp4", "--mask", "a.mp4"], "is the same as --background"),
    "encoder is output": (["--encoder", "a.safetensors", "--model", "a.safetensors"], "is the same as --encoder"),
    "region is output": (["--region", "white.png", "--mask", "../{here}/white.png"], "is the same as --region"),
    "events of no kind": (["--events", "a.txt"], "--events': the name must end in .csv or .json; got 'a.txt'"),
    "report of no kind": (["--report", "a.pdf"], "--report': the name must end in .html"),
    "model of no kind": (["--model", "street.mp4"], "--model': the name must end in .safetensors"),
    "standard output": (["--mask", "-"], "--mask': films cannot be written to standard output"),
    "no false alarms": (["--false-alarm-rate", "0"], "--false-alarm-rate': expected a number above 0 and below 1"),
    "only false alarms": (["--false-alarm-rate", "1"], "--false-alarm-rate': expected a number above 0 and below 1"),
    "no pixels": (["--pixel-share", "0"], "--pixel-share': expected a number above 0 and at most 1"),
    "no memory": (["--memory", "0"], "--memory': expected a number of seconds above 0"),
    "memory of a frame": (["--memory", "0.04"], "--memory must be longer than one frame, here 0.04 seconds"),
    "even smoothing": (["--smoothing", "4"], "--smoothing': expected an odd number from 1 to 15; got 4"),
    "grey and colour": (["--grey", "--colour"], "--grey and --colour exclude each other"),
}


@pytest.mark.parametrize(("options", "words"), USAGE.values(), ids=USAGE.keys())
def test_what_cannot_be_meant_is_refused(run, street, options, words):
    ended = run("video", "street.mp4", *(option.format(here=street.parent.name) for option in options))
    assert (ended.code, ended.out) == (2, "")
    assert words in " ".join(ended.err.replace("│", " ").split())
    assert os.listdir() == ["street.mp4"]


@pytest.mark.parametrize("options", [["--pixel-share", "1"], ["--smoothing", "15"], ["--false-alarm-rate", "0.99"]])
def test_the_ends_of_ranges_are_allowed(run, street, options):
    assert run("video", "street.mp4", *options, "--max-frames", "5", "--quiet") == (0, "", "")


def test_shares_of_a_region_are_called_so(run, street, tmp_path):
    Image.fromarray(np.full((48, 64), 255, np.uint8)).save(tmp_path / "white.png")
    ended = run("video", "street.mp4", "--region", "white.png", "--report", "report.html")
    assert "of the region on average" in ended.out
    page = Path("report.html").read_text(encoding="utf-8")
    assert "of the region at most" in page
    assert "share of the region that is foreground" in page
    assert "of the picture at most" not in page


REFUSED = {
    "missing": (lambda path: None, "film.mp4 does not exist"),
    "empty": (lambda path: path.touch(), "film.mp4 is empty: it has 0 bytes"),
    "text": (lambda path: path.write_text("Call me Ishmael. " * 300), "film.mp4"),
}


@pytest.mark.parametrize(("make", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_film_gets_one_sentence(run, tmp_path, make, words):
    make(tmp_path / "film.mp4")
    outputs = ["--background", "bg.mp4", "--mask", "mask", "--events", "events.csv", "--report", "report.html"]
    assert failed(run("video", "film.mp4", *outputs), words)
    assert set(os.listdir()) <= {"film.mp4"}


def test_sound_is_no_film(run, tmp_path):
    with av.open(tmp_path / "song.wav", "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 4000), np.int16), format="s16", layout="mono")
        frame.rate = 8000
        container.mux(stream.encode(frame))
    assert failed(run("video", "song.wav", "--background", "bg.mp4"), "contains sound but no pictures")
    assert os.listdir() == ["song.wav"]


def test_addresses_and_cameras_are_taken_as_such(run):
    assert failed(run("video", "--live", "rtsp://127.0.0.1:9/door", "--preview"), "rtsp://127.0.0.1:9/door")
    assert failed(run("video", "763"), "camera:763")


def test_progress_is_shown_on_terminals_only(run, street, monkeypatch):
    assert run("video", "street.mp4", "--json").err == ""
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = run("video", "street.mp4", "--json").err
    assert "Separating street.mp4" in shown
    assert "60/60" in shown
    assert "frames/s" in shown
    assert run("video", "street.mp4", "--quiet") == (0, "", "")


def refused(ended):
    """What is said of options that are wrong, without the frame around it."""
    assert (ended.code, ended.out) == (2, "")
    return " ".join(ended.err.replace("│", " ").split())


def test_events_are_drawn_cut_out_and_listed_frame_by_frame(run, visit):
    ended = run("video", "visit.npz", "--overlay", "seen.mp4", "--clips", "clips", "--boxes", "boxes.csv")
    assert ended.code == 0
    assert len(frames_of("seen.mp4")) == 90
    assert [name[:10] for name in sorted(os.listdir("clips"))] == ["event_0001", "event_0002"]
    assert [int(row["frame"]) for row in read_csv("boxes.csv")] == [*range(40, 50), *range(70, 75)]
    assert all(f"{name}: " in ended.out for name in ("overlay", "clips", "boxes"))


def test_regions_have_names(run, visit, tmp_path):
    Image.fromarray(np.uint8([[255] * 32 + [0] * 32] * 48)).save(tmp_path / "left.png")
    Image.fromarray(np.uint8([[0] * 32 + [255] * 32] * 48)).save(tmp_path / "right.png")
    regions = ["--region", "way in=left.png", "--region", "right.png"]
    assert run("video", "visit.npz", *regions, "--events", "events.csv", "--quiet").code == 0
    assert [row["regions"] for row in read_csv("events.csv")] == ["way in", "way in"]
    model = ["--model", "m.safetensors", "--region", "left.png"]
    assert run("video", "visit.npz", *model, "--quiet").code == 0
    assert run("video", "visit.npz", *model[:2], "--region", "door=left.png", "--events", "e.csv", "--quiet").code == 0
    assert {row["regions"] for row in read_csv("e.csv")} == {"door"}
    assert "looks at another part" in refused(run("video", "visit.npz", *model[:3], "right.png"))
    assert "is given twice" in refused(run("video", "visit.npz", "--region", "a=left.png", "--region", "a=right.png"))
    assert "lacks its name or its picture" in refused(run("video", "visit.npz", "--region", "a="))


def test_a_folder_has_the_rate_that_is_given(run, tmp_path):
    write_film(tmp_path / "pictures", SCENE)
    told = json.loads(run("video", "pictures", "--fps", "5", "--json", "--quiet").out)
    assert told["card"]["duration"] == 12.0
    assert "above 0" in refused(run("video", "pictures", "--fps", "0"))


def test_films_have_a_rate_of_their_own(run, street):
    assert failed(run("video", "street.mp4", "--fps", "5"), "street.mp4 has times of its own")


def test_a_smaller_picture_is_worked_on(run, street):
    assert run("video", "street.mp4", "--max-width", "32", "--mask", "mask", "--background", "bg.mp4").code == 0
    mask = np.asarray(Image.open("mask/frame_000040.png"))
    assert mask.shape == (48, 64)
    assert np.array_equal(mask, mask[::2, ::2].repeat(2, axis=0).repeat(2, axis=1))
    assert frames_of("bg.mp4")[0].pixels.shape == (48, 64)
    assert "--max-width" in refused(run("video", "street.mp4", "--max-width", "3"))


def test_it_begins_with_a_picture_of_the_empty_scene(run, street, tmp_path):
    Image.fromarray(np.uint8(255 * SCENE[0])).save(tmp_path / "empty.png")
    assert run("video", "street.mp4", "--background-image", "empty.png", "--model", "m.safetensors").code == 0
    Image.fromarray(np.zeros((4, 4), np.uint8)).save(tmp_path / "small.png")
    ended = run("video", "street.mp4", "--background-image", "small.png")
    assert failed(ended, "The picture of the empty scene has 4 x 4 pixels, but the frames have 64 x 48")
    ended = run("video", "street.mp4", "--background-image", "empty.png", "--model", "m.safetensors")
    assert "--background-image cannot be changed" in refused(ended)


def test_dates_of_events_begin_with_that_of_the_film(run, visit):
    told = json.loads(run("video", "visit.npz", "--start-time", "2026-05-01T08:30:00", "--json", "--quiet").out)
    seconds = told["events"][0]["start"]
    assert told["events"][0]["start_time"] == f"2026-05-01T08:30:{seconds:06.3f}"
    ended = run("video", "visit.npz", "--start-time", "yesterday")
    assert "expected a date such as 2026-05-01T08:30:00; got 'yesterday'" in refused(ended)


def test_clips_need_a_folder(run, street):
    assert "expected a folder for films" in refused(run("video", "street.mp4", "--clips", "clips.mp4"))
