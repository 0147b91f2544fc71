"""`unmingle fit`: models of files, whatever their size and wherever the work is done."""

import json

import numpy as np
import pandas as pd
import pytest
import zarr
from command_line import failed

import unmingle
from unmingle.apps import fitting
from unmingle.metrics import subspace_angle
from unmingle.synth import low_rank_plus_sparse

MADE = low_rank_plus_sparse(600, 30, 2, noise=0.05, random_state=0)
BASIS = np.linalg.svd(MADE.low_rank)[2][:2]


@pytest.fixture
def data(tmp_path):
    """The same samples in every format."""
    np.save(tmp_path / "rows.npy", MADE.X)
    np.savez(tmp_path / "rows.npz", X=MADE.X)
    header = ",".join(f"sensor {k}" for k in range(30))
    np.savetxt(tmp_path / "rows.csv", MADE.X, delimiter=",", header=header, comments="", fmt="%.17g")
    zarr.create_array(tmp_path / "rows.zarr", shape=(600, 30), chunks=(90, 30), dtype="f8")[:] = MADE.X
    return tmp_path


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".zarr"])
def test_every_format_gives_the_model_of_the_estimator(run, data, suffix):
    ended = run("fit", f"rows{suffix}", "--out", "model.safetensors", "--json")
    assert ended.code == 0, ended.err
    model = unmingle.load(data / "model.safetensors")
    expected = unmingle.OnlineRobustPCA(random_state=0).fit(MADE.X)
    assert np.allclose(model.components_, expected.components_, atol=1e-9)
    told = json.loads(ended.out)
    assert (told["samples"], told["features"], told["components"]) == (600, 30, model.n_components_)
    assert told["noise_level"] == pytest.approx(model.noise_level_)
    assert told["model"] == "model.safetensors"


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_a_table_is_learnt_as_a_whole_with_the_names_of_its_columns(run, data, name):
    frame = pd.read_csv(data / "rows.csv")
    frame.to_parquet(data / "rows.parquet")
    ended = run("fit", name, "-o", "model.safetensors", "--components", "2", "--json")
    assert ended.code == 0, ended.err
    model = unmingle.load(data / "model.safetensors")
    expected = unmingle.RobustPCA(2, scale="columns", debias=True, random_state=0).fit(frame)
    assert np.allclose(model.components_, expected.components_, atol=1e-9)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    told = json.loads(ended.out)
    assert (told["samples"], told["features"], told["components"], told["aside"]) == (600, 30, 2, {})
    assert run("fit", name, "--checkpoint", "work.safetensors").code == 2
    assert failed(run("fit", name, "--nonnegative"), "need numbers of at least 0")


def test_the_model_lies_beside_the_data_by_default(run, data):
    ended = run("fit", "rows.npy", "--components", "2", "--forgetting", "0.98")
    assert ended.code == 0
    assert "600 of 30 features" in ended.out
    assert ended.out.splitlines()[-1] == "model: rows.safetensors"
    model = unmingle.load(data / "rows.safetensors")
    assert (model.n_components, model.forgetting) == (2, 0.98)
    assert run("fit", "rows.npy", "--quiet") == (0, "", "")


def test_a_cluster_of_processes(run, data):
    ended = run("fit", "rows.zarr", "--workers", "2", "--json", "--tol", "1e-5")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["samples"] == 600
    assert subspace_angle(unmingle.load(data / "rows.safetensors").components_, BASIS) < 1


def test_a_running_scheduler(run, data):
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster:
        ended = run(
            "fit", "rows.zarr", "--scheduler", cluster.scheduler_address, "--passes", "1", "--tol", "1e-12", "--json"
        )
    assert ended.code == 0, ended.err
    assert ended.err.startswith("Warning: Stopped after 1 passes")
    assert json.loads(ended.out)["components"] == 2


def test_checkpoint_is_resumed(run, data, monkeypatch):
    learn = fitting.learn_rows

    def interrupted(model, rows, outputs, progress):
        def advance_or_stop(progress):
            if progress.done > 300:
                raise KeyboardInterrupt

        return learn(model, rows, outputs, advance_or_stop)

    monkeypatch.setattr(fitting, "learn_rows", interrupted)
    ended = run("fit", "rows.npy", "--checkpoint", "work.safetensors", "--every", "100")
    assert ended.code == 130
    assert "the same command goes on from work.safetensors" in ended.err
    assert unmingle.load(data / "work.safetensors").n_samples_seen_ == 400
    monkeypatch.setattr(fitting, "learn_rows", learn)
    assert run("fit", "rows.npy", "--checkpoint", "work.safetensors", "--every", "100").code == 0
    expected = unmingle.OnlineRobustPCA(random_state=0).fit(MADE.X)
    assert np.array_equal(unmingle.load(data / "rows.safetensors").components_, expected.components_)


def test_bad_input_gets_one_sentence(run, data):
    (data / "nonsense.npy").write_bytes(b"nonsense")
    (data / "rows.txt").write_text("1 2 3")
    (data / "empty.zarr").mkdir()
    zarr.open_group(data / "group.zarr", mode="w").create_array("inner", shape=(3, 3), dtype="f8")
    np.save(data / "cube.npy", np.zeros((2, 2, 2)))
    assert failed(run("fit", "missing.npy"), "missing.npy does not exist")
    assert failed(run("fit", "missing.zarr"), "missing.zarr does not exist")
    assert failed(run("fit", "nonsense.npy"), "nonsense.npy is damaged")
    assert failed(run("fit", "rows.txt"), "rows.txt has no rows of numbers")
    assert failed(run("fit", "rows.doc"), "rows.doc does not exist")
    assert failed(run("fit", "empty.zarr"), "no readable zarr array")
    assert failed(run("fit", "group.zarr"), "give the path of one of them: inner")
    assert failed(run("fit", "cube.npy"), "shape (2, 2, 2); expected 2 dimensions")
    assert failed(run("fit", "rows.npy", "--forgetting", "2"), "forgetting must be above 0 and at most 1")
    assert failed(run("fit", "rows.npy", "--workers", "1"), "convert it to zarr")
    assert failed(run("fit", "rows.zarr", "--scheduler", "nonsense"), "no scheduler at nonsense")


def test_data_are_not_overwritten_and_no_folder_is_left(run, data):
    assert run("fit", "rows.npy", "--out", "rows.npy").code == 2
    assert run("fit", "rows.npy", "--out", ".").code == 2
    assert np.array_equal(np.load(data / "rows.npy"), MADE.X)
    assert failed(run("fit", "missing.npy", "--out", "made/model.safetensors"), "missing.npy does not exist")
    assert not (data / "made").exists()


def test_options_that_exclude_each_other(run, data):
    assert run("fit", "rows.zarr", "--scheduler", "tcp://127.0.0.1:1", "--workers", "2").code == 2
    assert run("fit", "rows.zarr", "--workers", "2", "--checkpoint", "work.safetensors").code == 2
