"""Streams with known truth."""

import numpy as np
import pytest

from unmingle.metrics import subspace_angle
from unmingle.synth import nonnegative_stream


def test_a_nonnegative_stream_is_a_mixture_of_the_parts_it_tells():
    blocks = list(nonnegative_stream(250, 40, 3, outlier_fraction=0.1, noise=0.0, block_size=100, random_state=0))
    assert [len(block.X) for block in blocks] == [100, 100, 50]
    for block in blocks:
        assert (block.low_rank <= block.X).all()
        assert np.mean(block.low_rank < block.X) == pytest.approx(0.1, abs=0.02)
        codes = np.linalg.lstsq(block.basis.T, block.low_rank.T, rcond=None)[0]
        assert codes.min() > -1e-12
        assert np.allclose(block.basis.T @ codes, block.low_rank.T)
    assert np.std(np.concatenate([block.low_rank for block in blocks])) == pytest.approx(1, rel=0.25)


@pytest.mark.parametrize(("drift", "least", "most"), [(0.0, 0.0, 1e-6), (0.5, 40.0, 70.0), (1.0, 80.0, 90.0)])
def test_parts_change_as_far_as_asked(drift, least, most):
    first, *_, last = nonnegative_stream(2000, 100, 5, drift=drift, random_state=0)
    assert least <= subspace_angle(first.basis, last.basis) <= most
    assert last.basis.min() >= 0
    assert np.allclose(np.linalg.norm(last.basis, axis=1), 1)


def test_noise_makes_nothing_negative_and_the_type_is_as_asked():
    block = next(nonnegative_stream(100, 40, 3, noise=1.0, dtype=np.float32, random_state=0))
    assert block.X.min() == 0
    assert {part.dtype for part in (block.X, block.low_rank, block.basis)} == {np.dtype(np.float32)}


@pytest.mark.parametrize(("options", "message"), [({"drift": 1.5}, "drift must lie"), ({"rank": 30}, "rank must lie")])
def test_what_cannot_be_gets_one_sentence(options, message):
    with pytest.raises(ValueError, match=message):
        next(nonnegative_stream(**{"n": 100, "m": 40, "rank": 3, **options}))
