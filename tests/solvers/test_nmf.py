"""Robust nonnegative factorisation: descent, stationarity, recovery, and the sweep written out in NumPy."""

from itertools import islice

import numpy as np
import pytest
from sklearn.decomposition import non_negative_factorization

from unmingle.core import objective
from unmingle.core.iterate import run
from unmingle.core.solvers.criteria import StationarityCriterion
from unmingle.core.solvers.nmf import nmf_iterates
from unmingle.core.solvers.nonnegative import nonnegative_newton
from unmingle.kernels.factors import nonnegative_sweep

SIGMA = 0.05


def planted(n, m, q, *, outliers=0.1, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    product = rng.gamma(1.0, 1.0, (n, q)) @ rng.gamma(1.0, 1.0, (q, m)) / np.sqrt(q)
    X = product + SIGMA * rng.standard_normal((n, m))
    X += np.where(rng.random((n, m)) < outliers, rng.uniform(0, 10 * product.mean(), (n, m)), 0)
    X[rng.random((n, m)) < missing] = np.nan
    return np.maximum(X, 0), product


def penalties(X):
    n, m = X.shape
    lam_star = SIGMA * (np.sqrt(n) + np.sqrt(m))
    return lam_star, np.full(m, lam_star / np.sqrt(max(n, m)), X.dtype)


def solved(X, lam_star, lam, q, tol, *, init="nndsvd", max_iter=2000):
    seen = []
    iterates = nmf_iterates(X, lam_star, lam, n_components=q, init=init, rng=np.random.default_rng(0))
    kept = (seen.append(state.objective) or state for state in iterates)
    return run(kept, StationarityCriterion(X, lam_star, lam, tol), tol=tol, max_iter=max_iter), np.array(seen)


def cost(X, codes, components, lam_star, lam):
    outliers = np.maximum(np.nan_to_num(X - codes @ components) - lam, 0)
    return objective.factored(X, components, codes, outliers, lam_star, lam)


@pytest.mark.parametrize("init", ["nndsvd", "random", "rows"])
@pytest.mark.parametrize(("dtype", "tol", "rounding"), [(np.float64, 1e-6, 1e-14), (np.float32, 1e-4, 1e-7)])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_planted_factors_are_found_from_every_start(init, dtype, tol, rounding, missing):
    X, product = planted(150, 120, 4, missing=missing)
    X = X.astype(dtype)
    lam_star, lam = penalties(X)
    rows = np.nan_to_num(X[:4]) if init == "rows" else init
    result, values = solved(X, lam_star, lam, 4, tol, init=rows)
    codes, components = result.state.codes, result.state.components
    assert result.converged
    assert objective.nonnegative_stationarity(X, components, codes, lam_star, lam) <= tol
    assert (np.diff(values) <= rounding * values[1:]).all()
    assert codes.dtype == components.dtype == dtype
    assert min(codes.min(), components.min()) >= 0
    assert np.linalg.norm(codes @ components - product) < (0.06 if missing else 0.02) * np.linalg.norm(product)
    assert np.isclose(result.state.objective, cost(X, codes, components, lam_star, lam), rtol=1e-5)


def test_iterates_are_balanced_and_sorted_and_the_data_are_left_alone():
    X, _ = planted(60, 90, 5, missing=0.1)
    X.setflags(write=False)
    lam_star, lam = penalties(X)
    for state in islice(nmf_iterates(X, lam_star, lam, n_components=5, rng=np.random.default_rng(0)), 20):
        norms = np.linalg.norm(state.components, axis=1)
        assert np.allclose(norms, np.linalg.norm(state.codes, axis=0))
        assert (np.diff(norms) <= 1e-12).all()


def test_the_answer_is_the_exact_projection_in_both_factors():
    """At a stationary point codes are the projection onto the components, and these that of the columns on codes."""
    X, _ = planted(80, 60, 3)
    lam_star, lam = penalties(X)
    state = solved(X, lam_star, lam, 3, 1e-9)[0].state
    codes = next(nonnegative_newton(X, state.components, lam_star, lam)).codes
    columns = np.ascontiguousarray(X.T)
    atoms = next(nonnegative_newton(columns, state.codes.T, lam_star, np.full(80, lam[0]))).codes
    assert np.allclose(codes, state.codes, atol=1e-6)
    assert np.allclose(atoms, state.components.T, atol=1e-6)


def test_without_outliers_it_is_no_worse_than_scikit_learn():
    X, _ = planted(120, 90, 5, outliers=0)
    (n, m), (lam_star, _) = X.shape, penalties(X)
    lam = np.full(m, 1e9)
    start = np.random.default_rng(1).random((5, m))
    state = solved(X, lam_star, lam, 5, 1e-6, init=start)[0].state
    first = next(nonnegative_newton(X, start, lam_star, lam)).codes
    how = {"alpha_W": lam_star / m, "alpha_H": lam_star / n, "l1_ratio": 0, "tol": 1e-8, "max_iter": 5000}
    codes, components, _ = non_negative_factorization(
        X, first.copy(), start.copy(), n_components=5, init="custom", **how
    )
    assert state.objective <= 1.001 * cost(X, codes, components, lam_star, lam)


def test_superfluous_atoms_do_no_harm():
    X, product = planted(100, 80, 2)
    lam_star, lam = penalties(X)
    state = solved(X, lam_star, lam, 6, 1e-6, init="random")[0].state
    assert np.linalg.norm(state.codes @ state.components - product) < 0.05 * np.linalg.norm(product)


@pytest.mark.parametrize("init", ["nndsvd", "random"])
@pytest.mark.parametrize(("n", "m", "q"), [(1, 7, 3), (7, 1, 2), (5, 4, 9), (30, 20, 1)])
def test_odd_shapes_and_empty_parts(n, m, q, init):
    X = np.random.default_rng(0).random((n, m))
    X[0, 0] = np.nan
    X[:, -1] = 0 if m > 1 else X[:, -1]
    lam = np.full(m, 0.1)
    result, values = solved(X, 0.05, lam, q, 1e-6, init=init, max_iter=5000)
    assert result.converged
    assert np.isfinite(result.state.codes).all()
    assert (np.diff(values) <= 1e-14 * values[1:]).all()


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_nothing_there_gives_nothing(value):
    X = np.full((6, 5), value)
    state = next(islice(nmf_iterates(X, 1.0, np.ones(5), n_components=2, rng=np.random.default_rng(0)), 50, None))
    assert np.allclose(state.codes @ state.components, 0, atol=1e-6)


def test_same_data_same_bits():
    X, _ = planted(70, 50, 4)
    lam_star, lam = penalties(X)
    first, second = (
        next(islice(nmf_iterates(X.copy(), lam_star, lam, n_components=4, rng=np.random.default_rng(0)), 40, None))
        for _ in range(2)
    )
    assert np.array_equal(first.codes, second.codes)
    assert np.array_equal(first.components, second.components)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_the_sweep_is_that_of_numpy(elsewhere, rng):
    X, _ = planted(150, 40, 3, missing=0.1)
    lam_star, lam = penalties(X)
    codes, components, ahead, atoms = (
        rng.random((150, 3)),
        rng.random((3, 40)),
        rng.random((150, 3)),
        rng.random((40, 3)),
    )
    gram = atoms.T @ atoms + lam_star * np.eye(3)
    new, gathered = np.empty_like(codes), np.empty_like(components)
    point = (codes, components) if elsewhere else (ahead, components[:0])
    start = (ahead, atoms, gram, new, gathered)
    value = nonnegative_sweep(X, lam, lam_star, *point, *start, 2)
    residual = np.nan_to_num(np.minimum(X - ahead @ atoms.T, lam))
    wanted, cleaned = ahead.copy(), ahead @ atoms.T + residual
    for _ in range(2):
        for k in range(3):
            others = wanted @ atoms.T - np.outer(wanted[:, k], atoms[:, k])
            wanted[:, k] = np.maximum((cleaned - others) @ atoms[:, k] / gram[k, k], 0)
    valued = cost(X, *((codes, components) if elsewhere else (ahead, atoms.T)), 0.0, lam)
    assert np.isclose(value, valued)
    assert np.allclose(new, wanted)
    assert np.allclose(gathered, wanted.T @ residual)


def test_stationarity_written_out(rng):
    X, S, U, lam_star, lam = rng.random((700, 8)), rng.random((700, 2)), rng.random((2, 8)), 0.5, np.full(8, 0.2)
    X[3, 4], S[5, 1], U[0, 2] = np.nan, 0, 0
    R = np.where(np.isnan(X), 0, np.minimum(X - S @ U, lam))
    parts = []
    for V, g, c in (
        (S, lam_star * S - R @ U.T, lam_star + (U**2).sum(axis=1)),
        (U.T, lam_star * U.T - R.T @ S, lam_star + (S**2).sum(axis=0)),
    ):
        parts.append(np.sum((c * (V - np.maximum(V - g / c, 0))) ** 2))
    wanted = np.sqrt(sum(parts)) / (lam_star * np.sqrt((S**2).sum() + (U**2).sum()))
    assert np.isclose(objective.nonnegative_stationarity(X, U, S, lam_star, lam), wanted)
