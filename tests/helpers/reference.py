"""Problems (1), (2) and (5) as a general convex solver sees them, and data to try them on."""

import warnings

import numpy as np

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import cvxpy as cp

TIGHT = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


def _solve(objective, constraints=()):
    problem = cp.Problem(cp.Minimize(objective), list(constraints))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver=cp.CLARABEL, **TIGHT)
    return problem.value


def _parts(X):
    observed = ~np.isnan(X)
    L, noise = cp.Variable(X.shape), cp.Variable(X.shape)
    outliers = cp.multiply(observed.astype(float), np.nan_to_num(X) - L - noise)
    return L, cp.multiply(observed.astype(float), noise), outliers


def constrained(X, lam, eps):
    """Minimum of (1) and its low-rank part."""
    L, noise, outliers = _parts(X)
    cost = cp.normNuc(L) + cp.sum(cp.multiply(np.broadcast_to(lam, X.shape), cp.abs(outliers)))
    value = _solve(cost, [noise == 0 if eps == 0 else cp.norm(noise, "fro") <= eps])
    return value, L.value


def unconstrained(X, lam_star, lam):
    """Minimum of (2) and its low-rank part."""
    L, noise, outliers = _parts(X)
    fit = 0.5 * cp.sum_squares(noise) + lam_star * cp.normNuc(L)
    value = _solve(fit + cp.sum(cp.multiply(np.broadcast_to(lam, X.shape), cp.abs(outliers))))
    return value, L.value


def unconstrained_groups(X, lam_star, lam, groups):
    """Minimum of (2) with lam ||o_ig|| for each row i and group g of columns, and its low-rank part."""
    L, noise, outliers = _parts(X)
    fit = 0.5 * cp.sum_squares(noise) + lam_star * cp.normNuc(L)
    lengths = [cp.sum(cp.norm(outliers[:, np.flatnonzero(groups == g)], 2, axis=1)) for g in np.unique(groups)]
    return _solve(fit + lam * cp.sum(cp.hstack(lengths))), L.value


def projection(x, components, lam_star, lam, *, nonnegative_codes=False, nonnegative_outliers=False):
    """Minimum of (5) for one sample and its code."""
    s, o = cp.Variable(len(components), nonneg=nonnegative_codes), cp.Variable(len(x), nonneg=nonnegative_outliers)
    observed = (~np.isnan(x)).astype(float)
    misfit = cp.multiply(observed, np.nan_to_num(x) - components.T @ s - o)
    cost = (
        0.5 * cp.sum_squares(misfit)
        + 0.5 * lam_star * cp.sum_squares(s)
        + cp.sum(cp.multiply(observed * lam, cp.abs(o)))
    )
    return _solve(cost), s.value


def mixture(n, m, rank, *, noise=0.1, missing=0.0, seed=0, dtype=np.float64):
    """Low rank, a tenth of outliers, noise and holes."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m)) / np.sqrt(rank)
    X += np.where(rng.random((n, m)) < 0.1, rng.uniform(-3, 3, (n, m)), 0)
    X += noise * rng.standard_normal((n, m))
    X[rng.random((n, m)) < missing] = np.nan
    return X.astype(dtype)
