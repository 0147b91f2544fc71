"""ONNX files: what they hold, and what is refused; tests/parity holds their answers to those of the encoder."""

import json
import os
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import onnx
import pytest

import unmingle
from unmingle import export, store
from unmingle.core.encoder.encoder import Encoder
from unmingle.core.encoder.layers import Layers
from unmingle.export.encoders import TOLERANCE, typical_samples
from unmingle.export.graph import IR_VERSION, OPSET

M, Q = 23, 4


def untrained(rng, dtype="float64", q=Q, m=M, **form):
    U = rng.standard_normal((q, m)).astype(dtype)
    lam = rng.uniform(0.2, 0.6, m)
    return Encoder.from_components(U, rank_penalty=0.1, outlier_penalty=lam, **{"n_layers": 4, **form})


def trained(rng, dtype="float64", **form):
    """An encoder with other numbers in every layer, as training leaves it."""
    encoder = untrained(rng, dtype, **form)
    moved = (part * rng.uniform(0.7, 1.2, part.shape) for part in encoder.layers)
    return replace(encoder, layers=Layers(*(part.astype(dtype) for part in moved)))


def samples(rng, encoder, n):
    """Combinations of the components with noise, outliers, and missing entries in every second sample."""
    q, m = encoder.components.shape
    X = rng.standard_normal((n, q)) @ encoder.components + 0.1 * rng.standard_normal((n, m))
    X[rng.random(X.shape) < 0.1] += 10
    X[::2][rng.random(X[::2].shape) < 0.2] = np.nan
    X[n // 2] = np.nan
    return X.astype(encoder.components.dtype)


def test_entries_that_are_no_outliers_are_exactly_zero(rng, tmp_path):
    encoder = trained(rng)
    X = samples(rng, encoder, 64)
    export.to_onnx(encoder, tmp_path / "encoder.onnx")
    outliers = export.run(tmp_path / "encoder.onnx", X)[2]
    ours = encoder.encode(X)[1]
    assert np.array_equal(outliers == 0, ours == 0)
    assert 0 < np.count_nonzero(ours) < ours.size


@pytest.mark.parametrize("warm_start", [False, True])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_a_file_is_held_to_its_encoder(rng, tmp_path, dtype, warm_start):
    encoder, path = trained(rng, dtype), tmp_path / "encoder.onnx"
    export.to_onnx(encoder, path, warm_start=warm_start)
    assert export.check(path, encoder, warm_start=warm_start) < TOLERANCE[dtype] / 100
    other = replace(encoder, layers=encoder.layers._replace(threshold=1.1 * encoder.layers.threshold))
    with pytest.raises(ValueError, match="ONNX Runtime gives other answers than unmingle, by"):
        export.check(path, other, warm_start=warm_start)
    path.write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="cannot run the file"):
        export.check(path, encoder, warm_start=warm_start)


def test_samples_to_check_with_have_everything(rng):
    encoder = untrained(rng)
    X, init = typical_samples(encoder)
    codes, outliers = encoder.encode(X, init=init)
    assert np.isnan(X).any(axis=1).sum() > len(X) / 2
    assert 0.02 < np.mean(outliers != 0) < 0.5
    assert np.corrcoef(codes.ravel(), init.ravel())[0, 1] > 0.8


def test_file_holds_what_is_documented(rng, tmp_path):
    encoder, path = trained(rng, "float32", tied=False, nonnegative_outliers=True), tmp_path / "encoder.onnx"
    export.to_onnx(encoder, str(path), warm_start=True)
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    assert [(entry.domain, entry.version) for entry in model.opset_import] == [("", OPSET)] == [("", 18)]
    assert model.ir_version == IR_VERSION == 8
    assert (model.producer_name, model.producer_version) == ("unmingle", unmingle.__version__)
    shapes = {
        tensor.name: [axis.dim_param or axis.dim_value for axis in tensor.type.tensor_type.shape.dim]
        for tensor in (*model.graph.input, *model.graph.output)
    }
    wide, narrow = ["n", M], ["n", Q]
    assert shapes == {"samples": wide, "init": narrow, "codes": narrow, "low_rank": wide, "outliers": wide}
    lam = encoder.outlier_penalty
    assert {entry.key: entry.value for entry in model.metadata_props} == {
        "producer": f"unmingle {unmingle.__version__}",
        "structure": "low_rank",
        "n_layers": "4",
        "tied": "false",
        "n_features": "23",
        "n_components": "4",
        "dtype": "float32",
        "rank_penalty": "0.1",
        "outlier_penalty": f"{lam.min()} to {lam.max()}",
        "nonnegative_codes": "false",
        "nonnegative_outliers": "true",
        "warm_start": "true",
        "input_scale": "1",
    }


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bytes_in_give_the_same_answers(rng, tmp_path, dtype):
    encoder, path = trained(rng, dtype), tmp_path / "encoder.onnx"
    X = samples(rng, encoder, 9)
    export.to_onnx(SimpleNamespace(encoder_=encoder, card_={"smallest entry": 0.0, "largest entry": 1.0}), path)
    plain = export.run(path, X)
    export.to_onnx(
        SimpleNamespace(encoder_=encoder, card_={"smallest entry": 0.0, "largest entry": 1.0, "data": "faces"}),
        path, input_scale=255,
    )  # fmt: skip
    for one, other in zip(plain, export.run(path, 255 * X), strict=True):
        assert np.allclose(one, other, rtol=1e-5, atol=1e-5 * np.abs(one).max())
    told = {entry.key: entry.value for entry in onnx.load(path).metadata_props}
    assert (told["input_scale"], told["input_range"], told["trained_on"]) == ("255", "0 to 255", "faces")
    assert export.check(path, encoder, input_scale=255) < 1e-4
    with pytest.raises(ValueError, match="other answers than unmingle"):
        export.check(path, encoder)
    with pytest.raises(ValueError, match="input_scale must be a finite number above 0"):
        export.to_onnx(encoder, path, input_scale=0)


def test_estimators_are_exported_through_their_encoder(rng, tmp_path):
    encoder, card = trained(rng), {"data": "a film", "gap": 0.01}
    export.to_onnx(encoder, tmp_path / "encoder.onnx")
    export.to_onnx(SimpleNamespace(encoder_=encoder, card_=card), tmp_path / "estimator.onnx")
    alone, within = onnx.load(tmp_path / "encoder.onnx"), onnx.load(tmp_path / "estimator.onnx")
    assert alone.graph == within.graph
    assert json.loads(next(entry.value for entry in within.metadata_props if entry.key == "card")) == card


def test_shared_layers_are_held_once(rng, tmp_path):
    def size(encoder):
        export.to_onnx(encoder, tmp_path / "encoder.onnx")
        return (tmp_path / "encoder.onnx").stat().st_size

    shallow = trained(rng, m=2000, n_layers=1)
    assert size(replace(shallow, n_layers=11)) - size(shallow) < 10_000
    part = shallow.layers.decoder.nbytes
    assert size(shallow) < 4.6 * part  # U, A, H' and H; t twice
    assert size(untrained(rng, m=2000)) < 2.7 * part  # A is U, and H' is H
    assert size(trained(rng, m=2000, n_layers=11, tied=False)) > 22 * part


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("disk full")])
def test_interrupted_write_leaves_no_file(rng, tmp_path, monkeypatch, error):
    def fails(*_):
        raise error

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(KeyboardInterrupt if error is KeyboardInterrupt else store.StoreError):
        export.to_onnx(untrained(rng), tmp_path / "encoder.onnx")
    assert not list(tmp_path.iterdir())


def test_file_that_is_replaced_stays_until_the_new_one_is_complete(rng, tmp_path, monkeypatch):
    path = tmp_path / "encoder.onnx"
    path.write_bytes(b"older")
    monkeypatch.setattr(onnx.helper, "make_node", lambda *inputs, **_: onnx.NodeProto(op_type="Nonsense"))
    with pytest.raises(onnx.checker.ValidationError):
        export.to_onnx(untrained(rng), path)
    assert path.read_bytes() == b"older"
    assert list(tmp_path.iterdir()) == [path]


def one_sentence(error):
    text = str(error.value)
    return "\n" not in text and text.endswith(".") and ". " not in text


@pytest.mark.parametrize("model", [unmingle.RobustPCA(), np.eye(3), None, SimpleNamespace(encoder_=None)])
def test_other_things_are_refused(tmp_path, model):
    with pytest.raises(TypeError, match=f"must be an Encoder.*got an object of type {type(model).__name__}") as error:
        export.to_onnx(model, tmp_path / "model.onnx")
    assert one_sentence(error)
    assert not list(tmp_path.iterdir())


def test_encoders_no_file_can_hold_are_refused(rng, tmp_path, monkeypatch):
    nothing = Encoder.from_components(np.zeros((0, 3)), rank_penalty=1.0, outlier_penalty=1.0, n_layers=2)
    with pytest.raises(ValueError, match="without components") as error:
        export.to_onnx(nothing, tmp_path / "model.onnx")
    assert one_sentence(error)
    with pytest.raises(store.StoreError, match="nowhere"):
        export.to_onnx(untrained(rng), tmp_path / "nowhere" / "model.onnx")
    monkeypatch.setattr("unmingle.export.graph.LARGEST", 1000)
    with pytest.raises(ValueError, match=r"GB of numbers, but an ONNX file at most .* GB; save it as") as error:
        export.to_onnx(untrained(rng), tmp_path / "model.onnx")
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())
