"""Frames to files: nothing half-written under a final name, and nothing lost that was complete."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from written import read, scene, write

from unmingle.media import IncompleteError, MediaError, open_frames, open_writer
from unmingle.media import _write_files as write_files
from unmingle.media import _write_video as write_video


def n_readable(path):
    """How many frames can be read of a file that may be cut off."""
    with open_frames(path) as frames:
        try:
            return len(list(frames))
        except IncompleteError as error:
            return error.n_frames


LIMITED = """
import resource, signal, sys
import numpy as np
from unmingle.media import IncompleteError, MediaError, open_writer

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
rng = np.random.default_rng(0)
try:
    with open_writer(sys.argv[1]) as writer:
        for _ in range(int(sys.argv[2])):
            writer.write(rng.integers(0, 256, (120, 160), np.uint8))
except MediaError as error:
    print(error, end="")
"""


def write_limited(path, n):
    """Write noise in a process whose files must stay below 300 000 bytes."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path), str(n)], capture_output=True, text=True, check=True
    )
    assert not done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of file sizes")
@pytest.mark.parametrize("n", [55, 400], ids=["at the end", "on the way"])
@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.npz"])
def test_a_file_that_grows_too_large_keeps_what_is_complete(tmp_path, name, n):
    path = tmp_path / name
    told = write_limited(path, n)
    assert os.listdir(tmp_path) == [name]
    n_kept = n_readable(path)
    assert n_kept >= 3
    kept = "what was complete is" if name == "a.mp4" else f"the first {n_kept} frames are"  # not one whole fragment
    assert told == f"{path} cannot be written: file too large; {kept} kept in {path}."


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of file sizes")
def test_a_failure_leaves_an_older_file_alone(tmp_path):
    (tmp_path / "a.mp4").write_text("older")
    assert write_limited(tmp_path / "a.mp4", 400).endswith(f"is kept in {tmp_path / 'a.partial.mp4'}.")
    assert (tmp_path / "a.mp4").read_text() == "older"


class FullDisk:
    """A file that may have so many bytes."""

    def __init__(self, file, room):
        self.file, self.room = file, room

    def write(self, content):
        room = self.room - self.file.tell()
        if room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self.file.write(memoryview(content)[:room])

    def __getattr__(self, name):
        return getattr(self.file, name)


@pytest.mark.parametrize("room", [0, 10, 20_000, 150_000])
@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
def test_a_full_disk(tmp_path, rng, monkeypatch, name, room):
    class Full(write_video._CarefulFile):
        def __init__(self, path):
            super().__init__(path)
            self._file = FullDisk(self._file, room)

    monkeypatch.setattr(write_video, "_CarefulFile", Full)
    sentence = f"{name} cannot be written: no space left on device"

    def fill():
        with open_writer(tmp_path / name) as writer:
            for _ in range(120):
                writer.write(rng.integers(0, 256, (64, 64), np.uint8))

    with pytest.raises(MediaError, match=sentence) as caught:
        fill()
    kept = f" kept in {tmp_path / name}."
    assert (kept in str(caught.value)) == (os.listdir(tmp_path) == [name])
    assert room < 150_000 or kept in str(caught.value)
    assert os.listdir(tmp_path) in ([], [name])


def test_a_kept_mp4_ends_with_a_whole_fragment(tmp_path, rng, monkeypatch):
    class Full(write_video._CarefulFile):
        def __init__(self, path):
            super().__init__(path)
            self._file = FullDisk(self._file, 300_000)

    monkeypatch.setattr(write_video, "_CarefulFile", Full)
    noise = rng.integers(0, 256, (200, 64, 64), np.uint8)
    with pytest.raises(MediaError, match="no space left on device; the first") as caught:
        write(tmp_path / "a.mp4", noise)
    n = len(read(tmp_path / "a.mp4"))
    assert 40 < n < 200
    assert f"the first {n} frames are kept in" in str(caught.value)
    ends = list(write_video._outer_boxes(tmp_path / "a.mp4"))
    assert ends[-1] == (b"mdat", (tmp_path / "a.mp4").stat().st_size)


def test_a_full_disk_while_images_are_written(tmp_path, monkeypatch):
    real = Path.write_bytes

    def full(path, content):
        if "000004" in path.name:
            real(path, content[:50])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(MediaError, match="cannot be written: no space left on device; the first 3 frames are kept in"):
        write(tmp_path / "images", scene(8))
    assert sorted(os.listdir(tmp_path / "images")) == [f"frame_00000{number}.png" for number in (1, 2, 3)]


def test_a_full_disk_while_arrays_are_compressed(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(write_files, "move_into_place", full)
    sentence = r"a\.npz cannot be written: no space left on device; the first 3 frames are kept in .*a\.partial\.npy\.$"
    with pytest.raises(MediaError, match=sentence):
        write(tmp_path / "a.npz", scene(3))
    assert os.listdir(tmp_path) == ["a.partial.npy"]
    assert np.array_equal(np.load(tmp_path / "a.partial.npy"), scene(3))


@pytest.mark.parametrize(("room", "kept"), [(0, 0), (50, 0), (5000, 1), (7000, 2)])
def test_a_full_disk_while_arrays_are_written(tmp_path, monkeypatch, room, kept):
    (tmp_path / "a.npz").write_text("older")
    writer = open_writer(tmp_path / "a.npz")
    monkeypatch.setattr(writer, "_rows", FullDisk(writer._rows, room))
    with pytest.raises(MediaError, match="cannot be written: no space left on device"), writer:
        list(map(writer.write, scene(4)))
    assert (tmp_path / "a.npz").read_text() == "older"
    assert sorted(os.listdir(tmp_path)) == ["a.npz", "a.partial.npy"][: 1 + bool(kept)]
    if kept:
        assert np.array_equal(np.load(tmp_path / "a.partial.npy"), scene(4)[:kept])


KILLED = """
import os, signal, sys
import numpy as np
from unmingle.media import open_writer

rng = np.random.default_rng(0)
writer = open_writer(sys.argv[1])
for _ in range(200):
    writer.write(rng.integers(0, 256, (64, 64), np.uint8))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
def test_what_was_written_before_a_crash_can_be_read(tmp_path, name):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / name)], check=False)
    assert os.listdir(tmp_path) == [f".{name}.partial"]
    assert n_readable(tmp_path / f".{name}.partial") > 50
