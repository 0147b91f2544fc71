import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from unmingle.core.prox import huber, soft_threshold

vectors = arrays(np.float64, 7, elements=st.floats(-1e3, 1e3))
thresholds = st.floats(0, 100)


@given(vectors, thresholds)
def test_soft_threshold_is_the_proximal_map_of_the_absolute_value(x, t):
    def cost(o):
        return 0.5 * (x - o) ** 2 + t * np.abs(o)

    best = soft_threshold(x, t)
    for other in (best - 1e-3, best + 1e-3, x, np.zeros_like(x)):
        assert (cost(best) <= cost(other) + 1e-9 * (1 + cost(other))).all()


@given(vectors, thresholds)
def test_moreau_splits_the_point(x, t):
    projection = x - soft_threshold(x, t)
    assert (np.abs(projection) <= t * (1 + 1e-12) + 1e-9).all()
    assert np.allclose(soft_threshold(x, t) * projection, t * np.abs(soft_threshold(x, t)), rtol=1e-9, atol=1e-9)


@given(vectors, vectors, thresholds)
def test_firmly_nonexpansive(x, y, t):
    p, q = soft_threshold(x, t), soft_threshold(y, t)
    assert np.sum((p - q) ** 2) <= np.sum((p - q) * (x - y)) + 1e-6


@given(vectors, thresholds)
def test_huber_is_what_is_left_after_the_best_outlier(x, t):
    o = soft_threshold(x, t)
    assert np.allclose(huber(x, t), 0.5 * (x - o) ** 2 + t * np.abs(o), rtol=1e-9, atol=1e-9)


def test_huber_slopes_are_the_clipped_residual():
    x, h = np.linspace(-3, 3, 101) + 0.001, 1e-6
    slope = (huber(x + h, 1.0) - huber(x - h, 1.0)) / (2 * h)
    assert np.allclose(slope, np.clip(x, -1, 1), atol=1e-6)


@pytest.mark.parametrize("function", [soft_threshold, huber])
def test_other_arrays_run_the_same_formula(function):
    torch = pytest.importorskip("torch")
    dask = pytest.importorskip("dask.array")
    x = np.linspace(-2, 2, 9)
    expected = function(x, 0.7)
    assert np.allclose(function(torch.from_numpy(x), 0.7).numpy(), expected)
    assert np.allclose(function(dask.from_array(x, chunks=3), 0.7).compute(), expected)
