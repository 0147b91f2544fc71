"""Exact answers to the problem of an encoder, how much samples count, and samples as if they had been held out."""

from dataclasses import dataclass, replace

import numpy as np

from ..._types import Array
from ..prox import soft_threshold
from ..solvers.nonnegative import nonnegative_components, nonnegative_newton
from ..solvers.projection import newton
from .encoder import Encoder
from .layers import clip_towards

_LAYERS_TO_THE_END = 1000
"""Layers after which an untrained encoder of signed codes has arrived, where Newton's method does not apply."""


def exact_answer(encoder: Encoder, X: Array) -> tuple[Array, Array]:
    """Exact codes and outliers (5) of samples for the problem of an encoder: what it imitates.

    Parameters
    ----------
    encoder : Encoder
        Holds the problem.
    X : array of shape (n, m)
        Samples; NaN means missing.
    """
    if encoder.nonnegative_codes:
        return _nonnegative_answer(encoder, X)
    if encoder.nonnegative_outliers:
        return replace(encoder.untrained(), n_layers=_LAYERS_TO_THE_END).encode(X)
    parts = encoder.astype(X.dtype)
    U, lam = np.array(parts.components), np.array(parts.outlier_penalty)  # read-only arrays would be compiled for again
    codes = next(newton(X, U, encoder.rank_penalty, lam, tol=1e-6)).codes
    misfit = np.nan_to_num(X - codes @ U, nan=0.0)
    return codes, soft_threshold(misfit, lam)


def _nonnegative_answer(encoder: Encoder, X: Array) -> tuple[Array, Array]:
    parts = encoder.astype(X.dtype)
    U, lam = np.array(parts.components), np.array(parts.outlier_penalty)
    signed = not encoder.nonnegative_outliers
    found = nonnegative_newton(X, U, encoder.rank_penalty, lam, signed_outliers=signed, tol=1e-6)
    codes = next(found).codes
    misfit = np.nan_to_num(X - codes @ U, nan=0.0)
    return codes, soft_threshold(misfit, lam) if signed else np.maximum(misfit - lam, 0)


def robust_weights(encoder: Encoder, X: Array) -> Array:
    """Weights of samples: those that cost an encoder more than most, since they are full of outliers, count less.

    Each weight is 1 over how many times the median cost the sample costs, at most 1: none costs more than the median.

    Parameters
    ----------
    encoder : Encoder
        Trained or not.
    X : array of shape (n, m)
        Samples; NaN means missing.

    Returns
    -------
    array of shape (n,)
    """
    if not len(X):
        return np.ones(0, X.dtype)
    cost = encoder.cost(X, *encoder.encode(X))
    return 1 / np.maximum(1, cost / (np.median(cost) or 1))


@dataclass(frozen=True)
class _HeldOut:
    """How samples are made to look held out: a trial on Yale faces says that it matters, see docs/encoders.md."""

    folds: int = 4
    """Parts of the samples, of which one at a time is left out."""
    rounds: int = 20
    """Alternations of components and codes without it."""
    gap: float = 1e-4
    """Relative gap of codes on the way."""
    overfitting: float = 0.01
    """q / n below which components fit the samples that they come from hardly better than others."""


_HELD_OUT = _HeldOut()


def simulate_held_out(encoder: Encoder, X: Array, seed: int) -> Array:
    """Samples that the components U of an encoder were fitted to, as they would look if they had been held out.

    q components of n samples are fitted to these by about 2 q / n of the noise too well: they know the samples, and an
    encoder trained on them learns to answer samples that are known. So U is fitted again without a quarter of them,
    U_k, by alternations that start from U, and a sample x of that quarter, whose exact code on U_k is s, becomes::

        x + (U - U_k) s

    It has the code s and the noise and outliers on U that x has on components that do not know it. Entries may become
    slightly negative. Samples of which n >= 100 q are given back as they are.

    Cost: four times 20 exact projections of all samples, from codes nearby.

    Parameters
    ----------
    encoder : Encoder
        Of nonnegative codes.
    X : array of shape (n, m)
        Samples; NaN means missing.
    seed : int
        Chooses the quarters.

    Returns
    -------
    array of shape (n, m)
    """
    parts = encoder.astype(X.dtype)
    U, n = np.array(parts.components), len(X)
    if not encoder.nonnegative_codes:
        raise ValueError("simulate_held_out needs an encoder of nonnegative codes.")
    if len(U) <= _HELD_OUT.overfitting * n or n < 2 * _HELD_OUT.folds:
        return X
    codes, made = exact_answer(parts, X)[0], X.copy()
    for fold in np.array_split(np.random.default_rng(seed).permutation(n), _HELD_OUT.folds):
        others = np.setdiff1d(np.arange(n), fold)
        without = _fit_components(parts, X[others], codes[others])
        own = _codes_near(parts, X[fold], without, codes[fold])
        made[fold] += own @ (U - without)
    return made


def _fit_components(encoder: Encoder, X: Array, codes: Array) -> Array:
    """Components for some samples alone."""
    components, lam = np.array(encoder.components), np.array(encoder.outlier_penalty)
    for _ in range(_HELD_OUT.rounds):
        low_rank, missing = codes @ components, np.isnan(X)
        cleaned = clip_towards(np.where(missing, low_rank, X), low_rank, None, lam, encoder.nonnegative_outliers)
        wide = codes.astype(np.float64)
        components = nonnegative_components(wide.T @ wide, wide.T @ cleaned, components, encoder.rank_penalty)
        codes = _codes_near(encoder, X, components, codes)
    return components


def _codes_near(encoder: Encoder, X: Array, components: Array, near: Array) -> Array:
    lam, signed = np.array(encoder.outlier_penalty), not encoder.nonnegative_outliers
    found = nonnegative_newton(
        X, components, encoder.rank_penalty, lam, near, signed_outliers=signed, tol=_HELD_OUT.gap
    )
    return next(found).codes
