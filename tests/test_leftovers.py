"""What a killed run leaves behind goes with the next one; what another run is writing stays."""

import os
import subprocess
import sys

import numpy as np
import pytest

from unmingle import _atomic_files, store
from unmingle._atomic_files import hold
from unmingle.media import MediaError, open_writer

FRAME = np.full((16, 16), 80, np.uint8)
KILLED = """
import os, signal, sys
from unmingle import store
from unmingle.media import open_writer
import numpy as np
os.chdir(sys.argv[1])
with store.write_atomically("model.safetensors") as temporary:
    for name in ("film.mp4", "film.npz", "film"):
        open_writer(name).write(np.zeros((16, 16), np.uint8))
    open("film/.frame_000002.png.partial", "w").close()
    os.kill(os.getpid(), signal.SIGKILL)
"""

pytestmark = pytest.mark.skipif(_atomic_files.locks is None, reason="needs locks of files")


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """As in a process that has not written yet."""
    monkeypatch.setattr(_atomic_files, "_swept", set())


@pytest.fixture
def killed(tmp_path):
    """A folder in which a run was killed."""
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == -9, done.stderr
    (temporary,) = tmp_path.glob(".unmingle-*.safetensors")
    left = {".film.mp4.partial", ".film.npz.partial", ".film.npz.rows", "film", temporary.name}
    assert set(os.listdir(tmp_path)) == left
    return tmp_path


def test_the_next_run_of_the_same_command_leaves_only_its_results(killed):
    store.write(killed / "model.safetensors", "Thing", {}, {})
    for name in ("film.mp4", "film.npz"):
        with open_writer(killed / name) as writer:
            writer.write(FRAME)
    assert set(os.listdir(killed)) == {"model.safetensors", "film", "film.mp4", "film.npz"}


def test_a_folder_with_nothing_but_what_was_left_is_empty(killed):
    (killed / "film" / "frame_000001.png").unlink()
    with open_writer(killed / "film") as writer:
        writer.write(FRAME)
    assert os.listdir(killed / "film") == ["frame_000001.png"]


def test_a_folder_with_pictures_is_not_taken_for_left_behind(killed):
    with pytest.raises(MediaError, match="is not empty"):
        open_writer(killed / "film")
    assert os.listdir(killed / "film") == ["frame_000001.png"]


def test_files_of_a_run_that_goes_on_stay(tmp_path):
    held, own = tmp_path / ".unmingle-0123456789abcdef.csv", tmp_path / ".unmingle-notes"
    own.touch()
    other = hold(held)
    store.write(tmp_path / "model.safetensors", "Thing", {}, {})
    assert held.exists()
    other.release()
    _atomic_files._swept.clear()
    store.write(tmp_path / "model.safetensors", "Thing", {}, {})
    assert set(os.listdir(tmp_path)) == {own.name, "model.safetensors"}


@pytest.mark.parametrize("name", ["film.mp4", "film.npz", "film"])
def test_two_runs_do_not_write_one_film(tmp_path, name):
    with open_writer(tmp_path / name) as writer:
        writer.write(FRAME)
        with pytest.raises(MediaError, match=f"{name} cannot be written: another run is writing it"):
            open_writer(tmp_path / name)
        writer.write(FRAME)
    assert writer.n_written == 2
    assert os.listdir(tmp_path) == [name]
    again = tmp_path / f"new-{name}"
    with open_writer(again) as writer:
        writer.write(FRAME)
    assert again.exists()


def test_a_file_that_is_removed_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    path, lock = tmp_path / "temporary", _atomic_files._lock

    def removed_first(descriptor):
        monkeypatch.setattr(_atomic_files, "_lock", lock)
        path.unlink()
        return lock(descriptor)

    monkeypatch.setattr(_atomic_files, "_lock", removed_first)
    held = hold(path)
    assert path.exists()
    with pytest.raises(BlockingIOError):
        hold(path)
    held.release()
    hold(path).release()


def test_without_locks_nothing_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(_atomic_files, "locks", None)
    left = tmp_path / ".unmingle-0123456789abcdef.csv"
    left.touch()
    store.write(tmp_path / "model.safetensors", "Thing", {}, {})
    assert set(os.listdir(tmp_path)) == {left.name, "model.safetensors"}
