"""Small networks, samples that they can learn from, and short training."""

from dataclasses import replace
from functools import partial

import numpy as np
import torch

from unmingle import decompose, learn
from unmingle.core.encoder.answers import exact_answer
from unmingle.core.encoder.encoder import Encoder
from unmingle.core.encoder.layers import Layers

LAM_STAR, LAM = 0.7, 0.3
ONE_SIDED, POSITIVE = {"nonnegative_outliers": True}, {"nonnegative_codes": True}
BOTH = ONE_SIDED | POSITIVE
SIGNS = [{}, ONE_SIDED, POSITIVE, BOTH]
KINDS = [*SIGNS, {"structure": "full"}, {"structure": "full", **ONE_SIDED}]


def encoder_of(q, m, n_layers=3, dtype=np.float64, **kind):
    U = np.random.default_rng(1).standard_normal((q, m)).astype(dtype)
    U = np.abs(U) if kind.get("nonnegative_codes") else U
    lam = np.linspace(0.5 * LAM, 1.5 * LAM, m)
    return Encoder.from_components(U, rank_penalty=LAM_STAR, outlier_penalty=lam, n_layers=n_layers, **kind)


def shaken(encoder, seed=2):
    """The encoder with layers that are those of no algorithm, each one different."""
    rng = np.random.default_rng(seed)
    layers = (part * rng.uniform(0.7, 1.2, part.shape).astype(part.dtype) for part in encoder.layers)
    return replace(encoder, layers=Layers(*layers))


def tensors(X):
    """Samples, 0 where missing, and where they are known."""
    known = ~np.isnan(X)
    return torch.from_numpy(np.where(known, X, 0).astype(X.dtype)), torch.from_numpy(known.astype(X.dtype))


def layers_differ(one, other):
    return any(not np.array_equal(a, b) for a, b in zip(one.layers, other.layers, strict=True))


def same_numbers(one, other):
    return np.array_equal(one.components, other.components) and not layers_differ(one, other)


M, Q = 24, 3


def samples(n, seed=0, missing=0.0, positive=False):
    """Low rank, outliers and noise; every seed draws from the same subspace."""
    U = np.random.default_rng(99).standard_normal((Q, M))
    rng = np.random.default_rng(seed)
    background = rng.standard_normal((n, Q)) @ U
    foreground = np.where(rng.random((n, M)) < 0.2, rng.uniform(-6, 6, (n, M)), 0)
    if positive:
        background, foreground = np.abs(rng.standard_normal((n, Q))) @ np.abs(U), np.abs(foreground)
    X = background + foreground + 0.05 * rng.standard_normal((n, M))
    X[rng.random(X.shape) < missing] = np.nan
    return X, background, foreground


def started(n_layers=2, positive=False, **kind):
    """Algorithm 1 with a good dictionary for `samples`."""
    X = samples(300, seed=1, positive=positive)[0]
    U = decompose(X, rank_penalty=2.0, outlier_penalty=0.1, n_components=Q, random_state=0).components
    if positive:
        U = np.abs(np.random.default_rng(99).standard_normal((Q, M)))
    return Encoder.from_components(U, rank_penalty=2.0, outlier_penalty=0.1, n_layers=n_layers, **kind)


train = partial(learn.train, max_steps=60, random_state=0)


def shares(before, after, new):
    """How much of the distance from the exact cost of held-out samples training took away."""
    exact = before.cost(new, *exact_answer(before, new)).mean()
    first, last = (one.cost(new, *one.encode(new)).mean() for one in (before, after))
    return (first - last) / (first - exact)
