"""States of `OnlineRobustPCA`: fitted, frozen, saved, changed on the way, or failed."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from stream_samples import STEPS, rows_of

import unmingle
from unmingle import OnlineRobustPCA, store


@pytest.fixture(scope="module")
def X():
    return rows_of(300)[0]


def test_there_is_a_model_from_the_first_sample_on():
    X, _ = rows_of(30)
    model = OnlineRobustPCA(random_state=0)
    for k, row in enumerate(X):
        model.partial_fit(row)
        assert model.transform(X[: k + 1]).shape == (k + 1, model.n_components_)


def test_frozen_is_frozen_bit_for_bit(tmp_path):
    X, _ = rows_of(1000)
    model = OnlineRobustPCA(random_state=0).fit(X[:500]).freeze()
    model.save(tmp_path / "before.safetensors")
    model.partial_fit(X[500:])
    model.save(tmp_path / "after.safetensors")
    assert (tmp_path / "before.safetensors").read_bytes() == (tmp_path / "after.safetensors").read_bytes()
    assert unmingle.load(tmp_path / "after.safetensors").frozen_
    before = model.components_.copy()
    model.freeze(False).partial_fit(X[500:])
    assert not np.array_equal(model.components_, before)
    with pytest.raises(NotFittedError):
        OnlineRobustPCA().freeze()


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seen", [3, 70, 500])
def test_a_saved_model_goes_on_as_if_nothing_had_happened(tmp_path, step, seen):
    X, _ = rows_of(900)
    X[600:] = X[600:][:, ::-1]  # a jump, so that strangers are waiting somewhere
    model = OnlineRobustPCA(dictionary_step=step, random_state=0, batch_size=8)
    model.partial_fit(X[:seen])
    model.save(tmp_path / "model.safetensors")
    other = unmingle.load(tmp_path / "model.safetensors")
    assert np.array_equal(other.transform(X[:5]), model.transform(X[:5]))
    for rows in (X[seen:650], X[650:]):
        model.partial_fit(rows)
        other.partial_fit(rows)
        assert np.array_equal(other.components_, model.components_)
        assert other.rank_penalty_ == model.rank_penalty_


def test_model_with_feature_names_and_penalty_per_feature_is_saved(tmp_path):
    X, _ = rows_of(200)
    frame = pd.DataFrame(X, columns=[f"sensor {k}" for k in range(60)])
    model = OnlineRobustPCA(outlier_penalty=np.full(60, 0.2), random_state=0).fit(frame)
    model.save(tmp_path / "model.safetensors")
    other = unmingle.load(tmp_path / "model.safetensors")
    assert list(other.feature_names_in_) == list(frame.columns)
    assert np.array_equal(other.partial_fit(frame).components_, model.partial_fit(frame).components_)


def test_an_incomplete_file_is_refused(tmp_path):
    X, _ = rows_of(200)
    path = tmp_path / "model.safetensors"
    OnlineRobustPCA(random_state=0).fit(X).save(path)
    kind, _, parameters, arrays = store.read(path)
    for spoilt in (parameters | {"stream": {}}, {k: v for k, v in parameters.items() if k != "stream"}):
        store.write(path, kind, spoilt, arrays)
        with pytest.raises(store.StoreError, match="complete OnlineRobustPCA"):
            unmingle.load(path)
    del arrays["stream.tracker.dictionary.statistics.A"]
    store.write(path, kind, parameters, arrays)
    with pytest.raises(store.StoreError, match="complete OnlineRobustPCA"):
        unmingle.load(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"forgetting": 0.0}, "forgetting must be above 0 and at most 1, or 'auto', got 0.0"),
        ({"forgetting": 1.5}, "got 1.5"),
        ({"forgetting": "never"}, "got 'never'"),
        ({"forgetting": None}, "got None"),
        ({"dictionary_step": "sgd"}, "dictionary_step must be one of 'block', 'direct', 'recursive', got 'sgd'"),
        ({"n_components": 0}, "n_components must be a whole number"),
        ({"start_size": 0}, "start_size must be a whole number"),
        ({"batch_size": 2.5}, "batch_size must be a whole number"),
        ({"rank_penalty": -1.0}, "rank_penalty must be a finite number above 0"),
        ({"outlier_penalty": np.ones(3)}, "one for each of the 60 features"),
    ],
)
def test_bad_parameters_get_one_sentence(options, message):
    X, _ = rows_of(100)
    with pytest.raises(ValueError, match=message):
        OnlineRobustPCA(**options).fit(X)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (iter(()), ValueError, "no samples"),
        (iter([np.zeros((2, 3, 4))]), ValueError, "3 dimensions"),
        (iter([np.ones((5, 3)), np.ones((5, 4))]), ValueError, "equally many features, got 3 and then 4"),
        (iter([np.full((5, 3), np.inf)]), ValueError, "infinity"),
        (np.full((5, 3), np.nan), ValueError, "only NaN"),
        ("file.npy", ValueError, "must hold numbers"),
    ],
)
def test_bad_data_get_one_sentence(X, error, message):
    with pytest.raises(error, match=message):
        OnlineRobustPCA().fit(X)


def test_only_nan_is_refused_from_a_stream_as_well():
    with pytest.raises(ValueError, match="only NaN"):
        OnlineRobustPCA().fit(iter([np.full((5, 3), np.nan)]))
    model = OnlineRobustPCA().partial_fit(np.full((5, 3), np.nan))
    assert model.n_components_ == 0
    assert np.isfinite(model.score_samples(np.ones((2, 3)))).all()


def test_a_failed_first_call_leaves_nothing_fitted(X):
    model = OnlineRobustPCA(forgetting=7)
    with pytest.raises(ValueError, match="forgetting"):
        model.partial_fit(X)
    with pytest.raises(NotFittedError):
        model.transform(X)


def test_a_failed_refit_forgets_the_old_model(tmp_path, X):
    model = OnlineRobustPCA(random_state=0).fit(X)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(iter([np.full((5, 3), np.inf)]))
    with pytest.raises(NotFittedError):
        model.save(tmp_path / "model.safetensors")


def test_parameters_may_change_on_the_way(tmp_path, X):
    model = OnlineRobustPCA(dictionary_step="recursive", random_state=0).fit(X)
    model.set_params(dictionary_step="direct", forgetting=0.9).partial_fit(X)
    model.save(tmp_path / "model.safetensors")
    again = unmingle.load(tmp_path / "model.safetensors").partial_fit(X)
    assert np.array_equal(again.components_, model.partial_fit(X).components_)
    with pytest.raises(ValueError, match="forgetting"):
        model.set_params(forgetting=-1).partial_fit(X)


def test_a_list_of_numbers_is_a_sample(X):
    model = OnlineRobustPCA(random_state=0).partial_fit(X[0].tolist())
    assert model.n_samples_seen_ == 1


def test_a_stream_that_falls_silent_is_no_error(X):
    rows = np.concatenate([X, np.zeros((3000, 60))])
    model = OnlineRobustPCA(random_state=0, forgetting=0.9).fit(rows)
    assert model.n_samples_seen_ == 3300
    assert np.abs(model.decompose(np.zeros((2, 60))).low_rank).max() == 0
