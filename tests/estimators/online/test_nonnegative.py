"""`OnlineRobustNMF`: nonnegative parts of a stream, followed, frozen, stopped and resumed."""

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from stream_samples import nonnegative_rows

import unmingle
from unmingle import OnlineRobustNMF, OnlineRobustPCA, RobustNMF
from unmingle.metrics import subspace_angle
from unmingle.synth import nonnegative_stream


@parametrize_with_checks(
    [
        OnlineRobustNMF(random_state=0),
        OnlineRobustNMF(n_components=2, random_state=0, start_size=8, batch_size=3),
    ],
    expected_failed_checks=lambda _: dict.fromkeys(
        ("check_outliers_fit_predict", "check_outliers_train"), "they give negative rows, whatever the tags say"
    ),
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("options", [{}, {"forgetting": 0.99}])
def test_follows_parts_that_change(noise, options):
    """Half of the way to other parts in 10 000 samples, 55 degrees; a tenth of all entries gross positive outliers.

    The subspace turns by up to 0.7 degrees in a window of 100 samples. Within 5 degrees, 8 with automatic forgetting.
    """
    model, angles = OnlineRobustNMF(10, random_state=0, **options), []
    for k, block in enumerate(nonnegative_stream(10_000, 200, 10, drift=0.5, noise=noise, random_state=0)):
        model.partial_fit(block.X)
        assert model.components_.min() >= 0
        if k == 0:
            start = block.basis
        if k >= 20 and k % 10 == 0:
            angles.append(subspace_angle(model.components_, block.basis))
    assert max(angles) < (5.0 if options else 8.0)
    assert subspace_angle(start, block.basis) > 50
    assert model.n_jumps_ == 0


def test_learns_what_the_estimator_of_one_matrix_learns():
    """Parts with features of their own are unique: also the order of the atoms, and their lengths."""
    rng = np.random.default_rng(0)
    parts = np.repeat(np.eye(3), 20, axis=1) * rng.uniform(0.5, 2.0, 60)
    X = rng.exponential(size=(3000, 3)) * [3.0, 2.0, 1.0] @ parts + 0.02 * rng.random((3000, 60))
    X[rng.random(X.shape) < 0.1] += 5
    online = OnlineRobustNMF(3, forgetting=1.0, random_state=0).fit(X)
    whole = RobustNMF(3, random_state=0).fit(X)
    assert np.abs(online.components_ - whole.components_).max() < 0.05 * whole.components_.max()


@pytest.mark.parametrize("seen", [3, 70, 500])
def test_a_saved_model_goes_on_as_if_nothing_had_happened(tmp_path, seen):
    X, _, _ = nonnegative_rows(900)
    X[600:] = X[600:][:, ::-1]  # a jump, so that strangers are waiting somewhere
    model = OnlineRobustNMF(3, random_state=0, batch_size=8)
    model.partial_fit(X[:seen]).save(tmp_path / "model.safetensors")
    other = unmingle.load(tmp_path / "model.safetensors")
    assert np.array_equal(other.transform(X[:5]), model.transform(X[:5]))
    for rows in (X[seen:650], X[650:]):
        model.partial_fit(rows)
        other.partial_fit(rows)
        assert np.array_equal(other.components_, model.components_)
        assert other.rank_penalty_ == model.rank_penalty_


def test_a_fit_that_was_stopped_resumes_to_the_same_bits(tmp_path):
    X, _, _ = nonnegative_rows(1500)
    X[1000:] = X[1000:][:, ::-1]
    X[np.random.default_rng(1).random(X.shape) < 0.05] = np.nan
    undisturbed = OnlineRobustNMF(3, batch_size=16, random_state=0).fit(X)
    undisturbed.save(tmp_path / "undisturbed.safetensors")
    for batches in (1, 5, 40, 64, 66):
        checkpoint = tmp_path / f"{batches}.safetensors"
        stop = iter([False] * (batches - 1) + [True])
        options = {"checkpoint": checkpoint, "every": 10**9}
        stopped = OnlineRobustNMF(3, batch_size=16, random_state=0)
        stopped.fit(X, **options, callback=lambda _, stop=stop: next(stop))
        assert stopped.n_samples_seen_ == 16 * batches
        resumed = OnlineRobustNMF(3, batch_size=16, random_state=0).fit(X, **options)
        resumed.save(tmp_path / "resumed.safetensors")
        assert (tmp_path / "resumed.safetensors").read_bytes() == (tmp_path / "undisturbed.safetensors").read_bytes()


def test_frozen_is_frozen_bit_for_bit(tmp_path):
    X, _, _ = nonnegative_rows(600)
    model = OnlineRobustNMF(3, random_state=0).fit(X[:300]).freeze()
    model.save(tmp_path / "before.safetensors")
    model.partial_fit(X[300:]).save(tmp_path / "after.safetensors")
    assert (tmp_path / "before.safetensors").read_bytes() == (tmp_path / "after.safetensors").read_bytes()
    before = model.components_
    assert not np.array_equal(model.freeze(False).partial_fit(X[300:]).components_, before)


def test_projections_are_exact_and_nonnegative():
    X, _, _ = nonnegative_rows(800)
    model = OnlineRobustNMF(3, random_state=0).fit(X)
    part = model.decompose(X[:50])
    signs = {"nonnegative_codes": True, "nonnegative_outliers": True}
    penalties = (model.rank_penalty_, model.outlier_penalty_)
    assert (
        unmingle.core.objective.projection_gap(X[:50], model.components_, part.codes, *penalties, **signs).max() < 1e-9
    )
    assert min(part.codes.min(), part.outliers.min()) >= 0


def test_negative_entries_are_refused_and_nothing_is_learnt_from_them():
    X, _, _ = nonnegative_rows(300)
    model = OnlineRobustNMF(3, random_state=0).fit(X)
    bad = pd.DataFrame(np.where(np.arange(60) == 7, -1.0, X[:5]), columns=[f"sensor {k}" for k in range(60)])
    with pytest.raises(ValueError, match="the first is -1 in row 0, column 'sensor 7'"):
        OnlineRobustNMF().partial_fit(bad)
    before = model.components_.copy()
    with pytest.raises(ValueError, match="Negative values in data passed to OnlineRobustNMF"):
        model.partial_fit(bad.to_numpy())
    with pytest.raises(ValueError, match="Negative values"):
        OnlineRobustNMF().fit(iter([X, -X]))
    assert np.array_equal(model.components_, before)
    assert model.n_samples_seen_ == 300


def test_parameters_may_change_on_the_way_but_a_file_is_of_one_kind(tmp_path):
    X, _, _ = nonnegative_rows(400)
    model = OnlineRobustNMF(3, random_state=0).fit(X).set_params(forgetting=0.9).partial_fit(X)
    with pytest.raises(ValueError, match="forgetting"):
        model.set_params(forgetting=-1).partial_fit(X)
    checkpoint = tmp_path / "model.safetensors"
    OnlineRobustNMF(3, random_state=0).fit(X, checkpoint=checkpoint)
    with pytest.raises(unmingle.store.StoreError, match="it contains a OnlineRobustNMF"):
        OnlineRobustPCA(3, random_state=0).fit(X, checkpoint=checkpoint)
