"""The command line: results, sentences and exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import failed

import unmingle
from unmingle.apps.tables import _parts
from unmingle.cli._app import COMMANDS as LINES
from unmingle.cli._shared import console
from unmingle.core.iterate import Progress

COMMANDS = list(LINES)


def test_version(run):
    assert run("--version") == (0, f"unmingle {unmingle.__version__}\n", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_quiet_and_json(run, command):
    ended = run(command, "--help")
    assert ended.code == 0
    assert "--quiet" in ended.out
    assert "--json" in ended.out


def test_help_lists_the_commands_without_loading_numpy():
    code = "import sys, unmingle.cli\ntry: unmingle.cli.main()\nfinally: assert 'numpy' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(command in done.stdout for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_list_says_what_the_help_of_a_command_says_first(run, command):
    """That of `train` tells of all kinds of training."""
    if command != "train":
        assert LINES[command] in " ".join(run(command, "--help").out.split())


def test_a_command_that_is_not_known_is_guessed(run):
    ended = run("decompos")
    assert ended.code == 2
    assert "Did you mean 'decompose'" in ended.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["decompose"],
        ["decompose", "x.csv", "--no-such-option"],
        ["decompose", "x.csv", "--solver", "proximal"],
        ["decompose", "x.csv", "--rank-penalty", "much"],
        ["decompose", "x.csv", "--outlier-penalty", "-1"],
        ["decompose", "x.csv", "--components", "0"],
        ["decompose", "x.csv", "--max-iter", "0"],
        ["decompose", "x.csv", "--tol", "-1"],
        ["decompose", "x.csv", "--top", "-1"],
        ["demo", "--frames", "3"],
        ["demo", "--seed", "-1"],
    ],
)
def test_wrong_usage_exits_with_2(run, arguments):
    ended = run(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("command", [["decompose", "x.npy"], ["demo"]])
def test_unwritable_folder_is_noticed_before_the_work(run, tmp_path, monkeypatch, command):
    monkeypatch.setattr("unmingle.apps.demo.street.decompose", None)
    monkeypatch.setattr("unmingle.apps.tables._parts.decompose", None)
    np.save(tmp_path / "x.npy", np.eye(4))
    (tmp_path / "taken").write_text("a file")
    assert failed(run(*command, "--out", "taken"), "taken is not a folder that can be written to")
    assert failed(run(*command, "--out", "taken/below"), "--out")
    assert (tmp_path / "taken").read_text() == "a file"


class Panic(BaseException):
    """As libraries in Rust raise it."""

    __module__ = "pyo3_runtime"


def raising(error):
    def raise_error(*_, **__):
        raise error

    return raise_error


def test_interrupt_ends_cleanly(run, tmp_path, monkeypatch):
    monkeypatch.setattr(_parts, "decompose", raising(KeyboardInterrupt()))
    np.save(tmp_path / "x.npy", np.eye(4))
    ended = run("decompose", "x.npy")
    assert ended.code == 130
    assert ended.out == ""
    assert ended.err == "Interrupted; incomplete results are not kept.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ValueError("tol is\nodd."), "Error: tol is odd.\n"),
        (MemoryError(), "Error: the data do not fit into memory.\n"),
        (OSError(28, "No space left on device", "disk"), "Error: disk: No space left on device.\n"),
        (ImportError("pip install it"), "Error: pip install it\n"),
    ],
)
def test_known_errors_become_one_sentence(run, tmp_path, monkeypatch, error, sentence):
    monkeypatch.setattr(_parts, "decompose", raising(error))
    np.save(tmp_path / "x.npy", np.eye(4))
    assert run("decompose", "x.npy") == (1, "", sentence)


@pytest.mark.parametrize("error", [ZeroDivisionError("by nothing"), AssertionError(), Panic("a bug in Rust")], ids=repr)
def test_defects_are_one_sentence_too(run, tmp_path, monkeypatch, error):
    monkeypatch.setattr(_parts, "decompose", raising(error))
    np.save(tmp_path / "x.npy", np.eye(4))
    assert failed(run("decompose", "x.npy"), type(error).__name__, str(error), "unmingle --debug COMMAND")
    shown = run("--debug", "decompose", "x.npy")
    assert shown.code == 1
    assert "Traceback" in shown.err
    assert "_separate.py" in shown.err


def test_terminals_are_not_told_what_to_do(run, tmp_path):
    (tmp_path / "x.csv").write_text("a,b\x1b[31m\n1,red\n")
    ended = run("decompose", "x.csv")
    assert ended.code == 1
    assert "\x1b" not in ended.err


def test_progress_is_shown_on_terminals_only(run, tmp_path, planted, monkeypatch):
    np.save(tmp_path / "x.npy", planted.values)
    assert run("decompose", "x.npy").err == ""
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = run("decompose", "x.npy")
    assert "Separating x.npy" in shown.err
    assert "iteration" in shown.err
    assert run("decompose", "x.npy", "--quiet") == (0, "", "")


def test_progress_never_falls_and_ends_full():
    share = console.Share()
    measures = [np.nan, 1.0, 1e-1, 2e-1, 1e-3, 1e-6]
    done = [share(Progress(i, 100, m, 1e-6)) for i, m in enumerate(measures, 1)]
    assert done == sorted(done)
    assert done[1] == 0.02
    assert done[4] == pytest.approx(0.5)
    assert done[-1] == 1.0
    assert console.Share()(Progress(7, 7, 1.0, 0.0)) == 1.0


def test_json_knows_no_infinity(capsys):
    console.print_json({"gap": float("nan"), "sizes": (1, 2.5), "path": Path("x")})
    assert json.loads(capsys.readouterr().out) == {"gap": None, "sizes": [1, 2.5], "path": "x"}
