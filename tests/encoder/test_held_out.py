"""Samples that components were fitted to, as others look to these."""

import numpy as np
import pytest

from unmingle import RobustNMF
from unmingle.core.encoder.answers import exact_answer, simulate_held_out
from unmingle.core.encoder.encoder import Encoder

Q = 8
PENALTIES = {"rank_penalty": 0.3, "outlier_penalty": 0.2}


def samples(n, seed, m=60):
    U = np.random.default_rng(99).exponential(size=(Q, m))
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(n, Q)) @ U + np.where(rng.random((n, m)) < 0.1, rng.uniform(0, 10, (n, m)), 0)
    return X + 0.3 * rng.random((n, m))


def fitted(X):
    found = RobustNMF(Q, random_state=0, max_iter=5000, tol=1e-4, **PENALTIES).fit(X)
    signs = {"nonnegative_codes": True, "nonnegative_outliers": True}
    return Encoder.from_components(found.components_, n_layers=2, **PENALTIES, **signs)


def cost(encoder, X):
    return encoder.cost(X, *exact_answer(encoder, X)).mean()


@pytest.fixture(scope="module")
def few():
    X = samples(60, 1)
    return X, fitted(X)


def test_they_cost_what_samples_cost_that_were_never_seen(few):
    """Of the difference between samples that were fitted and others, at least half and at most twice is made up."""
    X, encoder = few
    known, made, others = (cost(encoder, rows) for rows in (X, simulate_held_out(encoder, X, 0), samples(2000, 2)))
    assert others > 1.05 * known
    assert 0.5 < (made - known) / (others - known) < 2


def test_what_is_missing_stays_missing_and_nothing_is_written_to(few):
    X, encoder = few
    holes = X.copy()
    holes[::7, ::5] = np.nan
    before = holes.copy()
    made = simulate_held_out(encoder, holes, 0)
    np.testing.assert_array_equal(holes, before)
    np.testing.assert_array_equal(np.isnan(made), np.isnan(holes))
    assert simulate_held_out(encoder.astype(np.float32), X.astype(np.float32), 0).dtype == np.float32


def test_many_samples_stay_as_they_are(few):
    many = samples(100 * Q, 3)
    assert simulate_held_out(few[1], many, 0) is many
    signed = Encoder.from_components(np.eye(2, 60), n_layers=2, **PENALTIES)
    with pytest.raises(ValueError, match="nonnegative codes"):
        simulate_held_out(signed, many, 0)
