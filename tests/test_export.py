"""ONNX files: the same answers as the encoder, whoever runs them."""

import json
import os
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import onnx
import pytest
from onnxruntime import InferenceSession, SessionOptions

import unmingle
from unmingle import export, store
from unmingle.encoder import Encoder, Layers

M, Q = 23, 4
SIZES = (1, 7, 64, 1000)
ACCURACY = {"float32": 1e-5, "float64": 1e-10}
STRUCTURES = [
    {"structure": structure, "tied": tied, "nonnegative_codes": codes, "nonnegative_outliers": outliers}
    for structure, tied, codes, outliers in product(("low_rank", "full"), (True, False), (False, True), (False, True))
    if not (structure == "full" and codes)
]
NAMES = ["-".join(str(value) for value in form.values()) for form in STRUCTURES]


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


def session_of(path):
    options = SessionOptions()
    options.intra_op_num_threads = 1
    return InferenceSession(path, options, providers=["CPUExecutionProvider"])


def agrees(encoder, session, X, init=None):
    """Tell whether the file gives the answers of the encoder, up to rounding."""
    given = {"samples": X} if init is None else {"samples": X, "init": init}
    codes, low_rank, outliers = session.run(["codes", "low_rank", "outliers"], given)
    s, o = encoder.encode(X, backend="numpy", init=init)
    rounding = ACCURACY[X.dtype.name]
    for ours, theirs in ((codes, s), (low_rank, s @ encoder.components), (outliers, o)):
        assert ours.dtype == X.dtype
        assert ours.shape == theirs.shape
        assert np.abs(ours - theirs).max(initial=0) <= rounding * np.abs(theirs).max(initial=1)
    assert not outliers[np.isnan(X)].any()
    return True


@pytest.mark.parametrize("dtype", ACCURACY)
@pytest.mark.parametrize("form", STRUCTURES, ids=NAMES)
def test_file_and_encoder_agree(rng, tmp_path, form, dtype):
    encoder, path = trained(rng, dtype, **form), tmp_path / "encoder.onnx"
    export.to_onnx(encoder, path)
    session = session_of(path)
    for n in SIZES:
        X = samples(rng, encoder, n)
        assert agrees(encoder, session, X)
        assert agrees(encoder, session, np.nan_to_num(X))


@pytest.mark.parametrize("dtype", ACCURACY)
@pytest.mark.parametrize("form", STRUCTURES, ids=NAMES)
def test_file_starts_from_given_codes(rng, tmp_path, form, dtype):
    encoder, path = trained(rng, dtype, **form), tmp_path / "encoder.onnx"
    export.to_onnx(encoder, path, warm_start=True)
    session = session_of(path)
    for n in SIZES:
        init = rng.standard_normal((n, Q)).astype(dtype)
        assert agrees(encoder, session, samples(rng, encoder, n), init)


def test_entries_that_are_no_outliers_are_exactly_zero(rng, tmp_path):
    encoder = trained(rng)
    X = samples(rng, encoder, 64)
    export.to_onnx(encoder, tmp_path / "encoder.onnx")
    (outliers,) = session_of(tmp_path / "encoder.onnx").run(["outliers"], {"samples": X})
    ours = encoder.encode(X)[1]
    assert np.array_equal(outliers == 0, ours == 0)
    assert 0 < np.count_nonzero(ours) < ours.size


@pytest.mark.parametrize("warm_start", [False, True])
@pytest.mark.parametrize(("q", "m", "n_layers"), [(1, 5, 1), (1, 1, 3), (6, 3, 1), (2, 9, 40)])
def test_small_wide_shallow_and_deep(rng, tmp_path, q, m, n_layers, warm_start):
    encoder = trained(rng, q=q, m=m, n_layers=n_layers)
    export.to_onnx(encoder, tmp_path / "encoder.onnx", warm_start=warm_start)
    session = session_of(tmp_path / "encoder.onnx")
    X = samples(rng, encoder, 5)
    init = rng.standard_normal((5, q)) if warm_start else None
    assert agrees(encoder, session, X, init)
    assert agrees(encoder, session, X[:0], init if init is None else init[:0])


def test_file_holds_what_is_documented(rng, tmp_path):
    encoder, path = trained(rng, "float32", tied=False, nonnegative_outliers=True), tmp_path / "encoder.onnx"
    export.to_onnx(encoder, str(path), warm_start=True)
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    assert [(entry.domain, entry.version) for entry in model.opset_import] == [("", export.OPSET)] == [("", 18)]
    assert model.ir_version == export.IR_VERSION == 8
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
    }


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
    monkeypatch.setattr(export, "LARGEST", 1000)
    with pytest.raises(ValueError, match=r"GB of numbers, but an ONNX file at most .* GB; save it as") as error:
        export.to_onnx(untrained(rng), tmp_path / "model.onnx")
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())
