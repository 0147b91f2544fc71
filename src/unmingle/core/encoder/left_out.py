"""Samples as they look to components that were not fitted to them."""

import numpy as np

from ..._types import Array
from ..solvers.nonnegative import nonnegative_components, nonnegative_newton
from .answers import exact_answer
from .encoder import Encoder
from .layers import clip_towards

_FOLDS, _ROUNDS, _GAP = 4, 20, 1e-4
"""Parts of the samples, alternations without one of them, and gap of codes on the way."""
_KNOWN = 0.01
"""q / n below which components fit the samples that they come from hardly better than others."""


def as_left_out(encoder: Encoder, X: Array, seed: int) -> Array:
    """Samples that the components U of an encoder were fitted to, as others look to it.

    q components of n samples are fitted to these by about 2 q / n of the noise too well: they know the samples, and an
    encoder trained on them learns to answer samples that are known. So U is fitted anew without a quarter of them,
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
        raise ValueError("as_left_out needs an encoder of nonnegative codes.")
    if len(U) <= _KNOWN * n or n < 2 * _FOLDS:
        return X
    codes, made = exact_answer(parts, X)[0], X.copy()
    for fold in np.array_split(np.random.default_rng(seed).permutation(n), _FOLDS):
        others = np.setdiff1d(np.arange(n), fold)
        without = _fitted(parts, X[others], codes[others])
        own = _codes(parts, X[fold], without, codes[fold])
        made[fold] += own @ (U - without)
    return made


def _fitted(encoder: Encoder, X: Array, codes: Array) -> Array:
    """Components for some samples alone."""
    components, lam = np.array(encoder.components), np.array(encoder.outlier_penalty)
    for _ in range(_ROUNDS):
        low_rank, missing = codes @ components, np.isnan(X)
        cleaned = clip_towards(np.where(missing, low_rank, X), low_rank, None, lam, encoder.nonnegative_outliers)
        wide = codes.astype(np.float64)
        components = nonnegative_components(wide.T @ wide, wide.T @ cleaned, components, encoder.rank_penalty)
        codes = _codes(encoder, X, components, codes)
    return components


def _codes(encoder: Encoder, X: Array, components: Array, near: Array) -> Array:
    lam, signed = np.array(encoder.outlier_penalty), not encoder.nonnegative_outliers
    found = nonnegative_newton(X, components, encoder.rank_penalty, lam, near, signed_outliers=signed, tol=_GAP)
    return next(found).codes
