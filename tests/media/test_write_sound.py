"""Blocks to sound files: nothing clipped, nothing half-written, stems that still add up."""

import io
import os
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest
import soundfile

from unmingle.media import MediaError, SoundWriter, StemWriter, read_sound
from unmingle.media.write_sound import encode_sound

RATE = 16000


def noise(rng, n=RATE, n_channels=2, peak=0.9):
    samples = rng.uniform(-1, 1, (n, n_channels)).astype(np.float32)
    return samples * np.float32(peak) / np.abs(samples).max()


def song(n=RATE, n_channels=2, rate=RATE):
    t = np.arange(n) / rate
    return np.stack([0.5 * np.sin(2 * np.pi * 300 * (k + 1) * t) for k in range(n_channels)], axis=1).astype(np.float32)


@pytest.mark.parametrize("n_channels", [1, 2, 6, 8])
@pytest.mark.parametrize(("name", "error"), [("a.wav", 0.0), ("a.flac", 2.0**-23)])
def test_lossless_formats_keep_every_sample(tmp_path, rng, name, error, n_channels):
    samples = noise(rng, 70000, n_channels, peak=1.0)
    with SoundWriter(tmp_path / name, 44100, n_channels) as writer:
        for block in np.array_split(samples, [0, 1, 300, 50000]):
            writer.write(block)
        assert os.listdir(tmp_path) == [f".{name}.partial"]
    assert os.listdir(tmp_path) == [name]
    assert writer.n_written == 70000
    found, rate = soundfile.read(tmp_path / name, dtype="float32", always_2d=True)
    assert rate == 44100
    assert np.abs(found - samples).max() <= error


@pytest.mark.parametrize(
    ("name", "rate"), [("a.mp3", 44100), ("a.mp3", RATE), ("a.ogg", 96000), ("a.ogg", 11025), ("a.opus", 48000)]
)
@pytest.mark.parametrize("n_channels", [1, 2])
def test_lossy_formats_keep_length_rate_and_sound(tmp_path, name, rate, n_channels):
    samples = song(3 * rate + 7, n_channels, rate)
    with SoundWriter(tmp_path / name, rate, n_channels) as writer:
        writer.write(samples)
    sound = read_sound(tmp_path / name)
    assert sound.rate == rate
    assert sound.samples.shape == samples.shape
    assert np.mean((sound.samples - samples) ** 2) < 2e-3 * np.mean(samples**2)


def test_wav_holds_any_number(tmp_path, rng):
    samples = noise(rng, peak=70.0)
    with SoundWriter(tmp_path / "a.wav", RATE, 2, gain=0.5) as writer:
        writer.write(samples)
    np.testing.assert_array_equal(read_sound(tmp_path / "a.wav").samples, 0.5 * samples)


@pytest.mark.parametrize("name", ["a.flac", "a.mp3", "a.ogg", "a.opus"])
def test_nothing_is_clipped(tmp_path, name):
    samples = song()
    samples[[3, 5], 0] = -1.25, 1.5
    sentence = (
        r"takes samples from -1 to 1, but 2 of this block go up to 1\.5; give a gain of at most 0\.6667, or write"
    )
    with pytest.raises(MediaError, match=sentence), SoundWriter(tmp_path / name, RATE, 2) as writer:
        writer.write(samples)
    assert os.listdir(tmp_path) == []
    with SoundWriter(tmp_path / name, RATE, 2, gain=0.6) as writer:
        writer.write(samples)
    assert len(read_sound(tmp_path / name).samples) == RATE


@pytest.mark.parametrize(
    ("name", "rate", "n_channels", "sentence"),
    [
        ("a.mp3", 96000, 2, r"\.mp3 can have .* 8000, .* this has 2 channels at 96000 Hz; choose \.ogg or \.flac"),
        ("a.opus", 44100, 1, r"\.opus can have .* this has 1 channel at 44100 Hz; choose \.ogg or \.flac or \.wav"),
        ("a.ogg", RATE, 6, r"\.ogg can have 2 channels .* this has 6 channels at 16000 Hz; choose \.flac or \.wav"),
        ("a.ogg", 384000, 1, r"1000 to 192000 Hz, .*; choose \.flac or \.wav"),
        ("a.flac", RATE, 9, r"\.flac can have 8 channels at most .*; choose \.wav"),
        ("a.flac", 96001, 1, r"tens of hertz up to 655350, .* at 96001 Hz; choose \.wav"),
        ("a.wav", RATE, 2000, r"this has 2000 channels at 16000 Hz; use fewer channels"),
        ("a.m4a", RATE, 1, r"expected a name that ends in one of \.wav, \.flac, \.mp3, \.ogg, \.opus"),
    ],
)  # fmt: skip
def test_formats_say_what_they_cannot_hold(tmp_path, name, rate, n_channels, sentence):
    for opened in (SoundWriter, lambda path, *rest: StemWriter({"voice": path}, *rest)):
        with pytest.raises(MediaError, match=sentence):
            opened(tmp_path / name, rate, n_channels)
    with pytest.raises(MediaError, match=sentence):
        encode_sound(np.zeros((5, n_channels)), rate, name[1:])
    assert os.listdir(tmp_path) == []


def test_blocks_must_fit(tmp_path):
    with SoundWriter(tmp_path / "a.wav", RATE, 2) as writer:
        with pytest.raises(MediaError, match=r"must have the shape \(n, 2\), one column for each channel; got \(5,\)"):
            writer.write(np.zeros(5))
        with pytest.raises(MediaError, match="must be finite numbers; found NaN"):
            writer.write(np.full((5, 2), np.nan))
    assert os.listdir(tmp_path) == []
    with pytest.raises(MediaError, match=r"a\.wav is closed"):
        writer.write(np.zeros((5, 2)))
    with pytest.raises(MediaError, match="does not exist; create it first"):
        SoundWriter(tmp_path / "no" / "a.wav", RATE, 2)
    with pytest.raises(ValueError, match="gain must be a finite number above 0, got 0"):
        SoundWriter(tmp_path / "a.wav", RATE, 2, gain=0)


def test_an_error_leaves_the_older_file(tmp_path):
    (tmp_path / "a.flac").write_text("older")
    with suppress(RuntimeError), SoundWriter(tmp_path / "a.flac", RATE, 2) as writer:
        writer.write(song())
        raise RuntimeError
    assert os.listdir(tmp_path) == ["a.flac"]
    assert (tmp_path / "a.flac").read_text() == "older"


def test_two_writers_of_one_file(tmp_path):
    with SoundWriter(tmp_path / "a.wav", RATE, 2) as writer:
        with pytest.raises(MediaError, match="another run is writing it"):
            SoundWriter(tmp_path / "a.wav", RATE, 2)
        writer.write(song())
    assert len(read_sound(tmp_path / "a.wav").samples) == RATE


LIMITED = """
import resource, signal, sys
import numpy as np
from unmingle.media import MediaError, SoundWriter, StemWriter

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
rng = np.random.default_rng(0)
opened = SoundWriter if sys.argv[2] == "one" else lambda path, *rest: StemWriter({"voice": path}, *rest)
try:
    with opened(sys.argv[1], 48000, 2) as writer:
        for _ in range(int(sys.argv[3])):
            block = rng.uniform(-1, 1, (48000, 2))
            writer.write(block if sys.argv[2] == "one" else {"voice": block})
except MediaError as error:
    print(error, end="")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of file sizes")
@pytest.mark.parametrize("name", ["a.wav", "a.flac", "a.mp3", "a.ogg"])
@pytest.mark.parametrize("how", ["one", "stems"])
def test_a_full_disk_is_told_and_leaves_nothing(tmp_path, name, how):
    command = [sys.executable, "-c", LIMITED, str(tmp_path / name), how, "40"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout == f"{tmp_path / name} cannot be written: file too large; nothing is left of it."
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("suffix", [".mp3", ".flac", ".ogg", ".opus", ".wav"])
def test_sound_as_bytes(suffix):
    samples = song(2 * RATE)
    found, rate = soundfile.read(io.BytesIO(encode_sound(samples, RATE, suffix, gain=0.5)), dtype="float32")
    assert rate == RATE
    assert found.shape == samples.shape
    assert np.mean((found - 0.5 * samples) ** 2) < 1e-3 * np.mean(samples**2)
    assert encode_sound(samples[:, 0], RATE, suffix)


def write_stems(folder, suffix, stems, **options):
    n_channels = next(iter(stems.values())).shape[1]
    with StemWriter({name: folder / f"song.{name}{suffix}" for name in stems}, RATE, n_channels, **options) as writer:
        for start in range(0, RATE, 999):
            writer.write({name: samples[start : start + 999] for name, samples in stems.items()})
    return writer, {name: read_sound(folder / f"song.{name}{suffix}").samples for name in stems}


@pytest.mark.parametrize("suffix", [".wav", ".flac", ".mp3", ".ogg"])
def test_quiet_stems_are_as_they_were(tmp_path, suffix):
    stems = {"voice": song(), "music": 0.3 * song()}
    writer, found = write_stems(tmp_path, suffix, stems)
    assert writer.gain == 1.0
    assert writer.n_written == RATE
    assert sorted(os.listdir(tmp_path)) == [f"song.music{suffix}", f"song.voice{suffix}"]
    for name, samples in stems.items():
        assert np.mean((found[name] - samples) ** 2) < 1e-3 * np.mean(samples**2)


def test_loud_stems_are_scaled_together(tmp_path, rng):
    stems = {"voice": noise(rng, peak=2.5), "music": noise(rng, peak=0.8)}
    writer, found = write_stems(tmp_path, ".flac", stems)
    assert writer.peak == pytest.approx(2.5)
    assert writer.gain == pytest.approx(1 / 2.5, rel=1e-5)
    for name, samples in stems.items():
        np.testing.assert_allclose(found[name], writer.gain * samples, atol=3e-7)
    total = stems["voice"] + stems["music"]
    np.testing.assert_allclose((found["voice"] + found["music"]) / writer.gain, total, atol=1e-6)
    assert max(np.abs(samples).max() for samples in found.values()) == pytest.approx(1.0, abs=1e-5)


def test_loud_stems_of_floats_stay(tmp_path, rng):
    stems = {"voice": noise(rng, peak=2.5), "music": noise(rng, peak=0.8)}
    writer, found = write_stems(tmp_path, ".wav", stems)
    assert writer.gain == 1.0
    np.testing.assert_array_equal(found["voice"], stems["voice"])


@pytest.mark.parametrize("suffix", [".wav", ".flac"])
def test_an_error_leaves_no_stem(tmp_path, suffix):
    paths = {"voice": tmp_path / f"v{suffix}", "music": tmp_path / f"m{suffix}"}
    with suppress(RuntimeError), StemWriter(paths, RATE, 2) as writer:
        writer.write({"voice": song(), "music": song()})
        raise RuntimeError
    assert os.listdir(tmp_path) == []
    paths["music"] = tmp_path / "no" / f"m{suffix}"
    with pytest.raises(MediaError, match="does not exist; create it first"):
        StemWriter(paths, RATE, 2)
    assert os.listdir(tmp_path) == []


def test_stems_must_fit(tmp_path):
    with pytest.raises(MediaError, match="Stems need a file each; got none"):
        StemWriter({}, RATE, 1)
    with pytest.raises(MediaError, match="Stems need a file each"):
        StemWriter({"voice": tmp_path / "a.wav", "music": tmp_path / "a.wav"}, RATE, 1)
    with StemWriter({"voice": tmp_path / "v.flac", "music": tmp_path / "m.flac"}, RATE, 1) as writer:
        with pytest.raises(MediaError, match="A block must have the stems voice, music; got voice"):
            writer.write({"voice": [0.0]})
        with pytest.raises(MediaError, match="equally long; got blocks of 1 and 2 samples"):
            writer.write({"voice": [0.0], "music": [0.0, 0.0]})
    assert os.listdir(tmp_path) == []
    with pytest.raises(MediaError, match="The stems are closed"):
        writer.write({"voice": [0.0], "music": [0.0]})
