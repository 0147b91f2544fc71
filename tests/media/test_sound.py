"""Sound files to blocks: what was written comes back, in blocks of bounded size; what cannot be read is told."""

import subprocess
import sys
import wave

import av
import numpy as np
import pytest
import soundfile

from unmingle.media import IncompleteError, MediaError, SoundWriter, open_sound, read_sound
from unmingle.media.sounds import sound_paths

RATE = 16000


def tones(n=3 * RATE, n_channels=2, rate=RATE):
    """Soft tones, another in each channel."""
    t = np.arange(n) / rate
    return np.stack([0.3 * np.sin(2 * np.pi * 200 * (k + 1) * t) for k in range(n_channels)], axis=1, dtype=np.float32)


def write_by_pyav(path, samples, rate=RATE, codec="aac", *, picture=False, options=None):
    """Sound as a film has it, by another library than that of `SoundWriter`."""
    layout = "mono" if samples.shape[1] == 1 else "stereo"
    with av.open(path, "w", options=options or {}) as container:
        stream = container.add_stream(codec, rate=rate, layout=layout)
        if picture:
            film = container.add_stream("libx264", rate=25)
            film.height, film.width, film.pix_fmt = 32, 32, "yuv420p"
            black = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), format="rgb24")
            container.mux([*film.encode(black), *film.encode(None)])
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples.T), format="fltp", layout=layout)
        frame.rate, frame.pts = rate, 0
        converted = av.AudioResampler(
            format=stream.format, layout=layout, rate=rate, frame_size=stream.frame_size or 1024
        )
        for piece in [*converted.resample(frame), *converted.resample(None)]:
            container.mux(stream.encode(piece))
        container.mux(stream.encode(None))


def cut(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])


def read_until_error(path):
    came = []
    with open_sound(path) as source, pytest.raises(MediaError) as error:
        came.extend(source)
    return np.concatenate(came) if came else np.zeros((0, 0)), error.value


def refused(path):
    with pytest.raises(MediaError) as error, open_sound(path) as source:
        list(source)
    return str(error.value)


@pytest.mark.parametrize("n_channels", [1, 2, 6])
@pytest.mark.parametrize(
    ("name", "coding"), [("a.wav", "PCM_16"), ("a.wav", "FLOAT"), ("a.flac", "PCM_16"), ("a.aiff", "PCM_24")]
)
def test_lossless_files_come_back(tmp_path, name, coding, n_channels):
    samples = tones(70000, n_channels)
    soundfile.write(tmp_path / name, samples, RATE, coding)
    with open_sound(tmp_path / name) as source:
        assert (source.rate, source.n_channels, source.n_samples) == (RATE, n_channels, 70000)
        blocks = list(source)
    assert len(blocks) > 1 or n_channels == 1
    assert all(block.dtype == np.float32 and block.size <= 2**17 + 8 for block in blocks)
    np.testing.assert_allclose(np.concatenate(blocks), samples, atol=2.0**-15)


def test_a_wav_of_another_hand_is_read_alike(tmp_path, rng):
    stored = rng.integers(-(2**15), 2**15, (500, 2), dtype=np.int16)
    with wave.open(str(tmp_path / "a.wav"), "wb") as file:
        file.setparams((2, 2, 44100, 0, "NONE", ""))
        file.writeframes(stored.astype("<i2").tobytes())
    sound = read_sound(tmp_path / "a.wav")
    assert sound.rate == 44100
    np.testing.assert_array_equal(sound.samples, stored / np.float32(2**15))


@pytest.mark.parametrize(
    ("name", "codec", "rate"),
    [
        ("a.m4a", "aac", RATE),
        ("a.mp4", "aac", 44100),
        ("a.webm", "libopus", 48000),
        ("a.mkv", "flac", 44100),
        ("a.mp3", "libmp3lame", 44100),
        ("a.opus", "libopus", 48000),
    ],
)
def test_sound_of_films_and_lossy_files(tmp_path, name, codec, rate):
    samples = tones(2 * rate, rate=rate)
    write_by_pyav(tmp_path / name, samples, rate, codec, picture=name in ("a.mp4", "a.mkv"))
    with open_sound(tmp_path / name) as source:
        assert (source.rate, source.n_channels) == (rate, 2)
        assert source.n_samples is None or abs(source.n_samples - len(samples)) < 0.05 * rate
        found = np.concatenate(list(source))
    assert abs(len(found) - len(samples)) < 0.05 * rate
    middle = slice(rate // 2, rate)
    np.testing.assert_allclose(found[middle], samples[middle], atol=0.03)


def test_a_wrong_suffix_does_not_matter(tmp_path):
    soundfile.write(tmp_path / "a.flac", tones(), RATE)
    (tmp_path / "a.flac").rename(tmp_path / "a.mp3")
    assert len(read_sound(tmp_path / "a.mp3").samples) == 3 * RATE
    write_by_pyav(tmp_path / "b.m4a", tones())
    (tmp_path / "b.m4a").rename(tmp_path / "b.wav")
    assert abs(len(read_sound(tmp_path / "b.wav").samples) - 3 * RATE) < 2100


@pytest.mark.parametrize(
    ("name", "rate", "n"), [("a.wav", 8000, 1), ("a.flac", 96000, 1), ("a.mp3", 48000, 1), ("a.ogg", 8000, 1)]
)
def test_single_samples(tmp_path, name, rate, n):
    with SoundWriter(tmp_path / name, rate, 1) as writer:
        writer.write([0.25])
    sound = read_sound(tmp_path / name)
    assert sound.rate == rate
    assert sound.samples.shape == (1, 1)


def test_what_is_missing_or_empty(tmp_path):
    assert refused(tmp_path / "no.wav") == f"{tmp_path / 'no.wav'} does not exist; check its name."
    assert refused(tmp_path) == f"{tmp_path} is a folder; expected a sound file such as .wav."
    (tmp_path / "a.mp3").touch()
    assert refused(tmp_path / "a.mp3") == "a.mp3 is empty: it has 0 bytes."
    soundfile.write(tmp_path / "b.wav", np.zeros((0, 2)), RATE)
    assert refused(tmp_path / "b.wav") == "b.wav contains no samples; expected a sound with at least one sample."


@pytest.mark.parametrize("name", ["a.wav", "a.flac", "a.ogg", "a.mp3", "a.m4a", "a.txt", "a.raw", "a"])
@pytest.mark.parametrize("content", ["text", "noise"])
def test_text_and_noise_are_no_sound(tmp_path, name, content, rng):
    (tmp_path / name).write_bytes(b"Call me Ishmael. " * 300 if content == "text" else rng.bytes(50000))
    assert refused(tmp_path / name).startswith((f"{name} is not a sound file", f"{name} contains "))


def test_a_film_without_sound(tmp_path):
    with av.open(tmp_path / "a.mp4", "w") as container:
        film = container.add_stream("libx264", rate=25)
        film.height, film.width, film.pix_fmt = 32, 32, "yuv420p"
        frame = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), format="rgb24")
        container.mux([*film.encode(frame), *film.encode(None)])
    assert (
        refused(tmp_path / "a.mp4")
        == "a.mp4 contains pictures but no sound; expected a sound file such as .wav or .mp3."
    )


@pytest.mark.parametrize("name", ["a.wav", "a.flac", "a.mp3"])
def test_a_file_that_is_cut_off_gives_what_is_there(tmp_path, name, capfd):
    samples = tones(20 * RATE)
    with SoundWriter(tmp_path / name, RATE, 2) as writer:
        writer.write(samples)
    whole = read_sound(tmp_path / name).samples
    assert len(whole) == len(samples)
    cut(tmp_path / name, 0.6)
    came, error = read_until_error(tmp_path / name)
    assert isinstance(error, IncompleteError)
    assert error.n_frames == len(came)
    assert str(error) == f"{name} is cut off or damaged: {len(came) / RATE:.2f} of 20.00 seconds could be read."
    assert 0.3 * len(whole) < len(came) < 0.7 * len(whole)
    np.testing.assert_allclose(came[: len(came) // 2], whole[: len(came) // 2], atol=1e-5)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", ["a.ogg", "a.opus"])
def test_cut_pages_give_what_is_there(tmp_path, name):
    """Ogg does not state its length."""
    with SoundWriter(tmp_path / name, RATE, 2) as writer:
        writer.write(tones(20 * RATE))
    cut(tmp_path / name, 0.6)
    assert 0.3 * 20 * RATE < len(read_sound(tmp_path / name).samples) < 0.7 * 20 * RATE


def test_a_film_that_is_cut_off(tmp_path):
    write_by_pyav(tmp_path / "a.m4a", tones(20 * RATE), options={"movflags": "faststart"})
    write_by_pyav(tmp_path / "b.m4a", tones(20 * RATE))
    for name in ("a.m4a", "b.m4a"):
        cut(tmp_path / name, 0.6)
    came, error = read_until_error(tmp_path / "a.m4a")
    assert isinstance(error, IncompleteError)
    assert 5 * RATE < len(came) == error.n_frames < 15 * RATE
    assert "is damaged or incomplete" in refused(tmp_path / "b.m4a")


def test_nobody_cries_wolf(tmp_path):
    """A variable rate whose length is guessed, and a length that the writer could not know."""
    quiet, loud = np.zeros((10 * RATE, 2), np.float32), tones(10 * RATE)
    with SoundWriter(tmp_path / "a.mp3", RATE, 2) as writer:
        writer.write(np.concatenate([quiet, loud]))
    content = (tmp_path / "a.mp3").read_bytes()
    second = content.index(content[:2], 4)  # the first frame only states the length
    assert b"Xing" in content[:second]
    (tmp_path / "a.mp3").write_bytes(content[second:])
    assert abs(len(read_sound(tmp_path / "a.mp3").samples) - 20 * RATE) < 3000
    soundfile.write(tmp_path / "b.wav", tones(), RATE, "PCM_16")
    content = bytearray((tmp_path / "b.wav").read_bytes())
    place = content.index(b"data") + 4
    content[place : place + 4] = content[4:8] = b"\xff\xff\xff\xff"
    (tmp_path / "b.wav").write_bytes(content)
    assert read_sound(tmp_path / "b.wav").samples.shape == (3 * RATE, 2)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_is_told_with_its_time(tmp_path, bad):
    samples = tones(5 * 2**16)
    samples[4 * 2**16 + 10, 1] = bad
    soundfile.write(tmp_path / "a.wav", samples, RATE, "FLOAT")
    came, error = read_until_error(tmp_path / "a.wav")
    assert 0 < len(came) < 4 * 2**16 + 10
    seconds = (4 * 2**16 + 10) / RATE
    assert (
        str(error)
        == f"a.wav contains NaN or infinity, first at {seconds:.3f} seconds; expected numbers: make it 0 there."
    )


def test_a_closed_source_gives_nothing(tmp_path):
    soundfile.write(tmp_path / "a.wav", tones(), RATE)
    source = open_sound(tmp_path / "a.wav")
    source.close()
    assert list(source) == []


def test_sound_of_a_folder_in_the_order_of_numbers(tmp_path):
    for name in ("b10.wav", "b9.MP3", "a.flac", "notes.txt", ".hidden.wav"):
        (tmp_path / name).touch()
    (tmp_path / "folder.wav").mkdir()
    assert [path.name for path in sound_paths(tmp_path)] == ["a.flac", "b9.MP3", "b10.wav"]
    with pytest.raises(MediaError, match=r"contains no sound; expected files such as \.wav"):
        sound_paths(tmp_path / "folder.wav")


MEMORY = """
import resource, sys
from unmingle.media import open_sound
with open_sound(sys.argv[1]) as source:
    n = len(next(source))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    n += sum(len(block) for block in source)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, n)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no measure of memory")
@pytest.mark.parametrize("name", ["a.wav", "a.mp3"])
def test_memory_does_not_grow_with_the_length(tmp_path, name):
    n = 2**16
    with SoundWriter(tmp_path / name, 48000, 2) as writer:
        for _ in range(80):
            writer.write(tones(n, rate=48000))
    done = subprocess.run([sys.executable, "-c", MEMORY, tmp_path / name], capture_output=True, text=True, check=True)
    grown, length = map(int, done.stdout.split())
    assert length == 80 * n
    assert grown * 1024 < 0.25 * 80 * n * 8  # a quarter of the samples
