"""Small models of `LearnedRobustPCA`, samples for them, and whether two of them are the same."""

from dataclasses import fields

import numpy as np

from unmingle import Encoder, LearnedRobustPCA
from unmingle.learn import Training

M, Q = 24, 3
STREAM = {"window": 20, "window_step": 5, "passes": 5}


def with_training(options):
    """Options of an estimator, where those of training make one."""
    names = {one.name for one in fields(Training)}
    training = {name: value for name, value in options.items() if name in names}
    others = {name: value for name, value in options.items() if name not in names}
    return {**others, "training": Training(**training)}


def learned(n_components=Q, **options):
    options = {"passes": 10, "n_layers": 3, "random_state": 0, **options}
    return LearnedRobustPCA(n_components, **with_training(options))


def samples(n, seed, noise=0.05):
    """Samples of one subspace with outliers, their low-rank part and their outliers."""
    U = np.random.default_rng(99).standard_normal((Q, M))
    rng = np.random.default_rng(seed)
    low_rank = rng.standard_normal((n, Q)) @ U
    outliers = np.where(rng.random((n, M)) < 0.15, rng.uniform(-5, 5, (n, M)), 0)
    return low_rank + outliers + noise * rng.standard_normal((n, M)), low_rank, outliers


def state_of(model):
    """Everything that a model holds, as plain values and bytes."""

    def plain(value):
        if isinstance(value, Encoder):
            return [plain(part) for part in (value._to_store(), value.layers)]
        if hasattr(value, "__dataclass_fields__"):
            return plain(vars(value))
        if isinstance(value, dict):
            return {name: plain(part) for name, part in value.items()}
        if isinstance(value, tuple | list):
            return [plain(part) for part in value]
        return (value.dtype, value.shape, value.tolist()) if isinstance(value, np.ndarray) else value

    return {name: plain(value) for name, value in vars(model).items()}


def assert_same(one, other):
    """The same numbers to the last bit."""
    mine, wanted = state_of(one), state_of(other)
    assert mine.keys() == wanted.keys()
    for name, value in mine.items():
        assert value == wanted[name], name
