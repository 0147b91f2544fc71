"""Sound files to stems: any length, rate and number of channels, and nothing half-written."""

import os
import subprocess
import sys

import numpy as np
import pytest
import soundfile
from sounds import RATE, Upper, UpperOfPassages, stem, tones, write_sound

from unmingle import synth
from unmingle.apps.audio import Outputs, Settings, separate, split
from unmingle.media import IncompleteError, MediaError


def separated(song, folder, suffix=".wav", *, method=None, progress=None, **outputs):
    """One song to files."""
    (found,) = separate(
        song, Outputs(folder, suffix.removeprefix("."), **outputs), Settings(method), progress=progress
    ).songs
    return found


@pytest.fixture
def song(tmp_path):
    made = synth.song(4.0, random_state=0)
    return write_sound(tmp_path / "song.wav", np.stack([made.mixture, 0.5 * made.mixture + 0.1 * made.voice], axis=1))


@pytest.mark.parametrize("method", [Upper(), UpperOfPassages(), "pcp"], ids=["stream", "passages", "pcp"])
def test_files_hold_what_separate_finds_in_memory(tmp_path, song, method):
    found = separated(song, tmp_path, method=method)
    expected = split(stem(song).astype(np.float32), RATE, method=method)
    for name, path in found.written.items():
        assert np.abs(stem(path) - getattr(expected, name)).max() < 1e-6
        assert soundfile.info(path).samplerate == RATE
    share = np.sum(expected.voice**2) / (np.sum(expected.voice**2) + np.sum(expected.music**2))
    assert found.voice_share == pytest.approx(share, rel=1e-5)
    assert (found.seconds, found.channels, found.gain, found.incomplete) == (4.0, 2, 1.0, None)


@pytest.mark.parametrize(
    ("n", "rate", "channels"),
    [(1, RATE, 1), (7, RATE, 2), (24000, 8000, 1), (50000, 96000, 2), (20000, 44100, 6), (9000, 11025, 1)],
)
@pytest.mark.parametrize(("suffix", "error"), [(".wav", 1e-6), (".flac", 2.0**-22)])
def test_stems_add_up_whatever_the_sound(tmp_path, n, rate, channels, suffix, error):
    samples = tones(n / rate, rate, channels)
    song = write_sound(tmp_path / "song.wav", samples, rate)
    for method in (Upper(), UpperOfPassages()):
        found = separated(song, tmp_path, suffix, method=method)
        voice, music = (stem(path) for path in found.written.values())
        assert voice.shape == samples.shape
        assert np.abs(voice + music - samples).max() <= error


def test_silence_is_music_and_stays_silent(tmp_path):
    song = write_sound(tmp_path / "song.wav", np.zeros((RATE, 2)))
    found = separated(song, tmp_path, ".flac")
    assert found.voice_share == 0.0
    assert not stem(found.written["voice"]).any()
    assert not stem(found.written["music"]).any()


@pytest.mark.parametrize("suffix", [".flac", ".ogg", ".mp3"])
def test_loud_stems_are_scaled_together_never_clipped(tmp_path, suffix):
    samples = tones(3.0, peak=6.0)
    found = separated(write_sound(tmp_path / "song.wav", samples), tmp_path, suffix, method=Upper())
    voice, music = (stem(path) for path in found.written.values())
    assert 0 < found.gain < 0.7
    precision = 1e-6 if suffix == ".flac" else 0.05
    assert np.abs(voice + music - found.gain * samples).max() < precision
    if suffix == ".flac":
        assert max(np.abs(voice).max(), np.abs(music).max()) == pytest.approx(1.0, abs=1e-5)


def test_one_stem_alone(tmp_path, song):
    both = separated(song, tmp_path, method=Upper())
    alone = separated(song, tmp_path / "alone", method=Upper(), stems=("voice",))
    assert np.array_equal(stem(alone.written["voice"]), stem(both.written["voice"]))
    assert alone.voice_share == both.voice_share
    assert sorted(os.listdir(tmp_path)) == ["alone", "song.music.wav", "song.voice.wav", "song.wav"]
    assert os.listdir(tmp_path / "alone") == ["song.voice.wav"]


def test_a_file_that_is_cut_off_gives_what_could_be_read(tmp_path):
    samples = tones(3.0)
    song = write_sound(tmp_path / "song.wav", samples)
    song.write_bytes(song.read_bytes()[: 4 * 2 * RATE])
    found = separated(song, tmp_path, method=Upper())
    assert isinstance(found.incomplete, IncompleteError)
    assert "2.00 of 3.00 seconds" in str(found.incomplete) or "1.99" in str(found.incomplete)
    voice, music = (stem(path) for path in found.written.values())
    assert len(voice) == found.n_samples == found.incomplete.n_frames
    assert np.abs(voice + music - samples[: len(voice)]).max() < 1e-6


def spoilt(samples):
    samples[2000] = np.nan
    return samples


@pytest.mark.parametrize(
    ("samples", "rate", "words"),
    [
        (spoilt(tones(1.0)), RATE, "song.wav contains NaN or infinity, first at 0.125 seconds"),
        (tones(1.0, 1000), 1000, "song.wav cannot be separated: rate must be 2000 to 768000"),
        (np.zeros((100, 70)), RATE, "song.wav has 70 channels; expected at most 64"),
    ],
    ids=["nan", "rate", "channels"],
)
def test_what_cannot_be_separated_is_told_and_nothing_is_left(tmp_path, samples, rate, words):
    song = write_sound(tmp_path / "song.wav", samples, rate)
    with pytest.raises(MediaError, match=words):
        separated(song, tmp_path, method=Upper())
    assert os.listdir(tmp_path) == ["song.wav"]


def test_stems_that_make_no_sense(tmp_path, song):
    for stems in ((), ("drums",), ("voice", "voice")):
        with pytest.raises(ValueError, match="stems must be 'voice', 'music' or both"):
            Outputs(tmp_path, stems=stems)
    with pytest.raises(ValueError, match="format must be one of 'flac', 'wav'"):
        Outputs(tmp_path, "m4a")
    with pytest.raises(ValueError, match="A report needs a folder"):
        Outputs(report=True)
    with pytest.raises(MediaError, match=r"6 channels at 16000 Hz; choose \.flac or \.wav"):
        separated(write_sound(tmp_path / "six.wav", tones(1.0, channels=6)), tmp_path, ".mp3")


def test_an_interrupt_leaves_no_half_file(tmp_path):
    song = write_sound(tmp_path / "song.wav", tones(30.0))

    def interrupt(progress):
        if progress.done > 10 * RATE:
            raise KeyboardInterrupt

    for suffix in (".wav", ".flac"):
        with pytest.raises(KeyboardInterrupt):
            separated(song, tmp_path, suffix, method=Upper(), progress=interrupt)
        assert os.listdir(tmp_path) == ["song.wav"]


def test_progress_tells_samples_and_may_end_the_song(tmp_path):
    song = write_sound(tmp_path / "song.wav", tones(30.0))
    told = []
    separated(song, tmp_path, method=Upper(), progress=told.append)
    assert [progress.done for progress in told] == sorted(progress.done for progress in told)
    assert (told[0].done, told[0].source, told[0].number, told[0].n_songs) == (0, song, 1, 1)
    assert (told[-1].done, told[-1].total) == (30 * RATE, 30 * RATE)
    found = separated(song, tmp_path, method=Upper(), progress=lambda progress: True)
    assert found.n_samples == told[1].done < 30 * RATE


def test_a_method_begins_anew_with_each_song(tmp_path, song):
    class Counting(Upper):
        def __init__(self):
            self.songs = 0

        def start(self):
            self.songs += 1

    method = Counting()
    separated(song, tmp_path, method=method)
    separated(song, tmp_path, method=method)
    assert method.songs == 2


def test_the_excerpt_is_where_the_voice_is_strongest(tmp_path):
    samples = tones(100.0)
    samples[: 60 * RATE], samples[81 * RATE :] = 0.2 * samples[: 60 * RATE], 0.2 * samples[81 * RATE :]
    found = separated(write_sound(tmp_path / "song.wav", samples), tmp_path, method=Upper(), report=True)
    excerpt = found.excerpt
    assert 60 <= excerpt.start <= 61
    assert (excerpt.seconds, excerpt.whole) == (20.0, False)
    place = slice(round(excerpt.start * RATE), round(excerpt.start * RATE) + 20 * RATE)
    assert np.array_equal(excerpt.voice, stem(found.written["voice"])[place].astype(np.float32))
    assert np.array_equal(excerpt.music, stem(found.written["music"])[place].astype(np.float32))


@pytest.mark.parametrize("n", [1, 5, 3 * RATE + 7])
def test_a_short_song_is_its_own_excerpt(tmp_path, n):
    samples = tones(n / RATE, channels=2)
    found = separated(write_sound(tmp_path / "song.wav", samples), tmp_path, method=Upper(), report=True)
    assert (found.excerpt.start, found.excerpt.whole) == (0.0, True)
    assert np.abs(found.excerpt.voice + found.excerpt.music - samples).max() < 1e-6


MEASURED = """
import resource, sys
import numpy as np
from sounds import Upper, UpperOfPassages
from unmingle.apps.audio import Outputs, Settings, separate
from unmingle.media import SoundWriter

for seconds in (70, 420):
    with SoundWriter("song.flac", 16000, 2) as writer:
        for i in range(seconds):
            writer.write(np.random.default_rng(i).uniform(-0.5, 0.5, (16000, 2)).astype(np.float32))
    method = Upper() if sys.argv[1] == "stream" else UpperOfPassages()
    separate("song.flac", Outputs(".", report=len(sys.argv) > 2), Settings(method))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peaks are in kilobytes on Linux only")
@pytest.mark.parametrize("way", ["stream", "passages"])
def test_memory_does_not_grow_with_the_length(tmp_path, way):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", MEASURED, way]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    short, long = map(int, done.stdout.split())
    assert long < short + 12_000  # six minutes more are 45 MB of samples, and as much again for each stem
