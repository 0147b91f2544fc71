"""Files of `LearnedRobustPCA`: all comes back, and nothing else is taken for it."""

import numpy as np
import pandas as pd
import pytest
from learned_models import STREAM, M, assert_same, learned
from sklearn.exceptions import NotFittedError

import unmingle
from unmingle import LearnedRobustPCA, store


@pytest.mark.parametrize("kind", ["plain", "frame", "full"])
def test_all_comes_back(kind, X, new, tmp_path):
    options = {"full": {"structure": "full", "tied": False, "outlier_penalty": np.linspace(0.2, 0.3, M)}}
    columns = [f"sensor {k}" for k in range(M)]
    data, fresh = (pd.DataFrame(rows, columns=columns) if kind == "frame" else rows for rows in (X, new))
    model = learned(**options.get(kind, {})).fit(data)
    model.save(tmp_path / "m.safetensors")
    again = unmingle.load(tmp_path / "m.safetensors")
    assert type(again) is LearnedRobustPCA
    assert_same(again, model)
    for mine, other in zip(again.encoder_.layers, model.encoder_.layers, strict=True):
        assert mine.tobytes() == other.tobytes()
    assert np.array_equal(again.transform(fresh), model.transform(fresh))
    assert np.array_equal(again.decompose(fresh).sample_gap, model.decompose(fresh).sample_gap)
    assert_same(again.fit(data), model)


@pytest.mark.parametrize(
    "lost",
    ["encoder", "stream", "encoder.layers.readout", "stream.rows.0", "fitted.components_", "fitted.history_", "fitted"],
)
def test_an_incomplete_file_is_refused(lost, model, tmp_path):
    path = tmp_path / "m.safetensors"
    model.save(path)
    kind, _, parameters, arrays = store.read(path)
    assert lost in parameters or lost in arrays
    parameters, arrays = ({name: part for name, part in all_.items() if name != lost} for all_ in (parameters, arrays))
    store.write(path, kind, parameters, arrays)
    with pytest.raises(store.StoreError, match="complete"):
        unmingle.load(path)


def test_a_damaged_file_is_refused(model, tmp_path):
    path = tmp_path / "m.safetensors"
    model.save(path)
    kind, _, parameters, arrays = store.read(path)
    for spoilt in (
        arrays | {"encoder.layers.threshold": -arrays["encoder.layers.threshold"]},
        arrays | {"encoder.components": arrays["encoder.components"][:, 1:]},
    ):
        store.write(path, kind, parameters, spoilt)
        with pytest.raises(store.StoreError, match="complete"):
            unmingle.load(path)
    model.save(path)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(store.StoreError, match="damaged"):
        unmingle.load(path)


def test_a_fitted_model_holds_no_training_data(X, model, tmp_path):
    """What is trained may be given away; a model in mid-stream needs its window."""
    for one, holds in ((model, False), (learned(**STREAM).partial_fit(X[:30]), True)):
        one.save(tmp_path / "m.safetensors")
        arrays = [part for part in store.read(tmp_path / "m.safetensors").arrays.values() if part.shape[-1:] == (M,)]
        rows = np.concatenate([part.reshape(-1, M) for part in arrays])
        assert holds == any((np.abs(rows - x).max(axis=1) == 0).any() for x in X)


def test_only_fitted_models_are_saved(tmp_path):
    with pytest.raises(NotFittedError):
        learned().save(tmp_path / "m.safetensors")
