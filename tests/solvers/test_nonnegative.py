"""Robust projection with nonnegative codes: optimality, certificates, and corners where atoms or data are strange."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from unmingle.core import objective
from unmingle.core.iterate import run
from unmingle.core.solvers.nonnegative import nonnegative_newton


def gaps(X, components, codes, lam_star, lam, signed):
    return objective.projection_gap(
        X, components, codes, lam_star, lam, nonnegative_codes=True, nonnegative_outliers=not signed
    )


def costs(X, components, codes, lam_star, lam, signed):
    misfit = np.nan_to_num(X - codes @ components)
    outliers = misfit - np.clip(misfit, -lam if signed else -np.inf, lam)
    return objective.projection(X, components, codes, outliers, lam_star, lam)


def made(rng, n, m, q, *, outliers=0.2, missing=0.1, decades=0.0, signed=False):
    """Atoms, samples of them with outliers, the noise level."""
    components = rng.gamma(0.5, 1.0, (q, m)) * 10.0 ** rng.uniform(-decades / 2, decades / 2, (q, 1))
    codes = rng.exponential(1.0, (n, q)) * (rng.random((n, q)) < 0.5) / np.linalg.norm(components, axis=1)
    X = codes @ components
    sigma = 0.1 * X.mean()
    X += sigma * rng.standard_normal(X.shape)
    sign = rng.choice([-1, 1], X.shape) if signed else 1
    X += np.where(rng.random(X.shape) < outliers, sign * rng.uniform(0, 50 * sigma, X.shape), 0)
    X[rng.random(X.shape) < missing] = np.nan
    return components, X, sigma


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize(("m", "q"), [(15, 3), (12, 6), (5, 8)])
def test_minimum_of_5_with_nonnegative_codes(m, q, missing, signed, rng):
    components, X, sigma = made(rng, 6, m, q, missing=missing, decades=1, signed=signed)
    lam_star, lam = 0.3, sigma * rng.uniform(0.5, 3, m)
    best = [
        reference.projection(x, components, lam_star, lam, nonnegative_codes=True, nonnegative_outliers=not signed)
        for x in X
    ]
    state = next(nonnegative_newton(X, components, lam_star, lam, signed_outliers=signed))
    assert (state.codes >= 0).all()
    assert (state.codes == 0).any()
    assert np.allclose(
        costs(X, components, state.codes, lam_star, lam, signed), [value for value, _ in best], rtol=1e-6
    )
    assert np.allclose(state.codes, [code for _, code in best], atol=1e-4)


def test_without_outliers_it_is_nonnegative_least_squares(rng):
    components, X, _ = made(rng, 20, 40, 7, outliers=0.0, missing=0.0)
    ridge = 1e-3
    tall = np.vstack([components.T, np.sqrt(ridge) * np.eye(7)])
    wanted = [nnls(tall, np.concatenate([x, np.zeros(7)]))[0] for x in X]
    found = next(nonnegative_newton(X, components, ridge, np.full(40, 1e9))).codes
    assert np.allclose(found, wanted, atol=1e-9)


def test_one_atom_in_closed_form():
    """x = 3 and 100 on equal weights: the first is fitted, the second is an outlier that pulls by lam only."""
    found = next(nonnegative_newton(np.array([[3.0, 100.0]]), np.ones((1, 2)), 1.0, np.full(2, 2.0)))
    assert np.allclose(found.codes, [[(3.0 + 2.0) / 2]])


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    m=st.integers(5, 200),
    q=st.integers(1, 60),
    outliers=st.floats(0, 0.6),
    missing=st.floats(0, 0.3),
    signed=st.booleans(),
    small=st.floats(-2, 1),
)
def test_every_sample_is_certified(seed, m, q, outliers, missing, signed, small):
    rng = np.random.default_rng(seed)
    components, X, sigma = made(rng, 12, m, q, outliers=outliers, missing=missing, decades=3, signed=signed)
    lam, lam_star = sigma * rng.uniform(0.5, 3, m), sigma * 10.0**small * (np.sqrt(m) + np.sqrt(12))
    iterates = nonnegative_newton(X, components, lam_star, lam, signed_outliers=signed, tol=1e-10)
    codes = run(iterates, lambda p: p.gap.max(), tol=1e-8, max_iter=10).state.codes
    assert (codes >= 0).all()
    assert gaps(X, components, codes, lam_star, lam, signed).max() <= 1e-8


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("lam_star", [1e-6, 1.0])
def test_strange_atoms_and_strange_samples(signed, lam_star, rng):
    m = 30
    components = rng.random((50, m))
    components[3], components[4] = 0, components[5]
    components[6], components[7] = 1e3 * components[8], 1e-3 * components[9]
    X = rng.random((8, m))
    X[0], X[1], X[2], X[3] = np.nan, 0, -X[2], 1e3 * X[3]
    X[4], X[5, 1:] = 1e20 * components[8], np.nan
    lam = np.full(m, 0.05)
    iterates = nonnegative_newton(X, components, lam_star, lam, signed_outliers=signed, tol=1e-10)
    result = run(iterates, lambda p: p.gap.max(), tol=1e-8, max_iter=20)
    codes = result.state.codes
    assert result.converged
    assert np.isfinite(codes).all()
    assert (codes >= 0).all()
    assert not codes[:3].any()
    assert not codes[:, 3].any()
    assert np.allclose(codes[:, 4], codes[:, 5], atol=1e-6 * codes.max(axis=1, keepdims=True))
    assert gaps(X, components, codes, lam_star, lam, signed).max() <= 1e-8


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("signed", [False, True])
def test_warm_and_cold_come_to_the_same_codes(dtype, signed, rng):
    components, X, sigma = made(rng, 37, 60, 6, signed=signed)
    components, X, lam = components.astype(dtype), X.astype(dtype), np.full(60, 2 * sigma, dtype)
    components.setflags(write=False)
    X.setflags(write=False)
    cold = next(nonnegative_newton(X, components, 0.5, lam, signed_outliers=signed))
    start = (cold.codes + rng.standard_normal(cold.codes.shape)).astype(dtype)
    warm = next(nonnegative_newton(X, components, 0.5, lam, start, signed_outliers=signed))
    assert cold.codes.dtype == warm.codes.dtype == dtype
    assert cold.gap.max() < (1e-12 if dtype == np.float64 else 1e-4)
    assert np.allclose(cold.codes, warm.codes, atol=1e-9 if dtype == np.float64 else 1e-3)


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
def test_an_unfinished_run_reports_its_own_gap_and_costs_fall(steps, rng):
    components, X, sigma = made(rng, 40, 60, 9, outliers=0.5, decades=2)
    lam, last = np.full(60, 0.5 * sigma), np.inf
    iterates = nonnegative_newton(X, components, 0.1, lam, max_steps=steps)
    for state, _ in zip(iterates, range(6), strict=False):
        assert np.allclose(state.gap, gaps(X, components, state.codes, 0.1, lam, False), rtol=1e-6, atol=1e-9)
        cost = costs(X, components, state.codes, 0.1, lam, False)
        assert (cost <= last * (1 + 1e-12)).all()
        last = cost


def test_rows_do_not_depend_on_their_neighbours(rng):
    components, X, sigma = made(rng, 40, 60, 9)
    lam = np.full(60, sigma)
    whole = next(nonnegative_newton(X, components, 0.1, lam)).codes
    alone = [next(nonnegative_newton(x[None], components, 0.1, lam)).codes[0] for x in X]
    assert np.allclose(whole, alone, rtol=1e-9, atol=1e-12)
