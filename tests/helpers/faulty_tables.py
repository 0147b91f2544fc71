"""Tables of low rank with faults and gaps, for tests."""

import numpy as np


def made(n, m, rank, *, faults=0.03, gaps=0.05, noise=None, seed=0):
    """A table of strength 3 to 12 times the edge of its noise, which has standard deviation one."""
    rng = np.random.default_rng((seed, n, m))
    left, right = (np.linalg.qr(rng.standard_normal((size, rank)))[0] for size in (n, m))
    L = left * (np.sqrt(n) + np.sqrt(m)) * np.geomspace(12, 3, rank) @ right.T
    X = L + (rng.standard_normal((n, m)) if noise is None else noise(rng, (n, m)))
    bad = rng.random((n, m)) < faults
    X[bad] += (rng.choice([-1, 1], (n, m)) * rng.uniform(6, 40, (n, m)))[bad]
    X[rng.random((n, m)) < gaps] = np.nan
    return X, L, bad & ~np.isnan(X)
