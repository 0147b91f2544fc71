"""What can be reproduced is known by name before anything heavy is imported."""

import subprocess
import sys
from importlib import import_module
from inspect import signature

import pytest

from unmingle import reproduce
from unmingle.reproduce import EXPERIMENTS, DataMissing, data_folder


def test_names_are_known_without_numpy():
    code = "import sys; from unmingle.reproduce import EXPERIMENTS; print(*EXPERIMENTS, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [*EXPERIMENTS, "False"]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_the_functions_that_are_called(name):
    experiment = EXPERIMENTS[name]
    home = import_module(f"{reproduce.__name__}.{experiment.home}")
    called = [*signature(experiment.run).parameters]
    assert [*signature(home.run).parameters] == called
    assert len(signature(home.tables).parameters) == 1


def test_the_given_folder_comes_before_that_of_the_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("UNMINGLE_DATA", str(tmp_path))
    assert data_folder(None) == tmp_path
    (tmp_path / "other").mkdir()
    assert data_folder(tmp_path / "other") == tmp_path / "other"
    with pytest.raises(DataMissing, match="nowhere is not a folder"):
        data_folder(tmp_path / "nowhere")
    monkeypatch.setenv("UNMINGLE_DATA", "")
    with pytest.raises(DataMissing, match="No data"):
        data_folder(None)
