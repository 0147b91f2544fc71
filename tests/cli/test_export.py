"""`unmingle export`, and what `unmingle info` tells of encoders."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import onnx
import pytest
from command_line import failed
from onnxruntime import InferenceSession

import unmingle
from unmingle import export, store
from unmingle.apps import models
from unmingle.core.encoder.encoder import Encoder
from unmingle.core.encoder.layers import Layers
from unmingle.synth import low_rank_plus_sparse

MADE = low_rank_plus_sparse(200, 30, 3, noise=0.05, random_state=0)
CARD = {"data": "a street", "passes": 12, "gap": {"median": 0.004, "worst": None}, "notes": {}}


@pytest.fixture(scope="module")
def fitted():
    return unmingle.RobustPCA(n_components=3).fit(MADE.X)


@pytest.fixture
def folder(tmp_path, fitted, rng):
    """A folder of models, one of each kind."""
    fitted.save(tmp_path / "pca.safetensors")
    unmingle.OnlineRobustPCA(n_components=2, random_state=0).fit(MADE.X).save(tmp_path / "online.safetensors")
    trained(rng).save(tmp_path / "encoder.safetensors")
    return tmp_path


def trained(rng, **form):
    options = {"n_layers": 4, "tied": False, "nonnegative_outliers": True, **form}
    U = rng.standard_normal((2, 15)).astype(np.float32)
    encoder = Encoder.from_components(U, rank_penalty=0.25, outlier_penalty=np.linspace(0.1, 0.5, 15), **options)
    moved = (part * rng.uniform(0.9, 1.1, part.shape).astype(np.float32) for part in encoder.layers)
    return Encoder(encoder.components, 0.25, encoder.outlier_penalty, Layers(*moved), 4, *encoder.signs)


def answers(path, X, **init):
    return InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"samples": X, **init})


def test_help_tells_of_the_options(run):
    ended = run("export", "--help")
    assert ended.code == 0
    assert all(word in ended.out for word in ["--quiet", "--json", "--layers", "--warm-start", "OUT.onnx"])
    assert "export" in run("--help").out


def test_nonnegative_parts_keep_their_signs(run, tmp_path, rng):
    X = rng.gamma(1.0, 1.0, (80, 3)) @ rng.gamma(1.0, 1.0, (3, 20)) + 0.1 * rng.random((80, 20))
    X[rng.random(X.shape) < 0.05] += 30.0
    model = unmingle.RobustNMF(3, tol=1e-2).fit(X)
    model.save(tmp_path / "parts.safetensors")
    told = json.loads(run("export", "parts.safetensors", "parts.onnx", "--json").out)
    assert (told["kind"], told["nonnegative_codes"], told["nonnegative_outliers"]) == ("RobustNMF", True, True)
    assert told["layers"] == 500
    codes, low_rank, outliers = answers(tmp_path / "parts.onnx", X)
    part = model.decompose(X)
    assert min(codes.min(), outliers.min()) >= 0
    assert np.abs(low_rank - part.low_rank).max() < 1e-3 * np.abs(part.low_rank).max()


def test_an_encoder_is_exported_as_it_is(run, folder, rng):
    ended = run("export", "encoder.safetensors", "new/encoder.onnx", "--json")
    assert ended.code == 0, ended.err
    told = json.loads(ended.out)
    assert told["model"] == "encoder.safetensors"
    assert (told["kind"], told["made_from_components"]) == ("Encoder", False)
    assert (told["features"], told["components"], told["layers"], told["tied"]) == (15, 2, 4, False)
    assert told["bytes"] == (folder / "new" / "encoder.onnx").stat().st_size
    assert 0 <= told["largest_difference"] < 1e-5
    encoder = unmingle.load(folder / "encoder.safetensors")
    X = rng.standard_normal((6, 15)).astype(np.float32)
    codes, _, outliers = answers(folder / told["onnx"], X)
    expected = encoder.encode(X, backend="numpy")
    assert np.allclose(codes, expected[0], atol=1e-5)
    assert np.allclose(outliers, expected[1], atol=1e-5)


@pytest.mark.parametrize(("name", "arguments", "depth"), [("pca", [], 20), ("online", ["--layers", "300"], 300)])
def test_components_become_algorithm_1(run, folder, name, arguments, depth):
    ended = run("export", f"{name}.safetensors", "model.onnx", *arguments)
    assert ended.code == 0, ended.err
    assert "untrained" in ended.out
    assert f"{depth}, tied" in ended.out
    assert "of unmingle" in ended.out
    assert ended.out.splitlines()[-1] == "onnx: model.onnx"
    exact = unmingle.load(folder / f"{name}.safetensors").transform(MADE.X)
    codes = answers(folder / "model.onnx", MADE.X)[0]
    errors = np.abs(codes - exact).max(axis=1) / np.abs(exact).max()
    assert np.quantile(errors, 0.9) < 1e-2
    assert depth == 20 or errors.max() < 1e-5


def test_warm_start_adds_an_input(run, folder, fitted):
    ended = run("export", "pca.safetensors", "model.onnx", "--layers", "1", "--warm-start")
    assert ended.code == 0, ended.err
    assert "samples in rows, float64; init" in ended.out
    exact = fitted.transform(MADE.X)
    codes = answers(folder / "model.onnx", MADE.X, init=exact)[0]
    assert np.allclose(codes, exact, atol=1e-6)


def test_a_file_that_takes_bytes(run, folder):
    ended = run("export", "pca.safetensors", "model.onnx", "--layers", "3", "--input-scale", "255")
    assert ended.code == 0, ended.err
    assert "samples are divided by 255 first" in ended.out
    of_bytes = answers(folder / "model.onnx", 255 * MADE.X)
    assert run("export", "pca.safetensors", "model.onnx", "--layers", "3").code == 0
    for one, other in zip(of_bytes, answers(folder / "model.onnx", MADE.X), strict=True):
        assert np.allclose(one, other, atol=1e-10)
    assert failed(run("export", "pca.safetensors", "model.onnx", "--input-scale", "0"), "input_scale")


def test_quiet_prints_nothing(run, folder):
    assert run("export", "pca.safetensors", "model.onnx", "--quiet") == (0, "", "")
    assert (folder / "model.onnx").exists()


def test_an_estimator_is_exported_with_its_card(run, folder, rng, monkeypatch):
    monkeypatch.setattr(models, "load", lambda path: SimpleNamespace(encoder_=trained(rng), card_=CARD))
    assert run("export", "any.safetensors", "model.onnx").code == 0
    metadata = {entry.key: entry.value for entry in onnx.load(folder / "model.onnx").metadata_props}
    assert json.loads(metadata["card"]) == CARD


def test_a_wrong_file_is_not_kept(run, folder, rng, monkeypatch):
    (folder / "model.onnx").write_bytes(b"older")
    right = export.to_onnx
    monkeypatch.setattr(export, "to_onnx", lambda encoder, path, **options: right(trained(rng), path, **options))
    ended = run("export", "encoder.safetensors", "model.onnx")
    assert failed(ended, "model.onnx was not written: ONNX Runtime gives other answers")
    monkeypatch.setattr(export, "to_onnx", lambda encoder, path, **options: path.write_bytes(b"nonsense"))
    assert failed(run("export", "encoder.safetensors", "model.onnx"), "cannot run the file")
    assert (folder / "model.onnx").read_bytes() == b"older"
    assert not list(folder.glob(".unmingle*"))


def test_a_network_for_voices_becomes_one_step(run, folder):
    ended = run("export", "phone", "phone.onnx", "--json")
    assert ended.code == 0, ended.err
    told = json.loads(ended.out)
    assert told["largest_difference"] < 1e-5
    session = InferenceSession(folder / "phone.onnx", providers=["CPUExecutionProvider"])
    assert [one.name for one in session.get_inputs()] == ["samples", "state"]
    assert json.loads(session.get_modelmeta().custom_metadata_map["card"])["network"] == "phone"
    assert "next_state" in run("export", "phone", "phone.onnx").out
    assert failed(run("export", "phone", "phone.onnx", "--warm-start"), "always takes a state")


def test_without_onnxruntime_the_file_is_written_unchecked(run, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    ended = run("export", "encoder.safetensors", "model.onnx")
    assert ended.code == 0, ended.err
    assert "onnxruntime is not installed" in ended.out
    assert json.loads(run("export", "encoder.safetensors", "model.onnx", "--json").out)["largest_difference"] is None


def test_without_onnx_the_command_is_named(run, folder, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("unmingle.export")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert failed(run("export", "encoder.safetensors", "model.onnx"), "pip install onnx")
    assert not (folder / "model.onnx").exists()


def test_bad_input_gets_one_sentence(run, folder, monkeypatch):
    (folder / "garbage.safetensors").write_bytes(b"garbage")
    (folder / "file").write_text("no folder")
    assert failed(run("export", "missing.safetensors", "model.onnx"), "missing.safetensors does not exist")
    assert failed(run("export", "garbage.safetensors", "model.onnx"), "damaged or not a .safetensors file")
    assert failed(run("export", "encoder.safetensors", "model.onnx", "--layers", "3"), "has 4 layers")
    assert failed(run("export", "encoder.safetensors", "file/model.onnx"), "not a folder that can be written to")
    store.write(folder / "foreign.safetensors", "Scaler", {}, {})
    assert failed(run("export", "foreign.safetensors", "model.onnx"), "does not know")
    unmingle.RobustPCA(rank_penalty=1e6, outlier_penalty=1.0).fit(MADE.X).save(folder / "nothing.safetensors")
    assert failed(run("export", "nothing.safetensors", "model.onnx"), "nothing to export")
    monkeypatch.setattr(models, "load", lambda path: SimpleNamespace())
    assert failed(run("export", "other.safetensors", "model.onnx"), "neither an encoder nor components")
    assert not (folder / "model.onnx").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["encoder.safetensors"],
        ["encoder.safetensors", "pca.safetensors"],
        ["encoder.safetensors", "folder.onnx"],
        ["model.onnx", "model.onnx"],
        ["pca.safetensors", "model.onnx", "--layers", "0"],
    ],
)
def test_wrong_usage(run, folder, arguments):
    (folder / "folder.onnx").mkdir()
    (folder / "model.onnx").write_bytes((folder / "encoder.safetensors").read_bytes())
    before = {path: path.read_bytes() for path in folder.glob("*.*") if path.is_file()}
    assert run("export", *arguments).code == 2
    assert all(path.read_bytes() == content for path, content in before.items())


def test_info_describes_an_encoder(run, folder):
    told = json.loads(run("info", "encoder.safetensors", "--json").out)["encoder"]
    assert told.pop("departure") == pytest.approx(0.1, abs=0.03)
    assert told == {
        "features": 15,
        "components": 2,
        "layers": 4,
        "tied": False,
        "structure": "low_rank",
        "nonnegative_codes": False,
        "nonnegative_outliers": True,
        "dtype": "float32",
        "rank_penalty": 0.25,
        "outlier_penalty": pytest.approx([0.1, 0.5]),
        "bytes": (folder / "encoder.safetensors").stat().st_size,
    }
    for_people = " ".join(run("info", "encoder.safetensors").out.split())
    for words in (
        "kind Encoder",
        "4, each with its own numbers",
        "outliers not negative",
        "rank 0.25, outliers 0.1 to 0.5",
        f"{told['bytes']:,} bytes, float32",
        "moved the layers from Algorithm 1 by",
    ):
        assert words in for_people
    assert "readout_feedback" in run("info", "encoder.safetensors", "--details").out
    assert run("info", "encoder.safetensors", "--quiet") == (0, "", "")


def test_info_tells_untrained_encoders(run, folder, fitted):
    Encoder.from_components(fitted.components_, rank_penalty=1.0, outlier_penalty=0.5, n_layers=3).save("plain")
    assert json.loads(run("info", "plain", "--json").out)["encoder"]["departure"] < 1e-12
    told = " ".join(run("info", "plain").out.split())
    assert all(words in told for words in ["3, tied", "rank 1, outliers 0.5", "signs any"])


def test_info_refuses_an_incomplete_encoder(run, folder):
    stored = store.read(folder / "encoder.safetensors")
    arrays = {name: array for name, array in stored.arrays.items() if name != "layers.threshold"}
    store.write(folder / "half.safetensors", "Encoder", stored.parameters, arrays)
    assert failed(run("info", "half.safetensors"), "does not hold a complete Encoder")


def test_info_shows_the_card(run, folder):
    parameters = {"init": {"n_layers": 5}, "fitted": {"card_": CARD, "n_components_": 2}}
    store.write(folder / "learned.safetensors", "LearnedRobustPCA", parameters, {"components_": np.eye(2)})
    lines = [" ".join(line.split()) for line in run("info", "learned.safetensors").out.splitlines()]
    start = lines.index("card")
    assert lines[start + 1 : start + 6] == [
        "data a street",
        "passes 12",
        "gap.median 0.004",
        "gap.worst null",
        "notes {}",
    ]
    assert "trained on a street" in lines
    details = " ".join(run("info", "learned.safetensors", "--details").out.split())
    assert 'fitted {"n_components_": 2}' in details
    assert json.loads(run("info", "learned.safetensors", "--json").out)["parameters"] == parameters
    store.write(folder / "odd.safetensors", "LearnedRobustPCA", {"fitted": {"card_": "text"}}, {})
    assert 'fitted {"card_": "text"}' in " ".join(run("info", "odd.safetensors", "--details").out.split())
    odd = {"fitted": {"n_components_": 2, "n_features_in_": "many", "gap_": {}, "rows_": [], "feature_names_in_": 3}}
    store.write(folder / "odd.safetensors", "RobustPCA", odd, {})
    ended = run("info", "odd.safetensors")
    assert ended.code == 0
    assert "components 2" in " ".join(ended.out.split())
