"""Thresholding through the Gram matrix against the full SVD."""

import numpy as np
import pytest

from unmingle.core.linalg.norms import gram_of_shorter_side
from unmingle.core.linalg.thresholding import gram_threshold


def full_threshold(M, t):
    u, s, vt = np.linalg.svd(M.astype(np.float64), full_matrices=False)
    return (u * np.maximum(s - t, 0)) @ vt


@pytest.mark.parametrize("shape", [(40, 90), (90, 40), (30, 30), (1, 7), (7, 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 1.1])
def test_it_is_the_full_svd(shape, dtype, share, rng):
    M = (rng.standard_normal(shape) + 3.0).astype(dtype)
    t = share * np.linalg.norm(M.astype(np.float64), 2)
    found = gram_threshold(M, t)
    expected = full_threshold(M, t)
    assert found.left.dtype == found.values.dtype == found.right.dtype == dtype
    assert (found.values > 0).all()
    assert np.abs(found.scaled_left @ found.right - expected).max() <= 2e3 * np.finfo(dtype).eps * np.abs(M).max()
    assert np.allclose(found.left.T @ found.left, np.eye(found.rank), atol=1e3 * np.finfo(dtype).eps)
    assert np.allclose(found.right @ found.right.T, np.eye(found.rank), atol=1e3 * np.finfo(dtype).eps)


def test_values_that_squares_do_not_know_come_from_the_svd(rng):
    left, right = (np.linalg.qr(rng.standard_normal((20, 3)))[0] for _ in range(2))
    M = (left * [1.0, 1e-6, 1e-9]) @ right.T
    found = gram_threshold(M, 1e-10)
    assert found.rank == 3
    assert np.allclose(found.values, np.array([1.0, 1e-6, 1e-9]) - 1e-10, rtol=1e-6)


@pytest.mark.parametrize("shape", [(5, 3000), (3000, 5)])
def test_the_gram_matrix_is_summed_in_float64(shape, rng):
    M = (rng.standard_normal(shape) + 100.0).astype(np.float32)
    wide = M.astype(np.float64)
    expected = wide @ wide.T if shape[0] < shape[1] else wide.T @ wide
    assert np.allclose(gram_of_shorter_side(M), expected, rtol=1e-13)
