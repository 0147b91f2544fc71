"""`unmingle video`: films, events, reports and models, whatever ends the film."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from command_line import failed
from films import POSIX, SCENE, frames_of, write_film, write_video
from PIL import Image

from unmingle.apps import jobs
from unmingle.apps.video import Stream, _outputs, _separate
from unmingle.media import FrameWriter, MediaError
from unmingle.media.background import WritingThread

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
    assert ended.err.endswith("; what was found until then is kept in bg.mp4, mask, events.csv, report.html.\n")
    frames = int(ended.err.split("cut off: ")[1].split()[0])
    assert 0 < frames < 60
    assert "The film ends early: street.mp4 is cut off" in kept(frames)
    assert f"{frames} frames of 64 x 48 pixels" in ended.out


def test_a_film_cut_off_before_its_index_is_refused(run, tmp_path):
    write_video(tmp_path / "street.mp4", SCENE)
    content = (tmp_path / "street.mp4").read_bytes()
    (tmp_path / "street.mp4").write_bytes(content[: len(content) // 2])
    assert failed(run("video", "street.mp4", *OUTPUTS), "street.mp4 is not a video, or it is damaged or incomplete")
    assert os.listdir() == ["street.mp4"]


def test_frames_of_another_size_end_the_film(run, tmp_path):
    write_video(tmp_path / "large.ts", SCENE[:40])
    write_video(tmp_path / "small.ts", SCENE[:20, :32, :48])
    (tmp_path / "street.ts").write_bytes(
        b"".join((tmp_path / f"{name}.ts").read_bytes() for name in ("large", "small"))
    )
    ended = run("video", "street.ts", *OUTPUTS, "--json")
    assert ended.code == 1
    assert "street.ts changes at frame 41 from 64 x 48 colour pixels" in ended.err
    assert "is kept in bg.mp4" in ended.err
    assert ended.err.count("\n") == 1
    assert kept(40)
    told = json.loads(ended.out)
    assert (told["complete"], told["card"]["frames"]) == (False, 40)


@pytest.mark.parametrize("option", ["--background", "--mask", "--events", "--report", "--model"])
def test_a_folder_that_is_missing_is_made(run, street, option):
    suffix = {"--events": "csv", "--report": "html", "--model": "safetensors"}.get(option, "mp4")
    assert run("video", "street.mp4", "--max-frames", 40, option, f"new/deep/a.{suffix}", "--quiet") == (0, "", "")
    assert os.listdir("new/deep") == [f"a.{suffix}"]


def test_a_folder_that_is_read_only_is_told_at_once(run, street, monkeypatch):
    def denied(**place):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(jobs, "TemporaryFile", denied)
    assert failed(
        run("video", "street.mp4", "--events", "events.csv"), "events.csv cannot be written: ", "Permission denied"
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
from unmingle.apps.video import separated_frames
from unmingle.cli import main

list(separated_frames(np.load("noise.npy")[:40]))  # compiles what is not compiled
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
    assert done.stderr.endswith("; what was found until then is kept in fg, events.csv.\n")
    assert done.stderr.count("\n") == 1
    with np.load(tmp_path / "bg.npz") as stored:
        assert stored["frames"].shape == (15, 120, 160)
    assert 15 <= len(os.listdir(tmp_path / "fg")) <= 30  # films are written beside each other, a few frames apart
    assert (tmp_path / "events.csv").exists()


def test_a_report_that_cannot_be_written_leaves_the_others(run, street, monkeypatch):
    def full(path, text):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(_outputs, "_write_text", full)
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

    monkeypatch.setattr(_outputs, "_write_text", full)
    monkeypatch.setattr(_outputs, "write_events", full)
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
    owner, name = (WritingThread, "write") if at == "writing" else (Stream, "push")
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
    assert ended.err.startswith(f"{verb} after 40 frames; what was found until then is kept in mask, events.csv.")
    assert ended.err.count("\n") == 1
    assert len(os.listdir("mask")) == 40
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def interrupt_frame(monkeypatch, which):
    """Let SIGINT come while the feed waits for a frame."""
    next_frame, calls = _separate.Feed._next, []

    def interrupted(self):
        calls.append(None)
        if len(calls) == which:
            os.kill(os.getpid(), signal.SIGINT)
        return next_frame(self)

    monkeypatch.setattr(_separate.Feed, "_next", interrupted)


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
    assert told == f"{verb} after {frames} frames; what was found until then is kept in bg.mkv, mask.\n"
    assert len(frames_of(tmp_path / "bg.mkv")) == frames


def test_a_live_source_starts_without_masks(run, tmp_path):
    np.save(tmp_path / "camera.npy", np.uint8(255 * SCENE))
    ended = run("video", "--live", "camera.npy", "--json")
    assert ended.code == 0
    card = json.loads(ended.out)["card"]
    assert card["frames"] + card["dropped"] == 60
    assert ended.err == "Warning: camera.npy is a file; leave --live out, or frames will be dropped.\n"


def test_a_film_that_is_cut_off_keeps_the_model(run, tmp_path):
    write_film(tmp_path / "pictures", SCENE[:50])
    Image.fromarray(np.zeros((30, 40), np.uint8)).save(tmp_path / "pictures" / "frame_000045.png")
    ended = run("video", "pictures", "--model", "model.safetensors")
    assert ended.code == 1
    assert "kept in model.safetensors" in ended.err
