"""The command line: results, sentences and exit codes."""

import json

import numpy as np
import pytest
from command_line import failed
from safetensors.numpy import save_file

import unmingle
from unmingle import store
from unmingle.synth import low_rank_plus_sparse


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
    assert told["arrays"]["fitted.components_"] == {
        "shape": list(header.arrays["fitted.components_"].shape),
        "dtype": header.arrays["fitted.components_"].dtype,
    }
    details = run("info", model_file, "--details").out
    assert all(word in details for word in ["RobustPCA", "components_", "float64", *header.parameters])
    assert run("info", model_file, "--quiet") == (0, "", "")


def test_info_tells_in_words_what_people_want_to_know(run, model_file):
    told = run("info", model_file).out
    assert all(
        word in told
        for word in ["robust principal components", "40 rows", "rows of 20 numbers, in training from", "cost within"]
    )
    assert "random_state" not in told
    assert "components_" not in told
    about = json.loads(run("info", model_file, "--json").out)["summary"]
    assert about["components"] == str(unmingle.load(model_file).n_components_)


def test_info_refuses_other_files(run, tmp_path, model_file):
    assert failed(run("info", "nowhere.safetensors"), "does not exist")
    assert failed(run("info", tmp_path), "not a file")
    (tmp_path / "garbage.safetensors").write_bytes(b"garbage")
    assert failed(run("info", "garbage.safetensors"), "damaged or not a .safetensors file")
    save_file({"x": np.ones(3)}, tmp_path / "foreign.safetensors")
    assert failed(run("info", "foreign.safetensors"), "not written by unmingle")
    (tmp_path / "half.safetensors").write_bytes(model_file.read_bytes()[:-8])
    assert failed(run("info", "half.safetensors"), "damaged")


def test_models_of_unmingle_go_by_their_names(run, tmp_path):
    ended = run("info", "phone")
    assert ended.code == 0
    assert all(word in ended.out for word in ["VoiceModel", "codes carried", "seed", "data"])
    told = json.loads(run("info", "phone", "--json").out)
    assert told["encoder"]["features"] == 240
    (tmp_path / "phone").write_bytes(b"a file of the same name comes first")
    assert failed(run("info", "phone"), "damaged or not a .safetensors file")
