import os
import signal
from pathlib import Path

import numpy as np
import pytest
from command_line import Ended
from hypothesis import settings

from unmingle.cli._app import app

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


@pytest.fixture
def rng():
    return np.random.default_rng(20120930)


@pytest.fixture(scope="session")
def data_dir():
    """The folder of real data sets named by UNMINGLE_DATA."""
    folder = os.environ.get("UNMINGLE_DATA")
    if not folder:
        pytest.skip("UNMINGLE_DATA is not set: no real data sets")
    if not Path(folder).is_dir():
        pytest.skip(f"UNMINGLE_DATA={folder} is not a folder: no real data sets")
    return Path(folder)


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run the command in an empty folder and return how it ended."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    def run_command(*arguments):
        with pytest.raises(SystemExit) as end:
            app([str(argument) for argument in arguments])
        return Ended(end.value.code, *capsys.readouterr())

    return run_command


@pytest.fixture
def heeding_interrupts():
    """SIGINT raises KeyboardInterrupt, even if these tests run in the background of a script, where it is ignored."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)
