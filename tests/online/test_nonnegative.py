"""Nonnegative components from sums: steps against regressions written out, and a tracker that keeps all signs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import nnls
from stream_samples import leaves, nonnegative_rows

from unmingle.core import objective
from unmingle.core.online.dictionary import Dictionary
from unmingle.core.online.nonnegative import nonnegative_misfit, nonnegative_step, scale_atoms
from unmingle.core.online.statistics import Statistics
from unmingle.core.online.tracker import Tracker, TrackerSettings
from unmingle.core.solvers.nonnegative import nonnegative_newton
from unmingle.metrics import relative_error, subspace_angle

Q, M, LAM_STAR = 4, 30, 0.7


def block(seed, n=60):
    rng = np.random.default_rng(seed)
    codes = rng.exponential(size=(n, Q)) * (rng.random((n, Q)) < 0.7)
    return codes, np.maximum(codes @ rng.exponential(size=(Q, M)) + rng.standard_normal((n, M)), 0)


def cost(sums, components):
    return 0.5 * np.sum(components * (sums.system(LAM_STAR) @ components)) - np.sum(components * sums.B)


def test_repeated_passes_end_at_the_regression_of_every_feature():
    sums = Statistics.of(*block(0), 0.98)
    root = np.linalg.cholesky(sums.system(LAM_STAR)).T
    wanted = np.stack([nnls(root, np.linalg.solve(root.T, b))[0] for b in sums.B.T], axis=1)
    found = nonnegative_step(sums, np.zeros((Q, M)), LAM_STAR, passes=500)
    assert np.any(wanted == 0)
    assert np.abs(found - wanted).max() < 1e-9 * wanted.max()
    assert nonnegative_misfit(sums, found, LAM_STAR) < 1e-9


def test_a_pass_is_the_formula_and_never_costs_more():
    sums, components = Statistics.of(*block(1)), np.random.default_rng(1).exponential(size=(Q, M))
    for _ in range(5):
        wanted = components.copy()
        for k in range(Q):
            others = np.delete(np.arange(Q), k)
            rest = sums.B[k] - sums.A[k, others] @ wanted[others]
            wanted[k] = np.maximum(rest / (sums.A[k, k] + LAM_STAR), 0)
        moved = nonnegative_step(sums, components, LAM_STAR, passes=1)
        assert np.abs(moved - wanted).max() < 1e-12 * wanted.max()
        assert cost(sums, moved) < cost(sums, components)
        components = moved


def test_the_misfit_of_sums_is_that_of_the_samples():
    """With exact codes, the stationarity of (4) from all rows and from their sums is the same number."""
    X, components = block(2)[1], np.random.default_rng(2).exponential(size=(Q, M))
    lam = np.full(M, 0.8)
    codes = next(nonnegative_newton(X, components, LAM_STAR, lam)).codes
    low_rank = codes @ components
    sums = Statistics.of(codes, low_rank + np.minimum(X - low_rank, lam))
    wanted = objective.nonnegative_stationarity(X, components, codes, LAM_STAR, lam)
    assert nonnegative_misfit(sums, components, LAM_STAR) == pytest.approx(wanted, rel=1e-6)


def test_scaled_atoms_weigh_as_much_as_their_codes_and_the_product_stays():
    codes, cleaned = block(3)
    components = np.random.default_rng(3).exponential(size=(Q, M)) * 10.0 ** np.arange(-2.0, 2.0)[:, None]
    scaled = scale_atoms(Statistics.of(codes, cleaned), components)
    turned = codes @ scaled.change
    assert np.allclose(turned @ scaled.components, codes @ components, rtol=1e-12)
    assert np.allclose(np.linalg.norm(turned, axis=0), np.linalg.norm(scaled.components, axis=1), rtol=1e-12)
    assert np.allclose(scaled.statistics.A, turned.T @ turned, rtol=1e-12)
    assert np.allclose(scaled.statistics.B, turned.T @ cleaned, rtol=1e-12)
    assert np.all(np.diff(scaled.singular_values) <= 0)
    assert np.count_nonzero(scaled.change) == Q, "atoms are not mixed"
    components[1] = codes[:, 2] = 0
    assert len(scale_atoms(Statistics.of(codes, cleaned), components).components) == 2


def made():
    sums = Statistics.of(*block(4))
    components = nonnegative_step(sums, np.ones((Q, M)), LAM_STAR, passes=500)
    return Dictionary.empty(M, np.float64, "nonnegative").replaced_by(components, sums).restarted(LAM_STAR)


def test_a_dictionary_stays_solved_when_atoms_are_opened_or_put_first():
    dictionary = made().with_direction(np.eye(M)[0], 9.0)
    assert len(dictionary) == Q + 1
    assert nonnegative_misfit(dictionary.statistics, dictionary.components, LAM_STAR) < 1e-9
    sums = Statistics.of(*block(5, 20))
    dictionary = dictionary.behind(nonnegative_step(sums, np.ones((Q, M)), LAM_STAR), sums, Q + 2)
    dictionary = dictionary.restarted(LAM_STAR).completed()
    assert len(dictionary) == Q + 2
    assert nonnegative_misfit(dictionary.statistics, dictionary.components, LAM_STAR) < 1e-9
    assert (dictionary.components >= 0).all()


@pytest.mark.parametrize("n_layers", [None, 3000])
def test_codes_are_nonnegative_and_exact(n_layers):
    dictionary, lam = replace(made(), code=np.ones(Q)), np.full(M, 0.8)
    rows = block(6)[1]
    codes = dictionary.encode(rows, np.arange(len(rows)) % 2 == 0, LAM_STAR, lam, n_layers)
    signs = {"nonnegative_codes": True, "nonnegative_outliers": True}
    assert (codes == 0).any()
    assert objective.projection_gap(rows, dictionary.components, codes, LAM_STAR, lam, **signs).max() <= 2e-4


def test_unshrunk_codes_are_nearer_to_those_without_a_rank_penalty():
    """Also where atoms have much in common, and never on the other side of zero."""
    dictionary, lam = replace(made(), components=made().components + 0.5), np.full(M, 50.0)
    rows, cold = block(7)[1], np.zeros(60, bool)
    shrunk, free = (dictionary.encode(rows, cold, penalty, lam) for penalty in (4.0, 1e-9))
    unshrunk = dictionary.unshrunk(shrunk, 4.0)
    errors = [np.abs((codes - free) @ dictionary.components).mean() for codes in (unshrunk, shrunk)]
    assert errors[0] < 0.6 * errors[1]
    assert (unshrunk >= 0).all()
    assert not unshrunk[shrunk == 0].any()


def tracker_of(rows, **settings):
    options = TrackerSettings(**{"dictionary_step": "nonnegative", **settings})
    return fed(Tracker.fresh(options, rows.shape[1], rows.dtype, np.random.default_rng(0)), rows)


def fed(tracker, rows):
    for start in range(0, len(rows), 50):
        tracker = tracker.learn(rows[start : start + 50])
        assert (tracker.dictionary.components >= 0).all() or not tracker.dictionary.nonnegative
    return tracker


@pytest.fixture(scope="module")
def stream():
    return nonnegative_rows(900)


@pytest.mark.parametrize("seen", [0, 30, 600])
def test_what_was_stored_goes_on_as_if_nothing_had_happened(seen, stream):
    X, _, _ = stream
    tracker = tracker_of(X[:seen], n_components=3)
    again = Tracker._from_store(tracker._to_store(), tracker.settings)
    tracker, again = fed(tracker, X[seen:]), fed(again, X[seen:])
    content, again_content = leaves(tracker._to_store()), leaves(again._to_store())
    assert all(np.array_equal(content[name], again_content[name]) for name in content)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_components", [3, None])
def test_parts_are_found_with_missing_entries_in_any_precision(n_components, dtype, stream):
    X, _, basis = stream
    X = X.astype(dtype)
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    X[[0, 5, 700]] = np.nan
    learnt = tracker_of(X, n_components=n_components).learnt
    assert learnt.components.dtype == dtype
    assert len(learnt.components) == 3
    of_any_sign = tracker_of(X, n_components=3, dictionary_step="block").learnt
    assert subspace_angle(learnt.components, basis) < min(3, subspace_angle(of_any_sign.components, basis))


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**600])
def test_powers_of_two_lose_no_digit(scale, stream):
    X, _, _ = stream
    one, other = tracker_of(X, n_components=3).learnt, tracker_of(scale * X, n_components=3).learnt
    assert np.array_equal(other.components / np.sqrt(scale), one.components)


def test_a_jump_opens_new_parts():
    before, _, _ = nonnegative_rows(600)
    after, _, basis = nonnegative_rows(300, random_state=1)
    tracker = tracker_of(before, n_components=3)
    assert tracker.n_jumps == 0
    tracker = fed(tracker, after)
    assert tracker.n_jumps == 1
    assert subspace_angle(tracker.learnt.components, basis) < 2


def test_a_part_that_comes_late_is_opened():
    """It raises the noise level only, until what is left is seen to have a direction in common."""
    X, _, basis = nonnegative_rows(3000)
    rng = np.random.default_rng(2)
    new = rng.exponential(size=60) * (rng.random(60) < 0.5)
    rise = np.clip((np.arange(3000) - 500) / 1500, 0, 1)
    X += 0.5 * np.outer(rise * rng.exponential(size=3000), new)
    tracker = tracker_of(X, n_components=6)
    assert len(tracker.dictionary) >= 4
    assert subspace_angle(basis, new[None]) > 40
    assert subspace_angle(tracker.learnt.components, new[None]) < 10


def test_a_feature_that_went_up_is_learnt_again():
    """From one sample to the next some sensors read three times as much: for each sample alone, outliers."""
    X, truth, _ = nonnegative_rows(2500)
    for rows in (X, truth):
        rows[1000:, :5] *= 3
    tracker = tracker_of(X, n_components=3, forgetting=0.99)
    components = tracker.learnt.components
    lam = np.full(60, tracker.learnt.outlier_penalty)
    codes = next(nonnegative_newton(X[-100:], components, 1e-3, lam)).codes
    assert relative_error(codes @ components, truth[-100:]) < 0.05


def test_a_stream_that_falls_silent_is_no_error(stream):
    X, _, _ = stream
    tracker = tracker_of(np.concatenate([X, np.zeros((1500, 60))]), n_components=3, forgetting=0.9)
    assert np.isfinite(tracker.learnt.components).all()
