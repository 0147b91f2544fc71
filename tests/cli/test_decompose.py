"""The command line: results, sentences and exit codes."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from command_line import failed


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


@pytest.mark.parametrize("components", [[], ["--components", "3"]], ids=["any number", "three"])
@pytest.mark.parametrize("missing", ["", "NA", " nan "])
def test_csv_keeps_names_fills_missing_cells_and_adds_up(run, tmp_path, planted, components, missing):
    table = write_csv(tmp_path / "plant.csv", planted, missing=missing)
    before = table.read_bytes()
    ended = run("decompose", table, "--parts", "--out", "parts/of it", *components)
    assert ended.code == 0, ended.err
    low_rank = read_csv(tmp_path / "parts/of it/plant.low_rank.csv")
    outliers = read_csv(tmp_path / "parts/of it/plant.sparse.csv")
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
        "plant.cleaned.csv",
        "plant.low_rank.csv",
        "plant.outliers.csv",
        "plant.sparse.csv",
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
    assert 0 <= result["gap"] <= 1e-4
    assert Path(result["written"]["cleaned"]).parent == tmp_path


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
    assert (tmp_path / "plant.cleaned.csv").exists()


def test_semicolons_stay_semicolons(run, tmp_path, planted):
    table = write_csv(tmp_path / "plant.csv", planted, delimiter=";")
    assert run("decompose", table).code == 0
    assert read_csv(tmp_path / "plant.cleaned.csv", ";")[0] == ["when", *planted.columns]
    assert read_csv(tmp_path / "plant.outliers.csv", ";")[0] == ["row", "column", "value", "expected", "significance"]


def test_table_without_row_names_names_lines(run, tmp_path, planted):
    table = write_csv(tmp_path / "plant.csv", planted, names=False)
    result = json.loads(run("decompose", table, "--json", "--parts", "--top", "3").out)
    assert {cell["row"] for cell in result["strongest_outliers"]} == {"line 6", "line 19", "line 60"}
    assert numbers(read_csv(tmp_path / "plant.low_rank.csv"), 0).shape == (100, 26)


def test_nameless_first_column_holds_row_names_even_if_they_are_numbers(run, tmp_path):
    lines = [f"{1000 + i},{i % 3},{i % 5},{i % 2}" for i in range(20)]
    (tmp_path / "indexed.csv").write_text("\n".join([",a,b,c", *lines]))
    result = json.loads(run("decompose", "indexed.csv", "--json").out)
    assert result["columns"] == 3
    assert read_csv(tmp_path / "indexed.cleaned.csv")[1][0] == "1000"


def test_header_of_numbers_is_pointed_out(run, tmp_path):
    (tmp_path / "years.csv").write_text("2001,2002\n1,2\n2,4\n3,6\n")
    ended = run("decompose", "years.csv")
    assert ended.code == 0
    assert ended.err == (
        "Note: The first line is all numbers, but was read as column names; --no-header reads it as data.\n"
    )
    assert run("decompose", "years.csv", "--quiet") == (0, "", "")


def test_results_replace_older_ones(run, tmp_path, planted):
    table = write_csv(tmp_path / "plant.csv", planted)
    (tmp_path / "plant.cleaned.csv").write_text("old")
    assert run("decompose", table).code == 0
    assert (tmp_path / "plant.cleaned.csv").read_text().startswith("when,")


def test_small_outliers_are_found_among_large_numbers(run, tmp_path, planted):
    units = np.where(np.arange(26) < 13, 1e5, 1.0)
    with (tmp_path / "units.npy").open("wb") as file:
        np.save(file, planted.values * units)
    result = json.loads(run("decompose", "units.npy", "--top", "3", "--json").out)
    listed = {(cell["row"], cell["column"]): cell for cell in result["strongest_outliers"]}
    assert listed.keys() == {("4", "17"), ("17", "0"), ("58", "25")}
    assert listed["17", "0"]["deviation"] == pytest.approx(-8e5, rel=0.1)
    assert listed["58", "25"]["deviation"] == pytest.approx(7.0, rel=0.1)
    assert result["flagged"] >= 3
    raw = json.loads(run("decompose", "units.npy", "--scale", "none", "--json").out)
    assert raw["rank_penalty"] > 50 * result["rank_penalty"]  # in other units
    shrunk = json.loads(run("decompose", "units.npy", "--no-debias", "--top", "3", "--json").out)
    assert shrunk["objective"] == result["objective"]
    assert shrunk["typical_deviation"] != result["typical_deviation"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_npy_in_npy_out(run, tmp_path, planted, dtype):
    np.save(tmp_path / "x.npy", planted.values.astype(dtype))
    assert run("decompose", "x.npy", "--parts").code == 0
    low_rank, outliers = np.load(tmp_path / "x.low_rank.npy"), np.load(tmp_path / "x.sparse.npy")
    assert low_rank.dtype == outliers.dtype == dtype
    assert np.nanmax(np.abs(planted.values - low_rank - outliers)) < 0.2


def test_integers_are_welcome(run, tmp_path):
    np.save(tmp_path / "x.npy", np.arange(30).reshape(6, 5))
    assert run("decompose", "x.npy", "--parts").code == 0
    assert np.load(tmp_path / "x.low_rank.npy").dtype == np.float64
    assert np.load(tmp_path / "x.cleaned.npy").dtype == np.int64


@pytest.mark.parametrize("arrays", [["readings"], ["X", "labels"]])
def test_npz_keeps_the_name_of_the_array(run, tmp_path, planted, arrays):
    np.savez(tmp_path / "x.npz", **dict.fromkeys(arrays[1:], np.arange(3)), **{arrays[0]: planted.values})
    assert run("decompose", "x.npz").code == 0
    with np.load(tmp_path / "x.cleaned.npz") as archive:
        assert archive.files == arrays[:1]
        assert archive[arrays[0]].shape == planted.values.shape


def test_options_reach_the_solver(run, tmp_path, planted):
    table = write_csv(tmp_path / "plant.csv", planted)
    options = ["--rank-penalty", "2.5", "--outlier-penalty", "0.25", "--components", "1", "--json"]
    result = json.loads(run("decompose", table, *options).out)
    assert (result["rank_penalty"], result["outlier_penalty"]) == (2.5, 0.25)
    assert result["rank"] == 1


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
    "late_header.csv": (b"\n  \na,b\n1,x\n", ["too few columns", "'b' is set aside"]),
    "header_only.csv": (b"a,b,c\n", ["no rows"]),
    "ragged.csv": (b"a,b,c\n1,2,3\n4,5\n", ["line 3", "expected 3 cells", "got 2"]),
    "one_column.csv": (b"a\n1\n2\n", ["at least 2", "got 1"]),
    "names_only.csv": (b"name\nx\ny\n", ["at least 2", "got 0"]),
    "names_and_one.csv": (b"name,a\nx,1\ny,2\n", ["at least 2", "got 1"]),
    "text.csv": (b"name,a,colour\nx,1,red\n", ["at least 2", "got 1", "'name', 'colour' are set aside"]),
    "infinite.csv": (b"name,a,b\nx,1,2\ny,3,-inf\n", ["infinite", "row 'y'", "column 'b'"]),
    "all_missing.csv": (b"a,b\n,NA\nnan,\n", ["missing"]),
    "quote.csv": (b'a,b\n1,"2' + b"x" * 200_000, ["line"]),
    "garbage.npy": (b"no array at all", ["damaged or holds Python objects"]),
    "short.npy": (b"\x93NUMPY\x01\x00", ["damaged"]),
    "garbage.npz": (b"no archive at all", ["damaged or holds Python objects"]),
    "table.xlsx": (b"PK", ["damaged or no Excel file"]),
    "plain": (b"1 2", ["none of .csv, .tsv, .txt"]),
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


def test_the_same_table_gives_the_same_files(run, planted, tmp_path):
    write_csv(tmp_path / "table.csv", planted)
    parts = {}
    for name, options in {"one": [], "two": [], "other": ["--seed", "1"]}.items():
        assert run("decompose", "table.csv", "--parts", "--out", name, "--rank-penalty", "0.1", *options).code == 0
        parts[name] = Path(name, "table.low_rank.csv").read_bytes()
    assert parts["one"] == parts["two"] != parts["other"]
