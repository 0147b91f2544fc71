"""The same samples from anywhere give `OnlineRobustPCA` the same numbers."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import zarr
from stream_samples import rows_of

from unmingle import OnlineRobustPCA
from unmingle.metrics import subspace_angle


@pytest.fixture(scope="module")
def X():
    return rows_of(700)[0]


@pytest.fixture(scope="module")
def expected(X):
    return OnlineRobustPCA(random_state=0).fit(X).components_


@pytest.fixture(scope="module")
def check(expected):
    def check_source(source):
        assert np.array_equal(OnlineRobustPCA(random_state=0).fit(source).components_, expected)

    return check_source


def test_blocks_of_any_size(X, check):
    ends = [0, 1, 4, 4, 100, 333, 700]
    check(X[i:j] for i, j in pairwise(ends))


def test_single_samples(X, check):
    check(iter(X))


def test_list_of_blocks(X, check):
    check([X[:300], X[300:]])


def test_nested_lists(X, check):
    check(X.tolist())


def test_frame(X, check):
    check(pd.DataFrame(X, columns=[f"sensor {k}" for k in range(60)]))


def test_memory_map(tmp_path, X, check):
    np.save(tmp_path / "X.npy", X)
    check(np.load(tmp_path / "X.npy", mmap_mode="r"))


@pytest.mark.parametrize("chunk", [37, 64, 1000])
def test_zarr(tmp_path, chunk, X, check):
    array = zarr.create_array(tmp_path / "X.zarr", shape=X.shape, chunks=(chunk, 60), dtype="f8")
    array[:] = X
    check(zarr.open_array(tmp_path / "X.zarr", mode="r"))


def test_partial_fit_in_batches(X, expected):
    model = OnlineRobustPCA(random_state=0)
    for start in range(0, 700, 100):
        model.partial_fit(X[start : start + 100])
    assert np.array_equal(model.components_, expected)


def test_partial_fit_sample_by_sample_ends_near(X, expected):
    model = OnlineRobustPCA(random_state=0)
    for row in X:
        model.partial_fit(row)
    assert model.n_samples_seen_ == 700
    assert subspace_angle(model.components_, expected) < 0.5
