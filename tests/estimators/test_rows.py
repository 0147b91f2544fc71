"""What ordinary rows are like, held to what is known of made ones."""

import numpy as np
import pytest
from sklearn.covariance import EmpiricalCovariance
from sklearn.decomposition import FactorAnalysis

from unmingle import RobustPCA
from unmingle.estimators.rows import RowModel


def rows(n, m, q, seed, noise=None):
    rng = np.random.default_rng(seed)
    V = np.random.default_rng(99).standard_normal((q, m))
    noise = np.linspace(0.2, 0.6, m) if noise is None else noise
    return 2 + rng.standard_normal((n, q)) @ V + noise * rng.standard_normal((n, m))


def learnt(X, q):
    part = RobustPCA(q + 1).fit(X)
    return RowModel.of(X, part.transform(X), part.components_)


def covariance(model):
    V = model.loadings * model.scale
    return V.T @ V + np.diag((model.noise * model.scale) ** 2)


def test_clean_rows_give_the_covariance_of_factor_analysis():
    X = rows(3000, 8, 2, 0)
    model, theirs = learnt(X, 2), FactorAnalysis(2).fit(X)
    ours = covariance(model)
    assert np.allclose(
        ours / np.mean(np.diag(ours) / np.diag(theirs.get_covariance())), theirs.get_covariance(), atol=0.1
    )
    assert np.allclose(model.centre * model.scale, X.mean(axis=0), atol=0.05)


@pytest.mark.parametrize("m", [10, 40])
def test_bad_rows_do_not_bend_it(m):
    X = rows(1000, m, 3, 1)
    clean = covariance(learnt(X, 3))
    X[:150] = 10 * np.random.default_rng(2).standard_normal((150, m))
    dirty = covariance(learnt(X, 3))
    assert np.linalg.norm(dirty - clean) < 0.15 * np.linalg.norm(clean)
    plain = EmpiricalCovariance().fit(X).covariance_
    assert np.linalg.norm(plain - clean) > 0.5 * np.linalg.norm(clean)


def test_scores_do_not_depend_on_the_units_of_columns():
    X, units = rows(400, 12, 2, 3), np.geomspace(1e-3, 1e3, 12)
    part = RobustPCA(3).fit(X)
    codes = part.transform(X)
    one = RowModel.of(X, codes, part.components_).score(X)
    other = RowModel.of(X * units, codes, part.components_ * units).score(X * units)
    assert np.allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize(("m", "q"), [(5, 1), (10, 2), (60, 4)])
def test_thresholds_keep_the_rate_of_false_alarms(m, q):
    rates = []
    for seed in range(4):
        model = learnt(rows(1000, m, q, seed), q)
        scores = model.score(rows(5000, m, q, seed + 50))
        rates.append([np.mean(scores < model.threshold(rate)) / rate for rate in (0.1, 0.01)])
    assert np.mean(rates, axis=0) == pytest.approx(1.0, abs=0.4)


def test_scores_fall_with_the_size_of_every_fault():
    X = rows(500, 20, 2, 5)
    model, good = learnt(X, 2), rows(1, 20, 2, 6)
    sizes = [0.0, 2.0, 8.0, 1e3, 1e30]
    cell, shift = np.zeros(20), np.ones(20)
    cell[3] = 1
    for fault in (cell, shift):
        scores = np.concatenate([model.score(good + size * fault) for size in sizes])
        assert np.isfinite(scores).all()
        assert (np.diff(scores) <= 0).all()
        assert scores[2] < model.threshold(1e-3)
