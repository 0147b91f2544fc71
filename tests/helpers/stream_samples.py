"""Samples of streams, all at once."""

import numpy as np

from unmingle.core.penalties import from_noise, noise_level
from unmingle.synth import nonnegative_stream, subspace_stream

STEPS = ("block", "direct", "recursive")


def stream_of(n, m=60, rank=3, **options):
    """All samples of a stream, their low-rank part, and the basis at its end."""
    blocks = list(subspace_stream(n, m, rank, random_state=0, **{"noise": 0.05, **options}))
    return *(np.concatenate(parts) for parts in zip(*((b.X, b.low_rank) for b in blocks), strict=True)), blocks[
        -1
    ].basis


def rows_of(n, **options):
    """All samples of a stream, and the basis at its end."""
    X, _, basis = stream_of(n, **options)
    return X, basis


def nonnegative_rows(n, m=60, rank=3, **options):
    """All samples of a nonnegative stream, their low-rank part, and the parts at its end."""
    blocks = list(nonnegative_stream(n, m, rank, **{"noise": 0.05, "random_state": 0, **options}))
    return np.concatenate([b.X for b in blocks]), np.concatenate([b.low_rank for b in blocks]), blocks[-1].basis


def noise_penalties(X):
    """The penalties that a stream has for the noise level of X, for estimators of one matrix."""
    return from_noise(noise_level(X, np.random.default_rng(0)), *X.shape)._asdict()


def leaves(content, place=""):
    """All values and arrays of a tree, by their places."""
    found = {}
    for name, value in content.items():
        found |= leaves(value, f"{place}{name}.") if isinstance(value, dict) else {f"{place}{name}": value}
    return found
