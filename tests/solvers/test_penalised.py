"""Any outlier penalty: against the compiled solver where both can, and against a general one for groups of columns."""

import numpy as np
import pytest
import reference

from unmingle import decompose
from unmingle.core import objective
from unmingle.core.iterate import run
from unmingle.core.linalg.low_rank import LowRank
from unmingle.core.prox import ColumnGroups, EntryPenalty
from unmingle.core.solvers.penalised import penalised_iterates

GROUPS = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3])


def solved(X, lam_star, penalty, tol):
    def gap(low_rank):
        return objective.certify_penalised(X, low_rank, lam_star, penalty).gap

    result = run(penalised_iterates(X, lam_star, penalty), gap, tol=tol, max_iter=3000)
    assert result.converged
    return result.state


@pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-7), (np.float32, 1e-4)])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_single_entries_are_those_of_decompose(dtype, tol, missing):
    X = reference.mixture(40, 30, 3, missing=missing, dtype=dtype)
    lam_star, lam = 2.0, np.linspace(0.2, 0.5, 30).astype(dtype)
    found = solved(X, lam_star, EntryPenalty(lam), tol)
    part = decompose(X, rank_penalty=lam_star, outlier_penalty=lam, tol=tol, max_iter=2000)
    one = objective.certify_penalised(X, found, lam_star, EntryPenalty(lam))
    other = objective.certify_unconstrained(X, found, lam_star, lam)
    assert found.values.dtype == dtype
    assert one.objective == pytest.approx(part.objective, rel=2 * tol)
    assert one.objective == pytest.approx(other.objective, rel=1e-6 if dtype == np.float32 else 1e-12)
    assert one.bound == pytest.approx(other.bound, rel=1e-5 if dtype == np.float32 else 1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_groups_of_columns_reach_the_minimum_of_a_general_solver(missing):
    X = reference.mixture(12, 10, 2, missing=missing)
    lam_star, lam = 0.3 * np.linalg.norm(np.nan_to_num(X), 2), 0.8
    penalty = ColumnGroups(GROUPS, lam)
    low_rank = solved(X, lam_star, penalty, 1e-8)
    certificate = objective.certify_penalised(X, low_rank, lam_star, penalty)
    best, L = reference.unconstrained_groups(X, lam_star, lam, GROUPS)
    assert certificate.objective == pytest.approx(best, rel=1e-6)
    assert certificate.bound <= best * (1 + 1e-9)
    assert np.allclose(low_rank.scaled_left @ low_rank.right, L, atol=2e-3 * np.abs(L).max())


PENALTIES = {
    "entries": EntryPenalty(np.linspace(0.5, 2.0, 10)),
    "groups": ColumnGroups(GROUPS, 0.7),
    "groups of their own": ColumnGroups(GROUPS, np.array([0.7, 0.5, 0.9, 0.4])),
}
"""A new penalty of ten columns goes here."""


@pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES)
def test_a_penalty_agrees_with_itself(penalty, rng):
    """The proximal map leaves what is in the dual ball, at its border where something stands out."""
    misfit = 3 * rng.standard_normal((8, 10))
    outliers = penalty.prox(misfit)
    rest = misfit - outliers
    assert penalty.dual_norm(rest) == pytest.approx(1.0)
    assert np.sum(rest * outliers) == pytest.approx(penalty.value(outliers))
    for other in rng.standard_normal((20, 8, 10)):
        assert np.sum(rest * other) <= penalty.value(other)


def test_groups_of_columns_stay_in_float32(rng):
    misfit = rng.standard_normal((8, 10)).astype(np.float32)
    misfit[2] = 0
    assert ColumnGroups(GROUPS, 0.7).prox(misfit).dtype == np.float32
    assert not ColumnGroups(GROUPS, np.full(4, 100.0)).prox(misfit).any()


def test_nothing_is_certified_of_nothing():
    X = np.zeros((4, 3))
    nothing = LowRank.zero(4, 3, X.dtype)
    assert objective.certify_penalised(X, nothing, 1.0, EntryPenalty(np.ones(3))) == (0.0, 0.0)
