"""Encoders of sequences: what they are made of, what they refuse, and how they are kept."""

import numpy as np
import pytest

import unmingle
from unmingle.core.encoder.sequence import SequenceEncoder


@pytest.fixture
def samples():
    return np.abs(np.random.default_rng(0).standard_normal((50, 12))).astype(np.float32)


@pytest.fixture
def encoder(samples):
    return SequenceEncoder.from_samples(samples, n_components=8, n_layers=2)


def test_the_start_has_unit_atoms_and_memories_of_all_lengths(encoder):
    assert np.allclose(np.linalg.norm(encoder.cell.decoder, axis=2), 1)
    faded = np.prod([np.diag(G) for G in encoder.cell.feedback], axis=0)
    assert np.allclose(np.unique(faded.round(6)), [0.1, 0.7, 0.95])
    assert (encoder.n_features, encoder.n_components, encoder.n_layers) == (12, 8, 2)
    assert encoder.n_weights == 2 * (2 * 8 * 12 + 12 + 64 + 8) + 2 * (8 * 12 + 12) + 12 + 1


def test_blocks_of_any_length_give_the_same_bits(encoder, samples):
    whole = encoder.encode(samples)
    state, parts = None, []
    for block in np.split(samples, [1, 2, 9, 9, 40]):
        codes = encoder.encode(block, state=state)
        state = codes[-1] if len(codes) else state
        parts.append(codes)
    assert np.array_equal(np.concatenate(parts), whole)


def test_parts_of_nothing_keep_the_state(encoder, samples):
    state = encoder.separate(samples).state
    found = encoder.separate(samples[:0], state=state)
    assert found.background.shape == (0, 12)
    assert np.array_equal(found.state, state)
    assert not encoder.separate(samples[:0]).state.any()


def test_what_is_loud_beyond_both_parts_is_foreground(encoder, samples):
    loud = samples.copy()
    loud[30, 4] += 50
    plain, found = encoder.separate(samples), encoder.separate(loud)
    share = [parts.foreground**2 / (parts.foreground**2 + parts.background**2) for parts in (plain, found)]
    assert share[1][30, 4] > 0.9 > share[0][30, 4]


@pytest.mark.parametrize("half", [False, True])
def test_saved_and_loaded(encoder, samples, tmp_path, half):
    path = tmp_path / "network.safetensors"
    if half:
        content = encoder._to_store()
        content = {
            group: {name: part.astype(np.float16) for name, part in parts.items()} for group, parts in content.items()
        }
        unmingle.store.save(path, "SequenceEncoder", content)
    else:
        encoder.save(path)
    found = unmingle.load(path)
    assert found.dtype == np.float32
    assert np.allclose(found.encode(samples), encoder.encode(samples), atol=0 if not half else 0.02)


def test_there_is_no_gap(encoder, samples):
    with pytest.raises(ValueError, match=r"solves no problem .* for certificates use an Encoder"):
        encoder.gap(samples, encoder.encode(samples))


@pytest.mark.parametrize(
    ("X", "state", "message"),
    [
        (np.ones((3, 5)), None, "X must have 12 columns"),
        (np.full((3, 12), np.nan), None, "finite numbers"),
        (np.ones((3, 12)), np.ones(5), "state must be 8 finite numbers"),
        (np.ones((3, 12)), np.full(8, np.inf), "state must be 8 finite numbers"),
    ],
)
def test_what_does_not_fit_is_refused(encoder, X, state, message):
    with pytest.raises(ValueError, match=message):
        encoder.encode(X, state=state)


def test_arrays_that_do_not_fit_are_refused(encoder):
    cell, head = encoder.cell, encoder.head
    with pytest.raises(ValueError, match="shapes do not fit"):
        SequenceEncoder(cell._replace(bias=cell.bias[:1]), head)
    with pytest.raises(ValueError, match="all be of float32"):
        SequenceEncoder(cell._replace(bias=cell.bias.astype(np.float64)), head)
    with pytest.raises(ValueError, match="must be finite"):
        SequenceEncoder(cell._replace(bias=cell.bias * np.float32(np.nan)), head)
    with pytest.raises(ValueError, match="must not be negative"):
        SequenceEncoder(cell._replace(threshold=cell.threshold - 9), head)
