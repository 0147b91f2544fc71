"""Low-rank parts without their penalties: as good as least squares that knows the bad cells, in the true rank."""

import numpy as np
import pytest
from faulty_tables import made

from unmingle import RobustPCA, decompose
from unmingle.core.cells.refit import refit_cells


def least_squares(X, L, good, rank):
    """Alternating least squares of the true rank on good cells, from the truth."""
    V = np.linalg.svd(L, full_matrices=False)[2][:rank]
    for _ in range(10):
        S = np.stack([np.linalg.lstsq(V[:, g].T, x[g], rcond=None)[0] for x, g in zip(X, good, strict=True)])
        V = np.stack([np.linalg.lstsq(S[g], x[g], rcond=None)[0] for x, g in zip(X.T, good.T, strict=True)], axis=1)
    return S @ V


SHAPES = [(60, 8, 1), (300, 40, 4), (1000, 12, 1), (150, 150, 6)]


@pytest.mark.parametrize(("n", "m", "rank"), SHAPES)
def test_it_has_the_true_rank_and_the_error_of_least_squares_on_good_cells(n, m, rank):
    X, L, bad = made(n, m, rank)
    part = decompose(X, random_state=0)
    found = refit_cells(X, part.codes, part.components)
    assert found.model.components.shape == (rank, m)
    best = np.linalg.norm(least_squares(X, L, ~bad & ~np.isnan(X), rank) - L)
    ours, penalised = (
        np.linalg.norm(low_rank - L) for low_rank in (found.codes @ found.model.components, part.low_rank)
    )
    assert ours < 1.15 * best
    assert ours < 0.9 * penalised
    assert np.median(found.model.noise) == pytest.approx(1, abs=0.15)


def test_units_of_columns_do_not_matter():
    X, _, _ = made(200, 15, 2)
    units = np.geomspace(1e-3, 1e4, 15)
    part = decompose(X, random_state=0)
    plain = refit_cells(X, part.codes, part.components)
    other = refit_cells(X * units, part.codes, part.components * units)
    assert np.allclose(other.codes @ other.model.components / units, plain.codes @ plain.model.components, atol=1e-8)
    assert np.allclose(other.deviations, plain.deviations, atol=1e-7)
    assert np.allclose(other.model.noise, plain.model.noise * units)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_any_scale_of_numbers_will_do(scale):
    X, _, _ = made(100, 10, 1)
    part = decompose(X, random_state=0)
    plain = refit_cells(X, part.codes, part.components)
    other = refit_cells(scale * X, part.codes * np.sqrt(scale), part.components * np.sqrt(scale))
    assert np.allclose(other.deviations, plain.deviations, atol=1e-7)


def test_deviations_are_those_of_cells_left_out():
    """A cell that is moved a little changes its own deviation by as much as if it had no say in the fit."""
    X, _, _ = made(400, 20, 2, faults=0.0, gaps=0.0)
    part = decompose(X, random_state=0)
    found = refit_cells(X, part.codes, part.components)
    i, j, step = 7, 3, 0.5
    other = X.copy()
    other[i, j] += step
    moved = refit_cells(other, part.codes, part.components)
    shift = moved.deviations[i, j] - found.deviations[i, j]
    assert shift == pytest.approx(step / found.model.noise[j], rel=0.15)
    normal = found.deviations
    assert np.std(normal) == pytest.approx(1, abs=0.03)


def test_nothing_but_noise_and_nothing_at_all():
    X = np.random.default_rng(0).standard_normal((50, 6))
    found = refit_cells(X, np.zeros((50, 0)), np.zeros((0, 6)))
    assert found.model.components.shape == (0, 6)
    assert np.allclose(found.model.noise, 1, atol=0.4)
    X[:, 2], X[4] = np.nan, np.nan
    part = decompose(X, random_state=0)
    found = refit_cells(X, part.codes, part.components)
    assert np.isfinite(found.deviations).all()
    assert not found.deviations[np.isnan(X)].any()


def test_columns_that_hardly_change_do_not_stand_out_wherever_they_do():
    X, _, _ = made(500, 10, 1, faults=0.0, gaps=0.0)
    X[:, 4] = np.random.default_rng(1).random(500) < 0.05
    part = decompose(X, scale="columns", random_state=0)
    assert part.flags()[:, 4].mean() < 0.01


@pytest.mark.parametrize("settings", [{}, {"scale": "columns"}, {"n_components": 3}], ids=str)
def test_equal_rows_with_faults_are_found_exactly(settings):
    """Columns are constant but for faults of a hundred: no noise, so the answer has none."""
    clean = np.tile([1.0, 2, 3, 4, 2, 4, 6, 8], (100, 1))
    for seed in range(20):
        rng = np.random.default_rng(seed)
        bad = rng.random(clean.shape) < 0.05
        X = clean + np.where(bad, rng.choice([-100, 100], clean.shape), 0)
        part = decompose(X, debias=True, **settings)
        model = RobustPCA(debias=True).fit(X)
        assert np.linalg.norm(part.low_rank - clean) <= 1e-6 * np.linalg.norm(clean)
        assert np.array_equal(part.flags(), bad)
        assert (model.cells_.noise <= 1e-6 * clean[0]).all()
        assert np.allclose(model.decompose(X, debias=True).low_rank, clean, rtol=1e-6)
