"""Which cells stand out: few false ones, whatever the tails of the noise."""

import numpy as np
import pandas as pd
import pytest
from faulty_tables import made
from scipy import stats

from unmingle import RobustPCA, decompose
from unmingle.core.cells.tails import TailLaws, flag_cells


def precision_and_recall(flags, bad):
    return np.count_nonzero(flags & bad) / max(np.count_nonzero(flags), 1), np.mean(flags[bad])


@pytest.mark.parametrize(("n", "m", "rank"), [(60, 8, 1), (400, 40, 4), (2000, 12, 1)])
def test_faults_are_found_in_normal_noise(n, m, rank):
    X, _, bad = made(n, m, rank)
    precision, recall = precision_and_recall(decompose(X, random_state=0).flags(), bad)
    assert precision > 0.9
    assert recall > 0.95


def test_faults_are_found_in_heavy_tails():
    X, _, bad = made(1000, 30, 3, noise=lambda rng, shape: rng.standard_t(4, shape) / np.sqrt(2))
    precision, recall = precision_and_recall(decompose(X, random_state=0).flags(), bad)
    assert precision > 0.85
    assert recall > 0.9


def test_columns_of_all_units_with_scale():
    X, L, bad = made(600, 20, 2)
    units = 10 ** np.random.default_rng(0).uniform(-2, 2, 20)
    part = decompose(X * units, scale="columns", debias=True, random_state=0)
    precision, recall = precision_and_recall(part.flags(), bad)
    assert (precision > 0.9, recall > 0.95) == (True, True)
    assert part.rank == 2
    assert np.linalg.norm(part.low_rank / units - L) < 1.2 * np.sqrt(2 * (600 + 20 - 2))  # with all cells good: 1
    assert part.column_scale.shape == (20,)
    plain = decompose(X * units / part.column_scale, random_state=0)
    assert part.objective == pytest.approx(plain.objective)
    assert np.allclose(part.outliers, plain.outliers * part.column_scale)


def test_noise_alone_is_hardly_flagged():
    counts = []
    for seed in range(20):
        X = np.random.default_rng(seed).standard_normal((300, 20))
        counts.append(np.count_nonzero(decompose(X, random_state=0).flags()))
    assert np.mean(np.array(counts) > 0) <= 0.3


def test_probabilities_are_those_of_the_law():
    known = np.ones((4000, 3), bool)
    for law in (stats.norm, stats.t(8)):
        z = law.rvs(size=(4000, 3), random_state=0)
        p = TailLaws.of(z, known).probabilities(z, known)
        far = (np.abs(z) > 2.5) & (np.abs(z) < 4.5)
        assert np.allclose(np.log(p[far]), np.log(2 * law.sf(np.abs(z[far]))), atol=0.8)
        assert np.mean(p < 0.05) == pytest.approx(0.05, abs=0.01)


def test_the_share_of_false_ones_is_as_wanted():
    """Of the flagged, about that share is noise, times the share of noise at all."""
    rng = np.random.default_rng(0)
    z, known = rng.standard_normal((2000, 20)), np.ones((2000, 20), bool)
    bad = rng.random(z.shape) < 0.05
    z[bad] += 5
    for share in (0.01, 0.1, 0.3):
        flags = flag_cells(2 * stats.norm.sf(np.abs(z)), known, share)
        assert np.mean(~bad[flags]) == pytest.approx(0.95 * share, rel=0.35)


def test_what_debiased_parts_are():
    X, L, bad = made(300, 20, 2)
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(20)])
    plain, part = (decompose(frame, debias=debias, random_state=0) for debias in (False, True))
    assert np.array_equal(part.outliers, plain.outliers)
    assert (part.objective, part.gap, part.converged) == (plain.objective, plain.gap, plain.converged)
    assert np.linalg.norm(part.low_rank - L) < 0.8 * np.linalg.norm(plain.low_rank - L)
    flags = part.flags()
    assert flags.columns.tolist() == frame.columns.tolist()
    assert np.array_equal(flags, plain.flags())  # the refit is done when asked for
    rest = np.where(np.isnan(X) | flags, 0, X - part.low_rank)
    assert np.allclose(part.residual, rest)
    assert np.array_equal(part.significance == 0, np.isnan(X))
    strongest = np.unravel_index(np.abs(part.significance.to_numpy()).argmax(), X.shape)
    assert bad[strongest]


def test_what_makes_no_sense_is_told():
    X, _, _ = made(60, 8, 1)
    part = decompose(X, random_state=0)
    for share in (0, 1, -0.1, "few"):
        with pytest.raises(ValueError, match="false_share must be"):
            part.flags(share)
    with pytest.raises(ValueError, match="scale must be None or 'columns'"):
        decompose(X, scale="rows")
    model = RobustPCA(random_state=0).fit(X)
    with pytest.raises(ValueError, match="need a model fitted with debias=True"):
        model.decompose(X[:5]).flags()
