"""Which compiled code a process uses: each case in processes of their own, with a copy of the package."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import unmingle

VALUE = """
import sys
import numpy as np
from unmingle.kernels.matrix import huber_sums
X, none = np.full((1, 1), 3.0), np.zeros((1, 1))
print("value", huber_sums(X, none, none, np.ones(1), np.empty((1, 1)))[0])
"""
"""Prints s (3 - s / 2), with s = clip(3, -1, 1)."""


@pytest.fixture
def copy(tmp_path):
    package = tmp_path / "site" / "unmingle"
    shutil.copytree(Path(unmingle.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__", "models"))
    return package


def value(copy, **environment):
    """The value as a new process finds it, and whether that process had compiled code to load."""
    environment = {
        **{name: text for name, text in os.environ.items() if name != "NUMBA_CACHE_DIR"},
        "PYTHONPATH": str(copy.parent),
        "NUMBA_DEBUG_CACHE": "1",
        **{name: str(path) for name, path in environment.items()},
    }
    done = subprocess.run([sys.executable, "-c", VALUE], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    found = next(line for line in lines if line.startswith("value"))
    return float(found.split()[1]), any("data loaded" in line for line in lines)


def edit(path, before, after):
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def test_changed_piece_is_compiled_again(copy):
    """`huber_sums` stands in another file than `clip`, which it inlines."""
    assert value(copy) == (2.5, False)
    assert value(copy) == (2.5, True)
    kept = copy / "kernels" / "__pycache__"
    (before,) = kept.glob("unmingle-kernels-*")
    (kept / "old-1.py311.nbi").touch()
    edit(copy / "kernels" / "small.py", "x if x < bound else bound", "x if x < bound + bound else bound + bound")
    assert value(copy) == (4.0, False)
    assert value(copy) == (4.0, True)
    (after,) = kept.glob("unmingle-kernels-*")
    assert after != before
    assert not list(kept.glob("*.nb?"))


def test_package_that_cannot_be_written_to(copy, tmp_path):
    (copy / "kernels" / "__pycache__").write_text("no folder")
    home = tmp_path / "home"
    assert value(copy, XDG_CACHE_HOME=home, HOME=home) == (2.5, False)
    assert value(copy, XDG_CACHE_HOME=home, HOME=home) == (2.5, True)
    assert list(home.rglob("unmingle-kernels-*/*.nbc"))


def test_chosen_folder(copy, tmp_path):
    chosen = tmp_path / "chosen"
    assert value(copy, NUMBA_CACHE_DIR=chosen) == (2.5, False)
    assert value(copy, NUMBA_CACHE_DIR=chosen) == (2.5, True)
    assert not list(copy.rglob("*.nbc"))


def test_nowhere_to_write(copy, tmp_path):
    (copy / "kernels" / "__pycache__").write_text("no folder")
    (tmp_path / "home").write_text("no folder either")
    for _ in range(2):
        assert value(copy, XDG_CACHE_HOME=tmp_path / "home", HOME=tmp_path / "home") == (2.5, False)
