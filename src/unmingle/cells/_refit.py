"""A low-rank part freed of its penalties: robust factor analysis, starting from what was found with them."""

from collections.abc import Iterator
from math import erf, exp, pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._columns import column_scales

Array = NDArray[np.floating[Any]]

_HUBER, _REJECT, _CLIP = 1.345, 4.0, 3.0
"""In standard deviations: where weights begin to fall, where cells are left out, and within which noise is measured."""
_SOFT, _HARD = 3, 3
"""Rounds with falling weights, then rounds without the cells left out."""
_TRIAL = 2
"""Rounds of each kind for a number of components that is tried."""
_WORTH = 0.97
"""One more component must lower the squared error of cells left out by this factor."""
_LEAST, _LEAST_OF_MANY = 0.05, 0.7
"""Noise of a column as a share of its scale, at least; and where more than half of the column is one value."""
_FULL = 0.97
"""Leverage of a cell at most."""
_TOGETHER = 2**21
"""Numbers of a block of rows."""


class Refit(NamedTuple):
    """X = codes @ components + noise, but for cells that stand out."""

    codes: Array
    """(n, q), of mean square one."""
    components: Array
    """(q, m), of falling strength beside the noise."""
    noise: Array
    """(m,): standard deviation in each column."""
    deviations: Array
    """(n, m): from what the other cells tell, in standard deviations; 0 where missing."""
    error: float
    """Mean square of what other cells do not tell of a cell, in scales of its column; what stands out aside."""


class _NoisyFactors(NamedTuple):
    """V, sigma and mu: s ~ N(mu, I)."""

    components: Array
    noise: Array
    centre: Array

    def first(self, q: int) -> "_NoisyFactors":
        return self._replace(components=self.components[:q], centre=self.centre[:q])


def refit(X: Array, codes: Array, components: Array) -> Refit:
    """Fit the low-rank part anew, without its penalties, in the number of components that predicts cells best.

    Rows are x = V's + noise with s ~ N(mu, I) and a noise level sigma_j for each column. With weights w that leave out
    what is missing or stands out, rounds of::

        C_i = (I + sum_j w_ij v_j v_j' / sigma_j^2)^-1,   s_i = C_i (mu + sum_j w_ij x_ij v_j / sigma_j^2)
        E_j = sum_i w_ij (s_i s_i' + C_i),                v_j = E_j^-1 sum_i w_ij x_ij s_i

    and sigma_j from the residuals e_ij / sqrt(1 - h_ij) within 3 sigma_j, with leverages
    h_ij = v_j' C_i v_j / sigma_j^2 + s_i' E_j^-1 s_i. Weights are Huber's at first, then 1 within 4 sigma_j. The error
    of cells as if left out, e_ij / (1 - h_ij), tells the number of components: as long as one more lowers its mean
    square by 3 %.

    Cost: about 4 n m q^2 flops for each round, and for each number of components four rounds.

    Parameters
    ----------
    X : array of shape (n, m)
        Data; NaN means missing.
    codes : array of shape (n, q)
        Of the penalised low-rank part.
    components : array of shape (q, m)
        Likewise.
    """
    scales = column_scales(X).astype(np.float64)
    data = X.astype(np.float64) / scales
    least = np.where(_mostly_one_value(data), _LEAST_OF_MANY, _LEAST)
    start = _started(data, *_balanced(codes, components / scales), least)
    whole = _fitted(data, *start, least, (_SOFT, _TRIAL))
    order = _by_strength(*whole)
    best, least_error = None, 0.0
    for q in range(1, len(order[1].components) + 1):
        trial = _fitted(data, order[0][:, :q], order[1].first(q), least, (_TRIAL, _TRIAL))
        error = _judged(data, *trial).error
        if q > 1 and error > _WORTH * least_error:
            break
        least_error, best = error, trial
    if best is not None:
        whole = _fitted(data, *best, least, (0, _HARD))
    found = _judged(data, *_by_strength(*whole))
    return found._replace(components=found.components * scales, noise=found.noise * scales)


def _balanced(codes: Array, components: Array) -> tuple[Array, Array]:
    """The same product in double precision, its components of norm one: codes of any size do not overflow."""
    norms = np.linalg.norm(components.astype(np.float64), axis=1)
    norms = np.where(norms > 0, norms, 1.0)
    return codes.astype(np.float64) * norms, components.astype(np.float64) / norms[:, None]


def _mostly_one_value(X: Array) -> NDArray[np.bool_]:
    centre = np.nanmedian(np.where(np.isnan(X).all(axis=0), 0.0, X), axis=0)
    return np.sum(centre == X, axis=0) > 0.5 * np.sum(~np.isnan(X), axis=0)


def _started(X: Array, codes: Array, components: Array, least: Array) -> tuple[Array, _NoisyFactors]:
    """Codes of mean square one, and the noise they leave."""
    size = np.sqrt(np.mean(codes**2, axis=0))
    kept = size > 0
    codes, components = codes[:, kept] / size[kept], components[kept] * size[kept, None]
    noise = np.maximum(column_scales(X - codes @ components), least)
    return codes, _NoisyFactors(components, noise, codes.mean(axis=0))


def _fitted(
    X: Array, codes: Array, factors: _NoisyFactors, least: Array, rounds: tuple[int, int]
) -> tuple[Array, _NoisyFactors]:
    """So many rounds with falling weights, and so many with cells left out."""
    for turn in range(sum(rounds)):
        codes, factors = _round(X, codes, factors, least, soft=turn < rounds[0])
    return codes, factors


def _round(X: Array, codes: Array, factors: _NoisyFactors, least: Array, *, soft: bool) -> tuple[Array, _NoisyFactors]:
    """Codes of all rows, then components of all columns and their noise."""
    V, sigma, _ = factors
    q, m = V.shape
    if q == 0:
        return codes, factors._replace(noise=np.maximum(column_scales(X), least))
    moments, sides = np.zeros((m, q * q)), np.zeros((m, q))
    squares, counts, spread = np.zeros(m), np.zeros(m), np.zeros((q, q))
    found = np.empty_like(codes)
    for rows in _blocks(len(X), q, m):
        x, w = _weighted(X[rows], codes[rows] @ V, sigma, soft=soft)
        s, C = _row_codes(x, w, factors)
        found[rows] = s
        e = x - s @ V
        freedom = np.sqrt(1 - np.minimum(_row_leverage(C, factors), _FULL))
        within = (w > 0) & (np.abs(e) <= _CLIP * sigma * freedom)
        squares += np.sum((e / freedom) ** 2, axis=0, where=within)
        counts += within.sum(axis=0)
        second = s[:, :, None] * s[:, None, :] + C
        spread += second.sum(axis=0)
        moments += w.T @ second.reshape(len(s), -1)
        sides += (w * x).T @ s
    sigma = np.where(counts > q, np.sqrt(squares / np.maximum(counts, 1)) / _WITHIN, sigma)
    E = moments.reshape(m, q, q) + 1e-9 * len(X) * np.eye(q)
    V = np.linalg.solve(E, sides[:, :, None])[..., 0].T
    mu = found.mean(axis=0)
    values, turn = np.linalg.eigh(spread / len(X) - np.outer(mu, mu))
    root = np.sqrt(np.maximum(values, 1e-12))
    to, back = (turn / root) @ turn.T, (turn * root) @ turn.T
    return found @ to, _NoisyFactors(back @ V, np.maximum(sigma, least), mu @ to)


_WITHIN = sqrt(1 - 2 * _CLIP * exp(-(_CLIP**2) / 2) / sqrt(2 * pi) / erf(_CLIP / sqrt(2)))
"""Standard deviation of normal noise that is cut off beyond 3 sigma, over sigma."""


def _blocks(n: int, q: int, m: int) -> Iterator[slice]:
    size = max(1, _TOGETHER // max(q * q, m))
    return (slice(start, start + size) for start in range(0, n, size))


def _weighted(X: Array, expected: Array, sigma: Array, *, soft: bool) -> tuple[Array, Array]:
    """X with 0 where it is missing, and the weights of its cells."""
    known = ~np.isnan(X)
    x = np.where(known, X, 0.0)
    away = np.abs(x - expected)
    if soft:
        return x, known * np.minimum(1.0, _HUBER * sigma / np.maximum(away, 1e-300))
    return x, (known & (away <= _REJECT * sigma)).astype(np.float64)


def _row_codes(x: Array, w: Array, factors: _NoisyFactors) -> tuple[Array, Array]:
    """s_i and C_i of some rows."""
    V, sigma, mu = factors
    q, m = V.shape
    precise = w / sigma**2
    products = (V.T[:, :, None] * V.T[:, None, :]).reshape(m, -1)
    C = np.linalg.inv((precise @ products).reshape(-1, q, q) + np.eye(q))
    return np.einsum("iab,ib->ia", C, (precise * x) @ V.T + mu), C


def _row_leverage(C: Array, factors: _NoisyFactors) -> Array:
    """v_j' C_i v_j / sigma_j^2."""
    V, sigma, _ = factors
    products = (V.T[:, :, None] * V.T[:, None, :]).reshape(V.shape[1], -1)
    return C.reshape(len(C), -1) @ products.T / sigma**2


def _by_strength(codes: Array, factors: _NoisyFactors) -> tuple[Array, _NoisyFactors]:
    """The same product, its parts apart from each other and the strongest beside the noise first."""
    V, sigma, _ = factors
    if len(V) == 0:
        return codes, factors
    left, upper = np.linalg.qr(codes)
    right, lower = np.linalg.qr((V / sigma).T)
    turn, values, back = np.linalg.svd(upper @ lower.T)
    size = np.sqrt(len(codes))
    codes = size * left @ turn
    return codes, _NoisyFactors(values[:, None] / size * (back @ right.T) * sigma, sigma, codes.mean(axis=0))


def _judged(X: Array, codes: Array, factors: _NoisyFactors) -> Refit:
    """Deviations of all cells, and the error of those that do not stand out."""
    V, sigma, _ = factors
    q, m = V.shape
    known = ~np.isnan(X)
    deviations = np.where(known, X - codes @ V, 0.0)
    used = known & (np.abs(deviations) <= _REJECT * sigma)
    leverage = np.zeros_like(deviations)
    if q:
        codes = codes.copy()
        moments = np.zeros((m, q * q))
        for rows in _blocks(len(X), q, m):
            w = used[rows].astype(np.float64)
            codes[rows], C = _row_codes(np.where(known[rows], X[rows], 0.0), w, factors)
            leverage[rows] = _row_leverage(C, factors)
            moments += w.T @ (codes[rows, :, None] * codes[rows, None, :] + C).reshape(len(C), -1)
        inverse = np.linalg.inv(moments.reshape(m, q, q) + 1e-9 * len(X) * np.eye(q))
        for rows in _blocks(len(X), q, m):
            s = codes[rows]
            leverage[rows] += (s[:, :, None] * s[:, None, :]).reshape(len(s), -1) @ inverse.reshape(m, -1).T
        deviations = np.where(known, X - codes @ V, 0.0)
    leverage = np.minimum(leverage, _FULL)
    left_out = deviations / (1 - leverage)
    error = float(np.mean(left_out**2, where=used)) if used.any() else 0.0
    deviations /= sigma * np.sqrt(np.where(used, 1 - leverage, 1 + leverage))
    return Refit(codes, V, sigma, deviations, error)
