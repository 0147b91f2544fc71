"""The command line: results, sentences and exit codes."""

import base64
import csv
import io
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from string import ascii_lowercase
from typing import NamedTuple

import numpy as np
import pytest
from command_line import failed
from PIL import Image
from safetensors.numpy import save_file

import unmingle
from unmingle import store
from unmingle.apps import tables
from unmingle.apps.tables import _separate
from unmingle.cli._shared import console
from unmingle.iterate import Progress
from unmingle.synth import low_rank_plus_sparse

COMMANDS = ["demo", "decompose", "fit", "train", "export", "info", "video"]


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


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["decompose"],
        ["decompose", "x.csv", "--no-such-option"],
        ["decompose", "x.csv", "--solver", "magic"],
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


class Planted(NamedTuple):
    """A table of rank 2 with a few wrong and a few missing cells."""

    values: np.ndarray
    truth: np.ndarray
    wrong: dict[tuple[str, str], float]
    missing: list[tuple[int, int]]
    rows: list[str]
    columns: list[str]


@pytest.fixture(scope="module")
def planted():
    rng = np.random.default_rng(3)
    truth = 20.0 + rng.standard_normal((100, 2)) @ rng.standard_normal((2, 26))
    values = truth + 0.05 * rng.standard_normal(truth.shape)
    rows, columns = [f"day {i}" for i in range(1, 101)], [f"sensor [{letter}]" for letter in ascii_lowercase]
    wrong = {}
    for row, column, size in [(4, 17, 9.0), (17, 0, -8.0), (58, 25, 7.0)]:
        values[row, column] += size
        wrong[rows[row], columns[column]] = size
    missing = [(2, 3), (30, 15), (59, 25)]
    for cell in missing:
        values[cell] = np.nan
    return Planted(values, truth, wrong, missing, rows, columns)


def write_csv(path, planted, *, delimiter=",", missing="", names=True):
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow([*(["when"] if names else []), *planted.columns])
        for name, line in zip(planted.rows, planted.values, strict=True):
            cells = [missing if np.isnan(value) else repr(float(value)) for value in line]
            writer.writerow([name, *cells] if names else cells)
    return path


def read_csv(path, delimiter=","):
    with path.open(newline="") as file:
        return list(csv.reader(file, delimiter=delimiter))


def numbers(lines, first_column=1):
    return np.array([line[first_column:] for line in lines[1:]], dtype=float)


@pytest.mark.parametrize("solver", ["proximal", "alternating"])
@pytest.mark.parametrize("missing", ["", "NA", " nan "])
def test_csv_keeps_names_fills_missing_cells_and_adds_up(run, tmp_path, planted, solver, missing):
    table = write_csv(tmp_path / "plant.csv", planted, missing=missing)
    before = table.read_bytes()
    ended = run("decompose", table, "--out", "parts/of it", "--solver", solver)
    assert ended.code == 0, ended.err
    low_rank = read_csv(tmp_path / "parts/of it/plant.low_rank.csv")
    outliers = read_csv(tmp_path / "parts/of it/plant.outliers.csv")
    for lines in (low_rank, outliers):
        assert lines[0] == ["when", *planted.columns]
        assert [line[0] for line in lines[1:]] == planted.rows
    found, odd = numbers(low_rank), numbers(outliers)
    for cell in planted.missing:
        assert odd[cell] == 0.0
        assert abs(found[cell] - planted.truth[cell]) < 0.5
    assert np.nanmax(np.abs(planted.values - found - odd)) < 0.2
    assert table.read_bytes() == before
    assert sorted(path.name for path in (tmp_path / "parts/of it").iterdir()) == [
        "plant.low_rank.csv",
        "plant.outliers.csv",
    ]


def test_planted_outliers_are_listed_by_name(run, tmp_path, planted):
    table = write_csv(tmp_path / "plant.csv", planted)
    ended = run("decompose", table, "--top", "3", "--json")
    assert ended.code == 0
    result = json.loads(ended.out)
    listed = {(cell["row"], cell["column"]): cell for cell in result["strongest_outliers"]}
    assert listed.keys() == planted.wrong.keys()
    for place, size in planted.wrong.items():
        cell = listed[place]
        position = planted.rows.index(place[0]), planted.columns.index(place[1])
        assert cell["deviation"] == pytest.approx(size, abs=0.5)
        assert cell["value"] == planted.values[position]
        assert cell["expected"] == pytest.approx(planted.truth[position], abs=0.5)
    assert (result["rows"], result["columns"]) == (100, 26)
    assert result["missing"] == 3
    assert result["rank"] == 3
    assert result["converged"] is True
    assert 0 <= result["gap"] <= 1e-6
    assert Path(result["written"]["low_rank"]).parent == tmp_path


def test_people_read_the_same_as_machines(run, tmp_path, planted):
    table = write_csv(tmp_path / "plant.csv", planted)
    ended = run("decompose", table, "--top", "3")
    assert ended.code == 0
    for row, column in planted.wrong:
        assert re.search(rf"{re.escape(row)} +{re.escape(column)} ", ended.out)
    assert "converged" in ended.out
    assert ended.out.rstrip().endswith("plant.outliers.csv")


def test_quiet_prints_nothing_but_writes(run, tmp_path, planted):
    table = write_csv(tmp_path / "plant.csv", planted)
    assert run("decompose", table, "--quiet") == (0, "", "")
    assert (tmp_path / "plant.low_rank.csv").exists()


def test_semicolons_stay_semicolons(run, tmp_path, planted):
    table = write_csv(tmp_path / "plant.csv", planted, delimiter=";")
    assert run("decompose", table).code == 0
    assert read_csv(tmp_path / "plant.outliers.csv", ";")[0] == ["when", *planted.columns]


def test_table_without_row_names_names_lines(run, tmp_path, planted):
    table = write_csv(tmp_path / "plant.csv", planted, names=False)
    result = json.loads(run("decompose", table, "--json", "--top", "3").out)
    assert {cell["row"] for cell in result["strongest_outliers"]} == {"line 6", "line 19", "line 60"}
    assert numbers(read_csv(tmp_path / "plant.low_rank.csv"), 0).shape == (100, 26)


def test_nameless_first_column_holds_row_names_even_if_they_are_numbers(run, tmp_path):
    lines = [f"{1000 + i},{i % 3},{i % 5},{i % 2}" for i in range(20)]
    (tmp_path / "indexed.csv").write_text("\n".join([",a,b,c", *lines]))
    result = json.loads(run("decompose", "indexed.csv", "--json").out)
    assert result["columns"] == 3
    assert read_csv(tmp_path / "indexed.low_rank.csv")[1][0] == "1000"


def test_header_of_numbers_is_pointed_out(run, tmp_path):
    (tmp_path / "years.csv").write_text("2001,2002\n1,2\n2,4\n3,6\n")
    ended = run("decompose", "years.csv")
    assert ended.code == 0
    assert ended.err == "Note: the first line was read as column names although they are all numbers.\n"
    assert run("decompose", "years.csv", "--quiet") == (0, "", "")


def test_results_replace_older_ones(run, tmp_path, planted):
    table = write_csv(tmp_path / "plant.csv", planted)
    (tmp_path / "plant.low_rank.csv").write_text("old")
    assert run("decompose", table).code == 0
    assert (tmp_path / "plant.low_rank.csv").read_text().startswith("when,")


def test_standardize_finds_the_small_outlier_among_large_numbers(run, tmp_path, planted):
    units = np.where(np.arange(26) < 13, 1e5, 1.0)
    with (tmp_path / "units.npy").open("wb") as file:
        np.save(file, planted.values * units)
    result = json.loads(run("decompose", "units.npy", "--standardize", "--top", "3", "--json").out)
    listed = {(cell["row"], cell["column"]): cell for cell in result["strongest_outliers"]}
    assert listed.keys() == {("4", "17"), ("17", "0"), ("58", "25")}
    assert listed["17", "0"]["deviation"] == pytest.approx(-8e5, rel=0.1)
    assert listed["58", "25"]["deviation"] == pytest.approx(7.0, rel=0.1)
    plain = run("decompose", "units.npy", "--top", "3", "--json")
    assert plain.err.startswith("Note: some columns vary")
    assert "--standardize gives all columns the same weight.\n" in plain.err
    raw = json.loads(plain.out)
    assert {cell["column"] for cell in raw["strongest_outliers"]}.isdisjoint({"17", "25"})


def test_levels_of_columns_survive_constant_and_missing_ones():
    values = np.array([[1.0, 5.0, np.nan, 0.0], [3.0, 5.0, np.nan, 0.0], [8.0, 5.0, np.nan, 9.0]], dtype=np.float32)
    centre, scale = tables.centre_and_scale(values)
    np.testing.assert_allclose(centre, [3.0, 5.0, 0.0, 0.0])
    np.testing.assert_allclose(scale, [2.0, 1.0, 1.0, 3.0])
    assert centre.dtype == scale.dtype == np.float32
    assert tables.ratio_of_scales(values) == 1.5
    assert tables.ratio_of_scales(np.ones((3, 2))) == 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_npy_in_npy_out(run, tmp_path, planted, dtype):
    np.save(tmp_path / "x.npy", planted.values.astype(dtype))
    assert run("decompose", "x.npy").code == 0
    low_rank, outliers = np.load(tmp_path / "x.low_rank.npy"), np.load(tmp_path / "x.outliers.npy")
    assert low_rank.dtype == outliers.dtype == dtype
    assert np.nanmax(np.abs(planted.values - low_rank - outliers)) < 0.2


def test_integers_are_welcome(run, tmp_path):
    np.save(tmp_path / "x.npy", np.arange(30).reshape(6, 5))
    assert run("decompose", "x.npy").code == 0
    assert np.load(tmp_path / "x.low_rank.npy").dtype == np.float64


@pytest.mark.parametrize("arrays", [["readings"], ["X", "labels"]])
def test_npz_keeps_the_name_of_the_array(run, tmp_path, planted, arrays):
    np.savez(tmp_path / "x.npz", **dict.fromkeys(arrays[1:], np.arange(3)), **{arrays[0]: planted.values})
    assert run("decompose", "x.npz").code == 0
    with np.load(tmp_path / "x.outliers.npz") as archive:
        assert archive.files == arrays[:1]
        assert archive[arrays[0]].shape == planted.values.shape


def test_options_reach_the_solver(run, tmp_path, planted):
    table = write_csv(tmp_path / "plant.csv", planted)
    options = ["--rank-penalty", "2.5", "--outlier-penalty", "0.25", "--components", "1", "--json"]
    result = json.loads(run("decompose", table, *options).out)
    assert (result["rank_penalty"], result["outlier_penalty"]) == (2.5, 0.25)
    assert result["rank"] == 1


def test_pcp_recovers_a_clean_matrix(run, tmp_path):
    made = low_rank_plus_sparse(60, 50, 2, outlier_fraction=0.05, random_state=0)
    np.save(tmp_path / "x.npy", made.X)
    result = json.loads(run("decompose", "x.npy", "--solver", "pcp", "--json").out)
    assert result["converged"] is True
    np.testing.assert_allclose(np.load(result["written"]["low_rank"]), made.low_rank, atol=1e-4)
    np.testing.assert_allclose(np.load(result["written"]["outliers"]), made.outliers, atol=1e-4)


def test_unfinished_work_is_said_in_one_sentence_and_kept(run, tmp_path, planted):
    table = write_csv(tmp_path / "plant.csv", planted)
    ended = run("decompose", table, "--max-iter", "2", "--tol", "1e-12", "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["converged"] is False
    assert ended.err.startswith("Warning: ")
    assert ended.err.count("\n") == 1
    assert "ConvergenceWarning" not in ended.err
    assert (tmp_path / "plant.outliers.csv").exists()


BAD_TABLES = {
    "empty.csv": (b"", ["empty.csv is empty"]),
    "blank.csv": (b"\n \n\n", ["blank.csv is empty"]),
    "late_header.csv": (b"\n  \na,b\n1,x\n", ["line 4", "'b'", "'x'"]),
    "header_only.csv": (b"a,b,c\n", ["no rows"]),
    "ragged.csv": (b"a,b,c\n1,2,3\n4,5\n", ["line 3", "expected 3 cells", "got 2"]),
    "one_column.csv": (b"a\n1\n2\n", ["at least 2", "got 1"]),
    "names_only.csv": (b"name\nx\ny\n", ["at least 2", "got 0"]),
    "names_and_one.csv": (b"name,a\nx,1\ny,2\n", ["at least 2", "got 1"]),
    "text.csv": (b"name,a,colour\nx,1,red\n", ["line 2", "'colour'", "'red'"]),
    "comma.csv": (b'a;b\n"1,5";2\n3;"4,5"\n', ["'b'", "'4,5'"]),
    "infinite.csv": (b"name,a,b\nx,1,2\ny,3,-inf\n", ["infinite", "row 'y'", "column 'b'"]),
    "all_missing.csv": (b"a,b\n,NA\nnan,\n", ["missing"]),
    "latin.csv": ("a,b\n1,2\né,3\n".encode("latin-1"), ["UTF-8"]),
    "quote.csv": (b'a,b\n1,"2' + b"x" * 200_000, ["line"]),
    "garbage.npy": (b"no array at all", ["damaged or holds Python objects"]),
    "short.npy": (b"\x93NUMPY\x01\x00", ["damaged"]),
    "garbage.npz": (b"no archive at all", ["damaged or holds Python objects"]),
    "table.xlsx": (b"PK", ["none of .csv, .npy and .npz"]),
    "plain": (b"1 2", ["none of .csv, .npy and .npz"]),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_files_get_one_sentence(run, tmp_path, name):
    content, words = BAD_TABLES[name]
    (tmp_path / name).write_bytes(content)
    assert failed(run("decompose", name), name if name != "all_missing.csv" else "", *words)
    assert [path.name for path in tmp_path.iterdir()] == [name]


BAD_ARRAYS = {
    "objects.npy": (np.array([[1, None]], dtype=object), ["Python objects"]),
    "cube.npy": (np.zeros((2, 3, 4)), ["(2, 3, 4)", "2 dimensions"]),
    "list.npy": (np.zeros(3), ["(3,)", "2 dimensions"]),
    "words.npy": (np.array([["a", "b"]]), ["type <U1", "real numbers"]),
    "complex.npy": (np.ones((3, 3), dtype=complex), ["complex128", "real numbers"]),
    "infinite.npy": (np.array([[1.0, 2.0], [np.inf, 3.0]]), ["infinite", "row '1'", "column '0'"]),
    "missing.npy": (np.full((3, 3), np.nan), ["missing"]),
    "column.npy": (np.ones((3, 1)), ["at least 2"]),
    "no_rows.npy": (np.ones((0, 3)), ["no rows"]),
}


@pytest.mark.parametrize("name", BAD_ARRAYS)
def test_bad_arrays_get_one_sentence(run, tmp_path, name):
    array, words = BAD_ARRAYS[name]
    np.save(tmp_path / name, array, allow_pickle=True)
    assert failed(run("decompose", name), *words)


def test_bad_archives_get_one_sentence(run, tmp_path):
    np.savez(tmp_path / "two.npz", a=np.ones((2, 2)), b=np.ones((2, 2)))
    assert failed(run("decompose", "two.npz"), "one named X", "a, b")
    np.savez(tmp_path / "objects.npz", X=np.array([[None, 1]], dtype=object))
    assert failed(run("decompose", "objects.npz"), "Python objects")
    np.savez(tmp_path / "none.npz")
    assert failed(run("decompose", "none.npz"), "got none")
    np.savez(tmp_path / "whole.npz", X=np.ones((50, 50)))
    content = bytearray((tmp_path / "whole.npz").read_bytes())
    content[len(content) // 2] ^= 255
    (tmp_path / "bent.npz").write_bytes(content)
    assert failed(run("decompose", "bent.npz"), "damaged")


def test_missing_files_and_folders_get_one_sentence(run, tmp_path):
    assert failed(run("decompose", "nowhere.csv"), "nowhere.csv does not exist")
    (tmp_path / "folder.csv").mkdir()
    assert failed(run("decompose", "folder.csv"), "is not a file")


@pytest.mark.parametrize("command", [["decompose", "x.npy"], ["demo"]])
def test_unwritable_folder_is_noticed_before_the_work(run, tmp_path, monkeypatch, command):
    monkeypatch.setattr("unmingle.apps.demo._demo.decompose", None)
    monkeypatch.setattr("unmingle.apps.tables._separate.decompose", None)
    np.save(tmp_path / "x.npy", np.eye(4))
    (tmp_path / "taken").write_text("a file")
    assert failed(run(*command, "--out", "taken"), "taken is no folder to write to")
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
    monkeypatch.setattr(_separate, "decompose", raising(KeyboardInterrupt()))
    np.save(tmp_path / "x.npy", np.eye(4))
    ended = run("decompose", "x.npy")
    assert ended.code == 130
    assert ended.out == ""
    assert ended.err == "Interrupted; results that were not complete are not kept.\n"
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
    monkeypatch.setattr(_separate, "decompose", raising(error))
    np.save(tmp_path / "x.npy", np.eye(4))
    assert run("decompose", "x.npy") == (1, "", sentence)


@pytest.mark.parametrize("error", [ZeroDivisionError("by nothing"), AssertionError(), Panic("a bug in Rust")], ids=repr)
def test_defects_are_one_sentence_too(run, tmp_path, monkeypatch, error):
    monkeypatch.setattr(_separate, "decompose", raising(error))
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


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    made = low_rank_plus_sparse(40, 20, 2, noise=0.05, random_state=0)
    path = tmp_path_factory.mktemp("models") / "model.safetensors"
    unmingle.RobustPCA(n_components=4).fit(made.X).save(path)
    return path


def test_info_tells_what_a_model_holds(run, model_file):
    header = store.peek(model_file)
    told = json.loads(run("info", model_file, "--json").out)
    assert told["kind"] == header.kind == "RobustPCA"
    assert told["version"] == header.version
    assert told["parameters"] == header.parameters
    assert told["arrays"]["components_"] == {
        "shape": list(header.arrays["components_"].shape),
        "dtype": header.arrays["components_"].dtype,
    }
    for_people = run("info", model_file).out
    assert all(word in for_people for word in ["RobustPCA", "components_", "float64", *header.parameters])
    assert run("info", model_file, "--quiet") == (0, "", "")


def test_info_refuses_other_files(run, tmp_path, model_file):
    assert failed(run("info", "nowhere.safetensors"), "does not exist")
    assert failed(run("info", tmp_path), "not a file")
    (tmp_path / "garbage.safetensors").write_bytes(b"garbage")
    assert failed(run("info", "garbage.safetensors"), "damaged or not a .safetensors file")
    save_file({"x": np.ones(3)}, tmp_path / "foreign.safetensors")
    assert failed(run("info", "foreign.safetensors"), "not written by unmingle")
    (tmp_path / "half.safetensors").write_bytes(model_file.read_bytes()[:-8])
    assert failed(run("info", "half.safetensors"), "damaged")


def test_the_same_table_gives_the_same_files(run, planted, tmp_path):
    write_csv(tmp_path / "table.csv", planted)
    parts = {}
    for name, options in {"one": [], "two": [], "other": ["--seed", "1"]}.items():
        assert run("decompose", "table.csv", "--out", name, "--rank-penalty", "0.1", *options).code == 0
        parts[name] = Path(name, "table.low_rank.csv").read_bytes()
    assert parts["one"] == parts["two"] != parts["other"]


def test_the_same_demo_gives_the_same_figures(run):
    figures = [json.loads(run("demo", "--frames", "20", "--json").out) for _ in range(2)]
    for found in figures:
        for way in found["ways"]:
            del way["seconds"]
    assert figures[0] == figures[1]


class Sources(HTMLParser):
    """Collects what a page loads, and checks that its elements are closed in order."""

    EMPTY = frozenset({"img", "meta", "source"})

    def __init__(self):
        super().__init__()
        self.loaded, self.open, self.elements = [], [], []

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.loaded += [value for name, value in attrs if name in ("src", "srcset", "href")]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def demo_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "new folder"
    code = "from unmingle.cli import main; main()"
    command = [sys.executable, "-c", code, "demo", "--out", str(folder), "--seed", "1", "--frames", "60", "--json"]
    return folder, subprocess.run(command, capture_output=True, text=True, check=False)


def test_demo_beats_the_baselines_and_meets_the_truth(demo_run):
    folder, done = demo_run
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    ours, pca, median, truth = (way["f"] for way in result["ways"])
    assert ours > 0.85
    assert ours > pca + 0.05
    assert ours > median + 0.02
    assert abs(ours - truth) < 0.02
    assert 3 <= result["rank"] <= 5
    assert result["converged"] is True
    assert result["report"] == str(folder / "report.html")


def test_demo_report_is_complete_and_self_contained(demo_run):
    folder, _ = demo_run
    text = (folder / "report.html").read_text(encoding="utf-8")
    page = Sources()
    page.feed(text)
    assert page.open == []
    written = re.sub(r"base64,[A-Za-z0-9+/=]*", "", text)  # a picture may spell anything
    assert "http" not in written
    assert "url(" not in written
    assert all(source.startswith("data:image/") for source in page.loaded)
    assert page.elements.count("svg") == 2
    assert page.elements.count("img") == 1 + 5 * 5
    assert "unmingle demo --seed 1 --frames 60" in text
    pictures = [Image.open(io.BytesIO(base64.b64decode(source.partition(",")[2]))) for source in page.loaded]
    assert sorted({picture.format for picture in pictures}) == ["PNG", "WEBP"]
    assert [picture.n_frames for picture in pictures if picture.format == "WEBP"] == [60]
    assert sum(picture.size == (160, 120) for picture in pictures) == 25
    with Image.open(folder / "film_strip.png") as strip:
        assert strip.size == (5 * 160 + 4 * 3, 5 * 120 + 4 * 3)


def test_demo_prints_a_table_and_the_path_last(run, tmp_path):
    ended = run("demo", "--frames", "20")
    assert ended.code == 0
    for words in ("robust PCA", "plain PCA", "median over time", "F-measure", "rank", "relative gap", "iterations"):
        assert words in ended.out
    assert ended.out.splitlines()[-1] == f"report: {Path('unmingle-demo') / 'report.html'}"
    assert (tmp_path / "unmingle-demo" / "report.html").exists()
