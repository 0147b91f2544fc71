"""Exact answers to the problem of an encoder, and how much samples may count that it answers badly."""

from dataclasses import replace

import numpy as np

from ..._types import Array
from ..prox import soft_threshold
from ..solvers.nonnegative import nonnegative_newton
from ..solvers.projection import newton
from .encoder import Encoder

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
    U, lam = np.array(parts.components), np.array(parts.outlier_penalty)  # read-only arrays would be compiled for anew
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
