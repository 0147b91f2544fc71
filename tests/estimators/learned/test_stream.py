"""`LearnedRobustPCA` that learns from a stream."""

from itertools import pairwise

import numpy as np
import pytest
from learned_models import STREAM, M, assert_same, learned, state_of

import unmingle
from unmingle.metrics import relative_error, subspace_angle
from unmingle.synth import subspace_stream


@pytest.mark.parametrize("update_dictionary", [False, True])
def test_blocks_of_any_size_give_the_same_numbers(update_dictionary, X):
    """Whatever the blocks, the window begins and moves on at the same samples."""
    models = []
    for ends in ([0, 43], range(44), [0, 3, 20, 31, 32, 43]):
        models.append(learned(update_dictionary=update_dictionary, **STREAM))
        for i, j in pairwise(ends):
            models[-1].partial_fit(X[i:j])
    for other in models[1:]:
        assert np.array_equal(other.components_, models[0].components_)
        assert np.array_equal(other.transform(X), models[0].transform(X))
        assert_same(other, models[0])


def test_samples_seen_are_those_learnt_from(X):
    model = learned(**STREAM)
    seen = []
    for row in X[:33]:
        model.partial_fit(row[None])
        seen.append(model.n_samples_seen_)
    assert seen == [*range(1, 21), *(20 + 5 * (k // 5) for k in range(1, 14))]


def test_there_is_a_model_from_the_first_sample_on(X):
    model = learned(**STREAM)
    for k, row in enumerate(X[:12]):
        codes = model.partial_fit(row[None]).transform(X[: k + 1])
        assert codes.shape == (k + 1, model.n_components_)


def test_the_first_window_is_learnt_as_by_fit(X):
    stream, whole = learned(**STREAM).partial_fit(X[:20]), learned(**STREAM).fit(X[:20])
    assert np.array_equal(stream.transform(X), whole.transform(X))
    assert np.array_equal(stream.history_, whole.history_)
    assert stream.card_ == whole.card_


@pytest.mark.parametrize("n", [7, 150])
def test_fit_then_go_on(n, X):
    model = learned(**STREAM).fit(X[:n])
    before = model.encoder_
    model.partial_fit(X[n : n + 30])
    assert model.n_samples_seen_ == n + 30
    assert not np.array_equal(before.layers.decoder, model.encoder_.layers.decoder)
    assert_same(model.fit(X), learned(**STREAM).fit(X))


@pytest.mark.parametrize("seen", [7, 20, 33])
def test_a_saved_model_goes_on_as_if_nothing_had_happened(seen, X, tmp_path):
    model = learned(update_dictionary=True, **STREAM).partial_fit(X[:seen])
    model.save(tmp_path / "m.safetensors")
    other = unmingle.load(tmp_path / "m.safetensors")
    assert_same(other, model)
    for rows in (X[seen : seen + 8], X[seen + 8 : seen + 31]):
        model.partial_fit(rows)
        other.partial_fit(rows)
        assert_same(other, model)


def test_follows_a_subspace_that_turns():
    """90 degrees in 1500 samples; a model that learnt from the beginning only is lost at the end."""
    blocks = list(subspace_stream(1500, 30, 3, rotation=90.0, noise=0.05, random_state=0))
    moving, frozen = learned(update_dictionary=True, window=50, window_step=25), learned().fit(blocks[0].X)
    errors = []
    for block in blocks:
        if hasattr(moving, "encoder_"):
            pair = (model.decompose(block.X).low_rank for model in (moving, frozen))
            errors.append([relative_error(low_rank, block.low_rank) for low_rank in pair])
        moving.partial_fit(block.X)
    assert subspace_angle(frozen.components_, block.basis) > 70
    assert subspace_angle(moving.components_, block.basis) < 25
    moved, stayed = np.mean(errors[-5:], axis=0)
    assert moved < 0.6 * stayed


def test_without_the_dictionary_the_layers_alone_learn(X):
    model = learned(**STREAM).partial_fit(X[:100])
    first = learned(**STREAM).fit(X[:20])
    assert np.array_equal(model.components_, first.components_)
    assert not np.array_equal(model.encoder_.layers.decoder, first.encoder_.layers.decoder)


def test_silence_and_nothing_known_are_no_harm(X, new):
    model = learned(update_dictionary=True, **STREAM).partial_fit(X[:60])
    for rows in (np.full((25, M), np.nan), np.zeros((40, M)), np.full((40, M), np.nan), X[:25]):
        model.partial_fit(rows)
        assert np.isfinite(model.transform(new)).all()
    with pytest.raises(ValueError, match="only NaN"):
        learned().partial_fit(np.full((5, M), np.nan))


def test_other_features_and_infinity_are_refused(X):
    model = learned(**STREAM).partial_fit(X[:30])
    before = state_of(model)
    with pytest.raises(ValueError, match="24 features"):
        model.partial_fit(X[:, :5])
    with pytest.raises(ValueError, match="infinity"):
        model.partial_fit(np.full((3, M), np.inf))
    assert state_of(model) == before
