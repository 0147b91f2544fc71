"""`unmingle decompose --nonnegative`: counts with spikes, and what is refused."""

import csv
import json

import numpy as np
import pytest
from command_line import failed

SPIKES = {("day 5", "shop 7"): 900.0, ("day 40", "shop 0"): 700.0, ("day 77", "shop 19"): 800.0}


@pytest.fixture
def counts(tmp_path):
    """A file of counts, two habits in twenty shops, with three spikes and a missing cell; and what it holds."""
    rng = np.random.default_rng(0)
    mean = rng.gamma(2.0, 20.0, (100, 2)) @ rng.gamma(1.0, 1.0, (2, 20))
    values = rng.poisson(mean).astype(float)
    for (row, column), size in SPIKES.items():
        values[int(row[4:]), int(column[5:])] += size
    with (tmp_path / "counts.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["when", *(f"shop {j}" for j in range(20))])
        for i, line in enumerate(values):
            writer.writerow([f"day {i}", *("" if (i, j) == (9, 3) else int(x) for j, x in enumerate(line))])
    return values, mean


def numbers(path):
    with path.open(newline="") as file:
        return np.array([line[1:] for line in csv.reader(file)][1:], dtype=float)


@pytest.mark.parametrize("options", [[], ["--components", "2"], ["--scale", "none"]])
def test_spikes_are_listed_by_name_and_the_files_hold_nonnegative_parts(run, tmp_path, counts, options):
    wanted = ["--nonnegative", "--out", "parts", "--parts", "--top", "3", "--json", *options]
    ended = run("decompose", "counts.csv", *wanted)
    assert ended.code == 0, ended.err
    told = json.loads(ended.out)
    listed = {(cell["row"], cell["column"]): cell["deviation"] for cell in told["strongest_outliers"]}
    assert listed.keys() == SPIKES.keys()
    assert all(listed[place] == pytest.approx(size, rel=0.25) for place, size in SPIKES.items())
    assert (told["rank"], told["missing"], told["converged"]) == (2, 1, True)
    assert told["stationarity"] <= 1e-4
    assert told["gap"] <= 1e-9
    low_rank, outliers = (numbers(tmp_path / f"parts/counts.{part}.csv") for part in ("low_rank", "sparse"))
    assert min(low_rank.min(), outliers.min()) >= 0
    assert outliers[9, 3] == 0
    assert low_rank[9, 3] == pytest.approx(counts[1][9, 3], rel=0.3)
    assert np.linalg.norm(low_rank - counts[1]) < 0.15 * np.linalg.norm(counts[1])


def test_people_are_told_how_stationary_it_is(run, counts):
    ended = run("decompose", "counts.csv", "--nonnegative", "--components", "2")
    assert ended.code == 0
    assert all(word in ended.out for word in ["stationarity", "relative gap", "converged", "shop 19"])
    assert "stationarity" not in run("decompose", "counts.csv").out


def test_unfinished_work_is_said_in_one_sentence(run, counts):
    ended = run("decompose", "counts.csv", "--nonnegative", "--max-iter", "2", "--tol", "1e-12", "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["converged"] is False
    assert ended.err.startswith("Warning: Stopped after 2 iterations at a stationarity of ")
    assert ended.err.count("\n") == 1


def test_a_negative_cell_is_named(run, tmp_path):
    (tmp_path / "debts.csv").write_text("name,a,b\nx,1,2\ny,,-3.5\nz,-1,2\n")
    assert failed(run("decompose", "debts.csv", "--nonnegative"), "debts.csv holds -3.5 in row 'y', column 'b'", "NaN")
    np.save(tmp_path / "x.npy", np.array([[1.0, 2.0], [np.nan, -1.0]]))
    assert failed(run("decompose", "x.npy", "--nonnegative"), "holds -1 in row '1', column '1'")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["debts.csv", "x.npy"]


def test_help_tells_of_it(run):
    assert "--nonnegative" in run("decompose", "--help").out
