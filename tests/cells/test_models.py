"""Estimators that know single cells: scales of columns, components without penalties, flags of new samples."""

import numpy as np
import pandas as pd
import pytest
from faulty_tables import made

import unmingle
from unmingle import OnlineRobustPCA, RobustNMF, RobustPCA, decompose
from unmingle.core.cells.model import CellModel
from unmingle.core.cells.tails import TailLaws


def parts_made(n, m, rank, seed=0):
    """A nonnegative table with faults that add, the table without them, and where they are."""
    rng = np.random.default_rng(seed)
    parts = np.random.default_rng(99).gamma(1.0, 1.0, (rank, m))
    L = rng.gamma(1.0, 4.0, (n, rank)) @ parts
    X = np.maximum(L + rng.standard_normal((n, m)), 0)
    bad = rng.random((n, m)) < 0.02
    X[bad] += rng.uniform(8, 40, np.count_nonzero(bad))
    return X, L, bad


def quality(flags, bad):
    return np.mean(bad[flags]), np.mean(flags[bad])


def test_flags_of_new_samples_are_as_good_as_those_of_a_table():
    X, L, bad = made(1200, 25, 3)
    units = 10 ** np.random.default_rng(0).uniform(-2, 2, 25)
    X, L = X * units, L * units
    model = RobustPCA(scale="columns", debias=True, random_state=0).fit(X[:600])
    part = model.decompose(X[600:], debias=True)
    precision, recall = quality(part.flags(), bad[600:])
    assert precision > 0.9
    assert recall > 0.95
    plain = model.decompose(X[600:])
    assert np.array_equal(plain.flags(), part.flags())
    assert np.array_equal(plain.outliers, part.outliers)
    error, shrunk = (np.linalg.norm((p.low_rank - L[600:]) / units) for p in (part, plain))
    assert error < 0.9 * shrunk
    whole = decompose(X, scale="columns", debias=True, random_state=0)
    assert error < 1.1 * np.linalg.norm((whole.low_rank[600:] - L[600:]) / units)


def test_scale_is_that_of_the_divided_table():
    X, _, _ = made(300, 12, 1)
    units = 10 ** np.random.default_rng(0).uniform(-2, 2, 12)
    scaled = RobustPCA(scale="columns", random_state=0).fit(X * units)
    scales = scaled.column_scale_
    plain = RobustPCA(random_state=0).fit(X * units / scales)
    new = X[:40] * units
    assert np.allclose(scaled.transform(new), plain.transform(new / scales), rtol=1e-6, atol=1e-9)
    ours, theirs = scaled.decompose(new), plain.decompose(new / scales)
    assert np.allclose(ours.outliers, theirs.outliers * scales)
    assert np.allclose(ours.low_rank, theirs.low_rank * scales)
    assert ours.objective == pytest.approx(theirs.objective)
    assert np.allclose(ours.sample_gap, theirs.sample_gap, atol=1e-9)
    assert np.allclose(scaled.score_samples(new), plain.score_samples(new / scales))
    assert np.allclose(scaled.explained_variance_ratio_, plain.explained_variance_ratio_)
    assert np.allclose(scaled.singular_values_, plain.singular_values_)


def test_nonnegative_parts_without_their_penalties():
    X, L, bad = parts_made(800, 30, 3)
    model = RobustNMF(3, debias=True, scale="columns", random_state=0).fit(X)
    assert (model.cells_.components >= 0).all()
    new, true, hit = parts_made(300, 30, 3, seed=1)
    for data, truth, faults in ((X, L, bad), (new, true, hit)):
        part, plain = model.decompose(data, debias=True), model.decompose(data)
        assert (part.codes >= 0).all()
        precision, recall = quality(part.flags(), faults)
        assert precision > 0.9
        assert recall > 0.95
        assert np.linalg.norm(part.low_rank - truth) < 0.8 * np.linalg.norm(plain.low_rank - truth)


def test_only_what_adds_is_flagged_where_outliers_only_add():
    X, _, _ = parts_made(500, 20, 2)
    model = RobustNMF(2, debias=True, random_state=0).fit(X)
    row = X[:1].copy()
    row[0, 3] += 100
    assert model.decompose(row).flags()[0, 3]
    row[0, 3] = 0.0
    assert model.decompose(row).significance[0, 3] < -3
    assert not model.decompose(row).flags()[0, 3]


@pytest.mark.parametrize("nonnegative", [False, True])
def test_codes_of_rows_solve_their_problem(nonnegative):
    """Against lstsq and nnls of SciPy, row by row."""
    from scipy.optimize import nnls

    rng = np.random.default_rng(0)
    V, noise = rng.gamma(1.0, 1.0, (3, 15)), rng.uniform(0.5, 2, 15)
    laws = TailLaws(np.full(15, 30.0), np.ones(15))
    model = CellModel(V, noise, rng.standard_normal(3), laws, nonnegative)
    X, w = rng.standard_normal((20, 15)) * 3, (rng.random((20, 15)) < 0.8).astype(float)
    codes, _ = model.row_codes(X, w, np.ones((20, 3)))
    for x, weight, code in zip(X, w, codes, strict=True):
        A, b = (V * np.sqrt(weight) / noise).T, np.sqrt(weight) * x / noise
        if nonnegative:
            best = nnls(A, b)[0]
            assert np.linalg.norm(A @ code - b) <= (1 + 1e-4) * np.linalg.norm(A @ best - b)
        else:
            best = np.linalg.lstsq(np.vstack([A, np.eye(3)]), np.append(b, model.centre), rcond=None)[0]
            assert np.allclose(code, best)


@pytest.mark.parametrize("model", [RobustPCA, RobustNMF])
def test_files_keep_cells(tmp_path, model):
    X, _, _ = parts_made(200, 12, 2)
    fitted = model(2, scale="columns", debias=True, random_state=0).fit(pd.DataFrame(X, columns=list("abcdefghijkl")))
    fitted.save(tmp_path / "m.safetensors")
    loaded = unmingle.load(tmp_path / "m.safetensors")
    new = pd.DataFrame(parts_made(50, 12, 2, seed=3)[0], columns=list("abcdefghijkl"))
    ours, theirs = (m.decompose(new, debias=True) for m in (fitted, loaded))
    assert theirs.flags().equals(ours.flags())
    assert theirs.low_rank.equals(ours.low_rank)
    assert theirs.outliers.equals(ours.outliers)
    again = loaded.set_params(scale=None, debias=False).fit(new)
    assert again.column_scale_ is None
    assert again.cells_ is None


def test_models_without_cells_say_so():
    X, _, _ = parts_made(100, 8, 1)
    for model in (RobustPCA(random_state=0), RobustNMF(random_state=0), OnlineRobustPCA(random_state=0)):
        model.fit(X)
        with pytest.raises(ValueError, match="need a model fitted with debias=True"):
            model.decompose(X[:5], debias=True)
    with pytest.raises(ValueError, match="scale must be None or 'columns'"):
        RobustNMF(scale="rows").fit(X)
