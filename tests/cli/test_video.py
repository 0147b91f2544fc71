"""`unmingle video`: films, events, reports and models, whatever ends the film."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import av
import numpy as np
import pytest
from command_line import failed
from PIL import Image

from unmingle import Encoder, RobustPCA
from unmingle.apps.video import Stream, separate
from unmingle.cli import video_results, watching
from unmingle.media import FrameWriter, MediaError, open_frames, open_writer
from unmingle.synth import surveillance_scene

SCENE = surveillance_scene(60, 48, 64, random_state=0).frames
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX")


def write_film(path, frames, rate=25.0):
    with open_writer(path, rate=rate) as writer:
        for frame in frames:
            writer.write(frame)


def write_video(path, frames, **options):
    """A video by PyAV alone, with a key frame every ten frames."""
    with av.open(path, "w", **options) as container:
        stream = container.add_stream("libx264", rate=25, options={"crf": "20", "g": "10"})
        stream.height, stream.width = frames.shape[1:]
        stream.pix_fmt = "yuv420p"
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.uint8(255 * frame), format="gray")))
        container.mux(stream.encode(None))


@pytest.fixture
def street(tmp_path):
    write_film(tmp_path / "street.mp4", SCENE)
    return tmp_path / "street.mp4"


@pytest.fixture
def visit(tmp_path, rng):
    """Noise of 90 frames at times of their own; a square crosses it in frames 40 to 49 and 70 to 74."""
    frames = np.clip(120 + 3 * rng.standard_normal((90, 48, 64)), 0, 255)
    for number in [*range(40, 50), *range(70, 75)]:
        left = 5 + 4 * (number % 10)
        frames[number, 10:22, left : left + 10] = 250
    times = np.cumsum(rng.uniform(0.02, 0.3, 90))
    np.savez(tmp_path / "visit.npz", frames=frames.astype(np.uint8), times=times)
    return times - times[0]


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def frames_of(path):
    with open_frames(path) as frames:
        return list(frames)


def test_every_output_holds_every_frame(run, street):
    ended = run(
        "video", "street.mp4", "--background", "bg.mp4", "--foreground", "fg", "--mask", "mask.npz", "--quiet"
    )  # fmt: skip
    assert ended == (0, "", "")
    found = list(separate("street.mp4"))
    with np.load("mask.npz") as stored:
        np.testing.assert_array_equal(stored["frames"] > 0, [each.mask for each in found])
        np.testing.assert_allclose(stored["times"], [each.time for each in found], atol=1e-9)
    assert sorted(os.listdir("fg")) == [f"frame_{number:06d}.png" for number in range(1, 61)]
    for number in (1, 31, 60):
        picture = np.asarray(Image.open(f"fg/frame_{number:06d}.png"))
        np.testing.assert_array_equal(picture, found[number - 1].foreground)
    background = frames_of("bg.mp4")
    assert len(background) == 60
    assert {frame.pixels.shape for frame in background} == {(48, 64)}
    assert abs(np.stack([f.pixels for f in background]) - np.float32([f.background for f in found])).mean() < 4


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
    assert run("video", "pictures", "--background", "grey", "--seconds", "1").code == 0
    assert np.asarray(Image.open("grey/frame_000001.png")).shape == (48, 64)
    assert len(os.listdir("grey")) == 25


def test_figures_are_those_of_the_frames(run, street):
    ended = run("video", "street.mp4", "--json", "--quiet")
    assert (ended.code, ended.err) == (0, "")
    told, found = json.loads(ended.out), list(separate("street.mp4"))
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
    list(separate("street.mp4", stream=stream))
    assert (card["rank"], card["noise"]) == (stream.card()["rank"], stream.card()["noise"])


def test_without_outputs_the_results_are_printed(run, street):
    ended = run("video", "street.mp4")
    assert ended.code == 0
    assert "60 frames of 64 x 48 pixels" in ended.out
    assert "event" in ended.out
    assert ended.err == "Nothing was written; --background, --foreground, --mask, --events and --report write files.\n"
    assert os.listdir() == ["street.mp4"]
    assert run("video", "street.mp4", "--quiet") == (0, "", "")


def test_events_have_the_times_of_the_source(run, visit):
    assert run("video", "visit.npz", "--events", "events.csv", "--quiet").code == 0
    first, second = read_csv("events.csv")
    assert list(first) == [
        "event", "start", "end", "duration", "first_frame", "last_frame", "peak_share", "peak_time",
        "left", "top", "right", "bottom",
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
    assert told["events"] == json.loads(Path("events.json").read_text())
    assert [(event["first_frame"], event["last_frame"]) for event in told["events"]] == [(40, 74)]
    assert told["written"] == {"events": "events.json"}


def test_the_report_shows_moments_and_events(run, visit):
    assert run("video", "visit.npz", "--report", "report.html", "--quiet").code == 0
    page = Path("report.html").read_text(encoding="utf-8")
    assert page.count("data:image/jpeg") == 5 * 4
    assert page.count("<svg") == 1
    assert page.count('class="area second"') == 2
    assert [page.count(mark) for mark in (">0:00<", ">0:06<", ">0 %<")] == [1, 1, 1]
    assert "http" not in page.replace("base64", "")
    for words in ("visit.npz", "90 frames of 64 × 48 pixels", "40–49", "70–74", "--false-alarm-rate", "scene changes"):
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

    monkeypatch.setattr("unmingle.cli.video_stream.Stream", Seen)
    options = {
        "--components": 3, "--memory": 2, "--false-alarm-rate": 0.001, "--patience": 4, "--pixel-share": 0.5,
        "--region": "right.png", "--min-area": 7, "--smoothing": 3,
    }  # fmt: skip
    words = [word for pair in options.items() for word in pair]
    ended = run("video", "street.mp4", *words, "--exact", "--keep-shadows", "--colour", "--mask", "mask.npz", "--quiet")
    assert ended == (0, "", "")
    region = made[0].pop("region")
    assert region[:, 32:].all()
    assert not region[:, :32].any()
    assert made[0] == {
        "n_components": 3, "memory": 50.0, "false_alarm_rate": 0.001, "patience": 100, "pixel_share": 0.5,
        "encoder": "exact", "min_area": 7, "smoothing": 3, "shadows": True,
    }  # fmt: skip
    with np.load("mask.npz") as stored:
        assert not stored["frames"][:, :, :32].any()
    assert failed(run("video", "street.mp4", "--region", "small.png"), "small.png has 4 x 4 pixels", "64 x 48")
    assert run("video", "street.mp4", "--patience", "0").code == 0
    assert made[2] == {"patience": None}
    assert run("video", "street.mp4").code == 0
    assert made[3] == {}


def test_help_tells_the_true_defaults(run):
    told = " ".join(run("video", "--help").out.replace("│", " ").split())
    stream = Stream()
    assert f"components of the background; {stream.n_components} by default" in told
    assert f"{stream.memory:g} frames by default" in told
    assert f"{stream.patience} frames by default" in told
    assert f"noise may mark; {stream.false_alarm_rate:.10f}".rstrip("0") + " by default" in told


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
    "shadows of grey": (["--keep-shadows"], "--keep-shadows needs --colour"),
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
    assert failed(run("video", "song.wav", "--background", "bg.mp4"), "holds sound but no pictures")
    assert os.listdir() == ["song.wav"]


OUTPUTS = ["--background", "bg.mp4", "--mask", "mask", "--events", "events.csv", "--report", "report.html"]


def kept(frames):
    """Tell whether all outputs hold so many frames."""
    assert len(frames_of("bg.mp4")) == len(os.listdir("mask")) == frames
    assert Path("events.csv").read_text().startswith("event,start,end")
    page = Path("report.html").read_text(encoding="utf-8")
    assert f"{frames} frames of 64 × 48 pixels" in page
    return page


@pytest.mark.parametrize("share", [0.8, 0.3], ids=["after the start", "within the start"])
def test_a_film_that_is_cut_off_keeps_what_was_read(run, tmp_path, share):
    write_video(tmp_path / "street.mp4", SCENE, options={"movflags": "faststart"})
    content = (tmp_path / "street.mp4").read_bytes()
    (tmp_path / "street.mp4").write_bytes(content[: int(share * len(content))])
    ended = run("video", "street.mp4", *OUTPUTS)
    assert ended.code == 1
    assert ended.err.startswith("Error: street.mp4 is cut off: ")
    assert ended.err.count("\n") == 1
    assert ended.err.endswith("; what was found up to there is kept in bg.mp4, mask, events.csv, report.html.\n")
    frames = int(ended.err.split("cut off: ")[1].split()[0])
    assert 0 < frames < 60
    assert "The film ends early: street.mp4 is cut off" in kept(frames)
    assert f"{frames} frames of 64 x 48 pixels" in ended.out


def test_a_film_cut_off_before_its_index_is_refused(run, tmp_path):
    write_video(tmp_path / "street.mp4", SCENE)
    content = (tmp_path / "street.mp4").read_bytes()
    (tmp_path / "street.mp4").write_bytes(content[: len(content) // 2])
    assert failed(run("video", "street.mp4", *OUTPUTS), "street.mp4 is no video, is damaged, or is cut off")
    assert os.listdir() == ["street.mp4"]


def test_frames_of_another_size_end_the_film(run, tmp_path):
    write_video(tmp_path / "large.ts", SCENE[:40])
    write_video(tmp_path / "small.ts", SCENE[:20, :32, :48])
    (tmp_path / "street.ts").write_bytes(
        b"".join((tmp_path / f"{name}.ts").read_bytes() for name in ("large", "small"))
    )
    ended = run("video", "street.ts", *OUTPUTS, "--json")
    assert ended.code == 1
    assert "street.ts changes at frame 41 from 64 x 48 grey pixels" in ended.err
    assert "is kept in bg.mp4" in ended.err
    assert ended.err.count("\n") == 1
    assert kept(40)
    told = json.loads(ended.out)
    assert (told["complete"], told["card"]["frames"]) == (False, 40)


@pytest.mark.parametrize("option", ["--background", "--mask", "--events", "--report", "--model"])
def test_a_folder_that_is_missing_is_told_at_once(run, street, option, monkeypatch):
    monkeypatch.setattr(watching, "separate", None)
    suffix = {"--events": "csv", "--report": "html", "--model": "safetensors"}.get(option, "mp4")
    name = f"nowhere/a.{suffix}"
    assert failed(run("video", "street.mp4", "--foreground", "fg.mp4", option, name), "nowhere does not exist")
    assert os.listdir() == ["street.mp4"]


def test_a_folder_that_is_read_only_is_told_at_once(run, street, monkeypatch):
    def denied(**place):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(video_results, "TemporaryFile", denied)
    assert failed(
        run("video", "street.mp4", "--events", "events.csv"), "events.csv cannot be written: Permission denied"
    )


@POSIX
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only_for_the_system_too(run, street, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    for option, name in (("--background", "bg.mp4"), ("--mask", "mask"), ("--report", "report.html")):
        assert failed(run("video", "street.mp4", option, f"locked/{name}"), "cannot be written: ")


def test_a_name_that_no_film_can_have(run, street):
    assert failed(run("video", "street.mp4", "--mask", "m.mp4", "--background", "bg.txt"), "bg.txt cannot be written")
    assert os.listdir() == ["street.mp4"]


LIMITED = """
import resource, signal, sys
import numpy as np
from unmingle.apps.video import separate
from unmingle.cli import main

list(separate(np.load("noise.npy")[:40]))  # compiles what is not compiled
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.argv[1:] = sys.argv[2:]
main()
"""


@POSIX
def test_a_full_disk_keeps_what_was_complete(tmp_path, rng):
    np.save(tmp_path / "noise.npy", rng.integers(100, 130, (60, 120, 160), np.uint8))
    command = ["video", "noise.npy", "--background", "bg.npz", "--foreground", "fg", "--events", "events.csv"]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, "300000", *command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("Error: bg.npz cannot be written: file too large; ")
    assert done.stderr.endswith("; what was found up to there is kept in fg, events.csv.\n")
    assert done.stderr.count("\n") == 1
    with np.load(tmp_path / "bg.npz") as stored:
        assert stored["frames"].shape == (15, 120, 160)
    assert len(os.listdir(tmp_path / "fg")) == 15
    assert (tmp_path / "events.csv").exists()


def test_a_report_that_cannot_be_written_leaves_the_others(run, street, monkeypatch):
    def full(path, text):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(video_results, "_write_text", full)
    ended = run("video", "street.mp4", *OUTPUTS)
    assert ended.code == 1
    assert ended.err == "Error: report.html: No space left on device.\n"
    assert len(frames_of("bg.mp4")) == len(os.listdir("mask")) == 60
    assert Path("events.csv").exists()
    assert not Path("report.html").exists()


def test_every_failure_to_write_is_told(run, street, monkeypatch):
    def full(path, *given):
        raise OSError(28, "No space left on device", str(path))

    close = FrameWriter.close

    def unfinished(self):
        close(self)
        raise MediaError(f"{self.path} cannot be written: no space left on device.")

    monkeypatch.setattr(video_results, "_write_text", full)
    monkeypatch.setattr(video_results, "write_events", full)
    monkeypatch.setattr(FrameWriter, "close", unfinished)
    ended = run("video", "street.mp4", *OUTPUTS, "--model", "model.safetensors")
    assert ended.code == 1
    assert sorted(line.split()[1].strip(":") for line in ended.err.splitlines()) == [
        "bg.mp4", "events.csv", "mask", "report.html"
    ]  # fmt: skip
    assert Path("model.safetensors").exists()
    assert ended.err.count("kept in model.safetensors") == 1


def test_films_are_closed_after_a_defect(street, run, monkeypatch):
    push, pushed = Stream.push, []

    def break_down(self, *given, **options):
        pushed.append(given)
        return push(self, *given, **options) if len(pushed) <= 40 else 1 / 0

    monkeypatch.setattr(Stream, "push", break_down)
    ended = run("video", "street.mp4", "--background", "bg.mp4", "--quiet")
    assert failed(ended, "ZeroDivisionError: division by zero", "unmingle --debug COMMAND")
    assert len(frames_of("bg.mp4")) == 40


@POSIX
@pytest.mark.usefixtures("heeding_interrupts")
@pytest.mark.parametrize(
    ("number", "code", "verb"), [(signal.SIGINT, 130, "Interrupted"), (signal.SIGTERM, 143, "Terminated")]
)
@pytest.mark.parametrize("at", ["writing", "separating"])
def test_an_interrupt_keeps_what_was_done(run, street, monkeypatch, at, number, code, verb):
    owner, name = (FrameWriter, "write") if at == "writing" else (Stream, "push")
    original, calls = getattr(owner, name), []

    def interrupted(*given, **options):
        calls.append(None)
        if len(calls) == 40:
            os.kill(os.getpid(), number)
        return original(*given, **options)

    monkeypatch.setattr(owner, name, interrupted)
    outputs = ["--mask", "mask", "--events", "events.csv"]
    ended = run("video", "street.mp4", *outputs)
    assert ended.code == code
    assert ended.err.startswith(f"{verb} after 40 frames; what was found up to there is kept in mask, events.csv.")
    assert ended.err.count("\n") == 1
    assert len(os.listdir("mask")) == 40
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def interrupt_frame(monkeypatch, which):
    """Let SIGINT come while the feed waits for a frame."""
    next_frame, calls = watching.Feed._next, []

    def interrupted(self):
        calls.append(None)
        if len(calls) == which:
            os.kill(os.getpid(), signal.SIGINT)
        return next_frame(self)

    monkeypatch.setattr(watching.Feed, "_next", interrupted)


@POSIX
@pytest.mark.usefixtures("heeding_interrupts")
def test_an_interrupt_while_frames_are_held_back(run, street, monkeypatch):
    interrupt_frame(monkeypatch, 20)
    ended = run("video", "street.mp4", "--background", "bg.mp4", "--json")
    assert ended.code == 130
    assert json.loads(ended.out)["complete"] is False
    assert len(frames_of("bg.mp4")) == 19


@POSIX
@pytest.mark.usefixtures("heeding_interrupts")
def test_where_interrupts_are_ignored_they_stay_ignored(run, street, monkeypatch):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    interrupt_frame(monkeypatch, 20)
    ended = run("video", "street.mp4", "--background", "bg.mp4", "--json")
    assert ended.code == 0
    assert len(frames_of("bg.mp4")) == 60
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


FROM_STANDARD_INPUT = """
import signal, sys
from unmingle.cli import main

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv[1:] = ["video", "-", "--mask", "mask", "--background", "bg.mkv", "--quiet"]
main()
"""


@POSIX
@pytest.mark.parametrize(
    ("number", "code", "verb"), [(signal.SIGINT, 130, "Interrupted"), (signal.SIGTERM, 143, "Terminated")]
)
def test_an_interrupt_while_nothing_comes(tmp_path, number, code, verb):
    write_film(tmp_path / "street.mkv", SCENE)
    with subprocess.Popen(
        [sys.executable, "-c", FROM_STANDARD_INPUT], cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdin.write((tmp_path / "street.mkv").read_bytes())
        process.stdin.flush()
        while process.poll() is None and not (tmp_path / "mask" / "frame_000035.png").exists():
            time.sleep(0.01)
        process.send_signal(number)
        assert process.wait() == code
        told = process.stderr.read().decode()
    frames = len(list((tmp_path / "mask").glob("frame_*.png")))
    assert told == f"{verb} after {frames} frames; what was found up to there is kept in bg.mkv, mask.\n"
    assert len(frames_of(tmp_path / "bg.mkv")) == frames


def test_a_live_source_starts_without_masks(run, tmp_path):
    np.save(tmp_path / "camera.npy", np.uint8(255 * SCENE))
    ended = run("video", "--live", "camera.npy", "--json")
    assert ended.code == 0
    card = json.loads(ended.out)["card"]
    assert card["frames"] + card["dropped"] == 60
    assert ended.err == "Warning: camera.npy is a file; leave --live out, or frames will be dropped.\n"


def test_addresses_and_cameras_are_taken_as_such(run):
    assert failed(run("video", "--live", "rtsp://127.0.0.1:9/door", "--preview"), "rtsp://127.0.0.1:9/door")
    assert failed(run("video", "763"), "camera:763")


def test_a_model_goes_on_where_it_ended(run, tmp_path):
    pixels = np.uint8(255 * SCENE)
    np.save(tmp_path / "all.npy", pixels)
    np.save(tmp_path / "first.npy", pixels[:40])
    np.save(tmp_path / "second.npy", pixels[40:])
    assert run("video", "all.npy", "--mask", "all.npz", "--memory", "2", "--quiet") == (0, "", "")
    saved = ["--model", "model.safetensors", "--quiet"]
    assert run("video", "first.npy", "--mask", "first.npz", "--memory", "2", *saved) == (0, "", "")
    assert run("video", "second.npy", "--mask", "second.npz", *saved) == (0, "", "")
    masks = {name: np.load(f"{name}.npz")["frames"] for name in ("all", "first", "second")}
    np.testing.assert_array_equal(np.concatenate([masks["first"], masks["second"]]), masks["all"])


def test_a_model_has_its_own_settings(run, street):
    assert run("video", "street.mp4", "--model", "model.safetensors", "--quiet").code == 0
    ended = run("video", "street.mp4", "--model", "model.safetensors", "--memory", "3", "--exact")
    assert ended.code == 2
    assert "--memory, --exact cannot be changed" in " ".join(ended.err.replace("│", " ").split())
    before = Path("model.safetensors").read_bytes()
    assert run("video", "street.mp4", "--model", "model.safetensors", "--freeze", "--quiet").code == 0
    assert Path("model.safetensors").read_bytes() == before


def test_a_model_is_for_frames_like_its_own(run, street, tmp_path):
    np.save(tmp_path / "small.npy", np.uint8(255 * SCENE[:, :40, :50]))
    np.save(tmp_path / "float.npy", SCENE)
    assert run("video", "street.mp4", "--model", "model.safetensors", "--quiet").code == 0
    before, saved = Path("model.safetensors").read_bytes(), ["--model", "model.safetensors"]
    assert failed(run("video", "small.npy", *saved), "model.safetensors was learnt from 64 x 48 grey", "50 x 40 grey")
    assert failed(run("video", "street.mp4", "--colour", *saved), "64 x 48 colour pixels; leave --colour out.")
    assert failed(run("video", "float.npy", *saved), "model.safetensors was learnt from pixels of uint8", "float32")
    assert Path("model.safetensors").read_bytes() == before


def test_a_film_that_is_cut_off_keeps_the_model(run, tmp_path):
    write_film(tmp_path / "pictures", SCENE[:50])
    Image.fromarray(np.zeros((30, 40), np.uint8)).save(tmp_path / "pictures" / "frame_000045.png")
    ended = run("video", "pictures", "--model", "model.safetensors")
    assert ended.code == 1
    assert "kept in model.safetensors" in ended.err


def test_a_trained_network_finds_the_background(run, tmp_path):
    np.save(tmp_path / "street.npy", SCENE)
    rows = SCENE.reshape(len(SCENE), -1)
    network = Encoder.from_components(np.linalg.svd(rows)[2][:3], rank_penalty=0.1, outlier_penalty=0.1, n_layers=5)
    network.save(tmp_path / "network.safetensors")
    ended = run("video", "street.npy", "--encoder", "network.safetensors", "--mask", "mask.npz", "--quiet")
    assert ended == (0, "", "")
    with np.load("mask.npz") as stored:
        expected = [found.mask for found in separate(SCENE, encoder=network)]
        np.testing.assert_array_equal(stored["frames"] > 0, expected)
    np.save(tmp_path / "small.npy", SCENE[:, :40, :50])
    encoder = ["--encoder", "network.safetensors"]
    assert failed(run("video", "small.npy", *encoder), "network.safetensors was trained for frames of 3072", "50 x 40")
    np.save(tmp_path / "coloured.npy", np.repeat(SCENE[..., None], 3, axis=3))
    assert failed(run("video", "coloured.npy", "--colour", *encoder), "which are 9216; leave --colour out.")


@pytest.mark.parametrize("encoder", [[], ["--encoder", "network.safetensors"]], ids=["layers", "network"])
def test_saved_streams_can_be_looked_at(run, tmp_path, encoder):
    np.save(tmp_path / "street.npy", SCENE)
    basis = np.linalg.svd(SCENE.reshape(len(SCENE), -1))[2][:3]
    Encoder.from_components(basis, rank_penalty=0.1, outlier_penalty=0.1, n_layers=5).save("network.safetensors")
    assert run("video", "street.npy", *encoder, "--model", "model.safetensors", "--quiet") == (0, "", "")
    ended = run("info", "model.safetensors")
    assert (ended.code, ended.err) == (0, "")
    assert all(word in ended.out for word in ("VideoStream", "false_alarm_rate", "variance"))
    assert ("5, tied" in ended.out) == bool(encoder)
    told = json.loads(run("info", "model.safetensors", "--json").out)
    assert ("encoder" in told, told["kind"]) == (bool(encoder), "VideoStream")


def test_progress_is_shown_on_terminals_only(run, street, monkeypatch):
    assert run("video", "street.mp4", "--json").err == ""
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = run("video", "street.mp4", "--json").err
    assert "Separating street.mp4" in shown
    assert "60/60" in shown
    assert "frames/s" in shown
    assert run("video", "street.mp4", "--quiet") == (0, "", "")


def test_other_models_are_refused(run, street, tmp_path):
    rows = np.random.default_rng(0).normal(size=(30, 8))
    RobustPCA(n_components=2).fit(rows).save(tmp_path / "other.safetensors")
    assert failed(run("video", "street.mp4", "--model", "other.safetensors"), "holds a RobustPCA", "unmingle video")
    assert failed(run("video", "street.mp4", "--encoder", "other.safetensors"), "without an encoder")
