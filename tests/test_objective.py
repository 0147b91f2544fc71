from itertools import islice

import numpy as np
import pytest
import reference

from unmingle.core import objective
from unmingle.core.linalg.low_rank import LowRank
from unmingle.core.prox import soft_threshold
from unmingle.core.solvers.proximal import alternating_iterates, proximal_iterates


def truncated(X, rank):
    u, s, vt = np.linalg.svd(np.nan_to_num(X), full_matrices=False)
    return LowRank(u[:, :rank].copy(), s[:rank].copy(), vt[:rank].copy())


def dense(low_rank):
    return low_rank.scaled_left @ low_rank.right


def test_values_agree_with_each_other(rng):
    X = reference.mixture(9, 7, 2, missing=0.1)
    L = truncated(X, 3)
    outliers = np.nan_to_num(soft_threshold(X - dense(L), 0.3))
    codes, components = L.balanced()
    convex = objective.unconstrained(X, dense(L), outliers, 0.4, 0.3)
    assert np.isclose(objective.factored(X, components, codes, outliers, 0.4, 0.3), convex)
    certificate = objective.certify_unconstrained(X, L, 0.4, np.full(7, 0.3))
    assert np.isclose(certificate.objective, convex)


def test_unbalanced_factors_cost_more():
    X = reference.mixture(9, 7, 2)
    codes, components = truncated(X, 3).balanced()
    outliers = np.zeros_like(X)
    balanced = objective.factored(X, components, codes, outliers, 0.4, 0.3)
    assert objective.factored(X, 2 * components, codes / 2, outliers, 0.4, 0.3) > balanced


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("rank", [0, 1, 3, 8])
def test_gap_of_2_bounds_the_true_distance(rank, missing):
    X = reference.mixture(12, 9, 2, missing=missing)
    lam_star, lam = 1.5, np.full(9, 0.4)
    best, _ = reference.unconstrained(X, lam_star, lam)
    certificate = objective.certify_unconstrained(X, truncated(X, rank), lam_star, lam)
    assert certificate.bound <= best * (1 + 1e-7)
    assert certificate.objective >= best * (1 - 1e-7)


def test_gap_of_2_holds_along_the_way_and_closes():
    X = reference.mixture(40, 30, 2)
    lam_star, lam = 1.5, np.full(30, 0.3)
    certificates = []
    for k, sweep in enumerate(proximal_iterates(X, lam_star, lam, rng=np.random.default_rng(0))):
        certificates.append(objective.certify_unconstrained(X, sweep.low_rank, lam_star, lam))
        if k == 60:
            break
    final = certificates[-1].objective
    assert certificates[-1].gap < 1e-9
    assert all(c.bound <= final * (1 + 1e-12) and c.objective >= final * (1 - 1e-9) for c in certificates)


def test_gap_of_2_with_a_penalty_for_each_feature():
    X = reference.mixture(12, 9, 2)
    lam = np.linspace(0.1, 1.0, 9)
    best, _ = reference.unconstrained(X, 1.0, lam)
    certificate = objective.certify_unconstrained(X, truncated(X, 2), 1.0, lam)
    assert certificate.bound <= best * (1 + 1e-7) <= certificate.objective * (1 + 2e-7)


@pytest.mark.parametrize("eps", [0.0, 0.7])
def test_gap_of_1_bounds_the_true_distance(eps, rng):
    X = reference.mixture(10, 8, 2, missing=0.1)
    lam = np.full(8, 0.3)
    best, L = reference.constrained(X, lam, eps)
    observed = ~np.isnan(X)
    for y in (np.nan_to_num(X), rng.standard_normal(X.shape) * observed, np.sign(np.nan_to_num(X))):
        assert objective.certify_constrained(X, truncated(L, 8), np.zeros_like(X), y, lam, eps).bound <= best * (
            1 + 1e-7
        )


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_gap_of_5_bounds_the_true_distance_for_any_code(missing, rng):
    components, lam_star, lam = rng.standard_normal((3, 12)), 0.5, rng.uniform(0.1, 0.6, 12)
    X = 2 * rng.standard_normal((4, 12))
    X[rng.random(X.shape) < missing] = np.nan
    for scale in (0.0, 0.1, 3.0):
        best = np.array([reference.projection(x, components, lam_star, lam)[0] for x in X])
        codes = np.array([reference.projection(x, components, lam_star, lam)[1] for x in X])
        codes += scale * rng.standard_normal(codes.shape)
        outliers = soft_threshold(np.nan_to_num(X - codes @ components), lam)
        cost = objective.projection(X, components, codes, outliers, lam_star, lam)
        gap = objective.projection_gap(X, components, codes, lam_star, lam)
        assert (cost - best <= gap * cost + 1e-6).all()
        if scale == 0:
            assert (gap < 1e-5).all()


def test_stationarity_is_the_gradient_of_4(rng):
    X = reference.mixture(8, 6, 2)
    lam_star, lam = 0.6, np.full(6, 0.3)
    low_rank = truncated(X, 2)
    codes, components = low_rank.balanced()

    def cost(codes, components):
        outliers = soft_threshold(X - codes @ components, lam)
        return objective.factored(X, components, codes, outliers, lam_star, lam)

    h = 1e-6
    slopes = []
    for array in (codes, components):
        for index in np.ndindex(array.shape):
            keep = array[index]
            array[index] = keep + h
            up = cost(codes, components)
            array[index] = keep - h
            down = cost(codes, components)
            array[index] = keep
            slopes.append((up - down) / (2 * h))
    size = lam_star * np.sqrt(np.sum(codes**2) + np.sum(components**2))
    expected = np.linalg.norm(slopes) / size
    assert np.isclose(objective.stationarity(X, low_rank, lam_star, lam), expected, rtol=1e-5)


def test_too_few_atoms_are_stationary_but_the_gap_tells():
    X = reference.mixture(40, 30, 5)
    lam_star, lam = 1.0, np.full(30, 0.3)
    iterates = alternating_iterates(X, lam_star, lam, n_components=2, rng=np.random.default_rng(0))
    sweep = next(islice(iterates, 300, None))
    assert objective.stationarity(X, sweep.low_rank, lam_star, lam) < 1e-8
    assert objective.certify_unconstrained(X, sweep.low_rank, lam_star, lam).gap > 0.05
