"""`unmingle audio`: files and folders to stems, whatever is in them, and live."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from command_line import failed
from films import POSIX
from sounds import RATE, stem, tones, untrained, write_sound

from unmingle.apps import audio as app
from unmingle.apps.audio import settings
from unmingle.apps.audio.methods import METHODS, as_method
from unmingle.media import StemWriter

MODEL = ["--model", "net.safetensors"]


@pytest.fixture
def song(tmp_path):
    """A song, and a quick network to separate it."""
    untrained().encoder.save(tmp_path / "net.safetensors")
    return write_sound(tmp_path / "song.wav", tones(3.0, channels=2))


def files(folder="stems"):
    return sorted(os.listdir(folder))


def test_a_song_becomes_two_files(run, song):
    ended = run("audio", "song.wav", "-o", "stems", *MODEL)
    assert (ended.code, ended.err) == (0, "")
    assert files() == ["song.music.flac", "song.voice.flac"]
    both = stem("stems/song.voice.flac") + stem("stems/song.music.flac")
    assert np.abs(both - stem("song.wav")).max() < 1e-6
    assert "0:03.0 of stereo sound at 16000 Hz" in ended.out
    assert "encoder: a small network" in ended.out
    assert "voice: stems/song.voice.flac" in ended.out.replace("\\", "/")


def test_the_default_method_needs_no_model(run, tmp_path):
    write_sound(tmp_path / "song.wav", np.random.default_rng(0).uniform(-0.3, 0.3, (RATE // 2, 1)))
    ended = run("audio", "song.wav", "-o", "stems", "--json")
    assert ended.code == 0
    (told,) = json.loads(ended.out)["songs"]
    assert (told["method"], told["seconds"], told["complete"]) == ("voice", 0.5, True)


def test_options_reach_the_method(run, song):
    wanted = ["--format", "wav", "--stems", "music", "--high-pass", "3000", "--json"]
    ended = run("audio", "song.wav", "-o", "stems", *MODEL, *wanted)
    (told,) = json.loads(ended.out)["songs"]
    assert told["high_pass"] == 3000.0
    assert told["voice_share"] < 1e-4  # all tones are lower
    assert files() == ["song.music.wav"]
    ended = run("audio", "song.wav", "-o", "stems", *MODEL, "--high-pass", "none", "--json")
    assert json.loads(ended.out)["songs"][0]["high_pass"] is None


def test_a_folder_with_bad_files_is_finished_and_they_are_told_at_the_end(run, song, tmp_path):
    (tmp_path / "song.wav").unlink()
    album = tmp_path / "album"
    album.mkdir()
    for name in ("a", "b", "c", "d"):
        write_sound(album / f"{name}.wav", tones(1.0))
    (album / "a.wav").write_bytes(b"no sound at all")
    (album / "c.wav").write_bytes((album / "c.wav").read_bytes()[:40_000])
    ended = run("audio", "album", "missing.wav", "-o", "stems", *MODEL, "--json")
    assert ended.code == 1
    sentences = ended.err.splitlines()
    assert len(sentences) == 3
    assert sentences[0].startswith("Error: a.wav ")
    assert "c.wav is cut off or damaged: 0.6" in sentences[1]
    assert sentences[2] == "Error: missing.wav does not exist; check its name."
    told = json.loads(ended.out)
    assert [song["complete"] for song in told["songs"]] == [True, False, True]
    assert len(told["failures"]) == 3
    assert files() == [f"{name}.{part}.flac" for name in "bcd" for part in ("music", "voice")]


def test_songs_of_one_name(run, song, tmp_path):
    write_sound(tmp_path / "song.flac", tones(1.0), coding="PCM_24")
    assert run("audio", "song.wav", "song.flac", "-o", "stems", *MODEL, "--stems", "voice", "--quiet") == (0, "", "")
    assert files() == ["song.flac.voice.flac", "song.wav.voice.flac"]
    (tmp_path / "other").mkdir()
    write_sound(tmp_path / "other" / "song.wav", tones(1.0))
    assert failed(run("audio", "song.wav", "other", "-o", "new", *MODEL), "would both be written to")
    assert files("new") == []


def test_a_report_for_each_song(run, song):
    ended = run("audio", "song.wav", "-o", "stems", *MODEL, "--report")
    assert ended.code == 0
    assert files() == ["song.html", "song.music.flac", "song.voice.flac"]
    with open("stems/song.html", encoding="utf-8") as page:
        assert page.read().count("<audio controls") == 3
    assert "report: stems/song.html" in ended.out.replace("\\", "/")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "expected sound files or folders"),
        (["song.wav"], "expected -o DIR"),
        (["song.wav", "-o", "stems", "--stems", "drums"], "expected voice, music or voice,music"),
        (["song.wav", "-o", "stems", "--format", "m4a"], "'m4a' is not one of"),
        (["song.wav", "-o", "stems", "--method", "magic"], "'magic' is not one of"),
        (["song.wav", "-o", "stems", "--method", "nmf", *MODEL], "--model replaces --method"),
        (["song.wav", "-o", "stems", "--high-pass", "-3"], "expected hertz of at least 0"),
        (["song.wav", "-o", "stems", "--low-latency"], "--low-latency can be used with --live only"),
        (["song.wav", "--live"], "--live does not go with IN"),
        (["--live", "--from", "song.wav", "--input", "1"], "leave out --input and --output"),
    ],
)
def test_options_that_make_no_sense_are_told(run, song, arguments, words):
    ended = run("audio", *arguments)
    assert ended.code == 2
    assert words in " ".join(ended.err.replace("│", " ").split())
    assert not os.path.exists("stems")


def test_a_network_of_something_else_is_refused(run, song):
    from unmingle import Encoder

    Encoder.from_components(np.ones((1, 6)), rank_penalty=0.1, outlier_penalty=0.1, n_layers=1).save("six.safetensors")
    assert failed(
        run("audio", "song.wav", "-o", "stems", "--model", "six.safetensors"), "must have 513 features", "has 6"
    )


def test_names_are_those_of_the_library():
    assert [as_method(name).label for name in settings.NAMES] == list(settings.NAMES)
    assert {*settings.NAMES, "encoder", "network"} == {*settings.SHIPPED, *METHODS}
    for kind in settings.FORMATS:
        StemWriter({"voice": f"a.{kind}"}, 48000, 2).__exit__(ValueError, ValueError(), None)


def test_help_shows_how(run):
    ended = run("audio", "--help")
    assert "unmingle audio song.mp3 -o stems --report" in ended.out


LONG = """
import signal, sys
from unmingle.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv[1:] = ["audio", "a.wav", "long.wav", "-o", "stems", "--model", "net.safetensors", "--json"]
main()
"""


@POSIX
@pytest.mark.parametrize(
    ("number", "code", "verb"),
    [(signal.SIGINT, 130, "Interrupted"), (signal.SIGTERM, 143, "Terminated")],
    ids=["Ctrl-C", "SIGTERM"],
)
def test_an_interrupt_keeps_what_is_finished_and_nothing_else(song, tmp_path, number, code, verb):
    write_sound(tmp_path / "a.wav", tones(1.0))
    write_sound(tmp_path / "long.wav", tones(1200.0))
    process = subprocess.Popen([sys.executable, "-c", LONG], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "stems" / ".long.voice.flac.samples").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    _, err = process.communicate()
    assert process.returncode == code
    assert err == f"{verb}; 1 of 2 songs are finished and kept; the others are not.\n"
    assert files(tmp_path / "stems") == ["a.music.flac", "a.voice.flac"]


def test_live_from_a_file_tells_how_long_hops_take(run, song):
    ended = run("audio", "--live", "--from", "song.wav", *MODEL, "--low-latency", "--json")
    assert ended.code == 0
    told = json.loads(ended.out)
    assert told["latency_ms"] == 64.0
    assert told["hops"] == 3 * RATE // 256 + 4
    assert 0 < told["hop_ms"]["p50"] <= told["hop_ms"]["p99"] <= told["hop_ms"]["max"]
    assert told["hop_ms"]["length"] == 16.0
    assert files(".") == ["net.safetensors", "song.wav"]


def test_live_refuses_what_cannot_stream(run, song):
    assert failed(run("audio", "--live", "--from", "song.wav", "--method", "pcp"), "'pcp'", "cannot stream")


LIVE = """
import sys
from unmingle.cli import main
sys.argv[1:] = ["audio", "--live", "--from", "long.wav", "--model", "net.safetensors"]
main()
"""


@POSIX
def test_live_ends_with_a_summary_after_an_interrupt(song, tmp_path):
    write_sound(tmp_path / "long.wav", tones(60.0))
    process = subprocess.Popen(
        [sys.executable, "-c", LIVE], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert "Getting ready" in process.stderr.readline()
    assert "Playing" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert "deadline misses" in out
    assert "underruns" in out


def test_devices_without_a_sound_card(run, monkeypatch):
    from unmingle.apps.audio import sound_devices

    class Library:
        query_devices = staticmethod(list)

    monkeypatch.setattr(sound_devices, "require", lambda module, extra: Library)
    assert run("audio", "--devices") == (0, "no devices for sound\n", "")


def test_a_passage_without_voice_is_learnt_from(run, song):
    ended = run("audio", "song.wav", "-o", "stems", "--no-voice", "0-1.5", "--json")
    (told,) = json.loads(ended.out)["songs"]
    assert told["method"] == "adapt"
    np.testing.assert_allclose(
        stem("stems/song.voice.flac"),
        app.split(stem("song.wav"), RATE, method="adapt", no_voice=(0.0, 1.5)).voice,
        atol=1e-5,
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--no-voice", "soon"], "two numbers of seconds, such as 0-12.5"),
        (["--no-voice", "2-99"], "within the 3.00 s of the song"),
        (["--no-voice", "0-1", "--method", "pcp"], "cannot learn from a passage without voice; use 'adapt'"),
    ],
)
def test_passages_that_cannot_be_learnt_from_are_told(run, song, options, told):
    ended = run("audio", "song.wav", "-o", "stems", *options)
    assert ended.code in (1, 2)
    assert told in " ".join(ended.err.replace("│", " ").split())
