"""What rows of a table are like when nothing is wrong with them, and how strange others are beside them."""

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtri, ndtri_exp
from scipy.stats import chi2

from .._types import Array, BoolArray
from ..core.cells.columns import column_scales
from ..core.linalg.systems import regularised
from ..core.penalties import NORMAL_MAD

_LEAST = 1e-3
"""Noise of a column, as a share of its scale, at least."""
_MOST_SCALES = 1e20
"""Entries beyond so many scales of their column are cut there: squares of them do not overflow."""
_MOST_NUMBERS, _MOST_ROWS = 2**19, 100
"""A model is found from evenly chosen rows that hold so many numbers, and from so many rows at least."""
_TOGETHER = 2**21
"""Numbers of a block of rows that is scored at once."""
_TRUSTED = (0.6, 0.75, 0.75, 0.75, 0.975, 0.975)
"""Share of ordinary rows that each round is to learn from: first the least strange half, in the end nearly all."""
_STEPS = 3
"""Of expectation and maximisation in each round."""
_FAR = 4.0
"""Cells are cut so many deviations from what is expected, before a model is found and where codes are."""
_ROUNDS = 10
"""In which codes of rows with such cells are found."""
_HUBER = 3.0
"""Deviations from which on a cell counts by its size, no longer by its square, in the mean over a row."""


class RowModel(NamedTuple):
    """Ordinary rows are x = mu + V's + noise with s ~ N(0, I), each column with its own scale and noise."""

    scale: Array
    """(m,): what columns are divided by first."""
    centre: Array
    """(m,): mu."""
    loadings: Array
    """(q, m): V."""
    noise: Array
    """(m,): standard deviations, sigma."""
    white: Array
    """(q, q): W, with which codes as they are found, s W, have covariance I."""
    marks: Array
    """(3, 2): median and robust spread of the three statistics of ordinary rows."""
    law: Array
    """(2,): median and spread, from the upper quartile, of the cube root of minus the score of ordinary rows."""

    @classmethod
    def of(cls, X: Array, codes: Array, components: Array) -> "RowModel":
        """Learn from rows of which less than half are bad.

        Factor analysis by expectation and maximisation, from the robust low-rank part on, that leaves out the rows
        furthest from the model, and finds in each round anew which those are::

            D_i = |x_i - mu - V's_i|^2 / sigma^2 + |s_i|^2   (the squared distance of x_i by C = V'V + diag sigma^2)

        Cost: 18 times 8 n m q flops, for at most 2^19 / m rows.

        Parameters
        ----------
        X : array of shape (n, m)
            Rows; NaN means missing.
        codes : array of shape (n, q)
            Of the robust low-rank part.
        components : array of shape (q, m)
            Likewise.
        """
        some = _evenly(*X.shape)
        X, codes = X[some].astype(np.float64), codes[some].astype(np.float64)
        largest = np.max(np.abs(X), where=~np.isnan(X), initial=0.0) or 1.0
        scale = largest * column_scales(X / largest)
        x = _in_scale(X, scale)
        model, near = _started(x, scale, codes, components.astype(np.float64))
        known = np.maximum(np.mean(~np.isnan(x), axis=0), 1 / len(x))
        for share in _TRUSTED:
            far = model._distances(x)
            unseen = _unseen(len(x), len(codes.T)) if share == _TRUSTED[-1] else 1.0
            rows = near[far <= unseen * _reach(far, share, x.shape[1])]
            for _ in range(_STEPS):
                model = _step(rows, known, model)
        return model._whitened(rows)._marked(x)

    def score(self, X: Array) -> Array:
        """Log-probability that an ordinary row is as strange, by three tests that are taken together.

        ``sum_k log(1 - Phi(z_k))`` over what is left of a row, ``mean_j huber(r_j)``, its size within the model,
        ``|s W|^2``, and its strangest cell, ``max_j |r_j|``, where ``r = (x - mu - V's) / sigma``. Cube roots of the
        first two are nearly normal, and so is what the normal law makes of the third; each z is that, less its median
        and over its robust spread for ordinary rows.

        Parameters
        ----------
        X : array of shape (n, m)
            Rows; NaN means missing.
        """
        scores = np.zeros(len(X))
        size = max(1, _TOGETHER // max(len(self.noise), len(self.loadings) ** 2))
        for start in range(0, len(X), size):
            x = _in_scale(X[start : start + size].astype(np.float64), self.scale)
            scores[start : start + size] = self._joint(*self._statistics(x))
        return scores

    def _joint(self, statistics: Array, known: BoolArray) -> Array:
        z = (statistics - self.marks[:, :1]) / self.marks[:, 1:]
        z[0] *= np.sqrt(np.mean(known, axis=1))  # a mean over fewer cells spreads more
        z[:, ~known.any(axis=1)] = 0.0
        return np.asarray(np.sum(log_ndtr(-z[: 3 if len(self.loadings) else 2]), axis=0), np.float64)

    def threshold(self, false_alarm_rate: float) -> float:
        """The score that this share of ordinary rows is below: the cube root of minus a score is nearly normal."""
        root = self.law[0] + ndtri(1 - false_alarm_rate) * self.law[1]
        return -float(max(root, 0.0) ** 3)

    def _parted(self, x: Array) -> tuple[Array, Array, BoolArray]:
        """What is left of rows in units of the noise, 0 where missing; their codes; and what is known.

        Codes are Huber's: cells beyond 4 sigma pull no harder than those at 4 sigma.
        """
        known = ~np.isnan(x)
        x = np.nan_to_num(x - self.centre, nan=0.0)
        codes = _codes(x, known, self)[0]
        rest = np.where(known, (x - codes @ self.loadings) / self.noise, 0.0)
        for _ in range(_ROUNDS):
            rows = np.flatnonzero(np.max(np.abs(rest), axis=1, initial=0.0) > _FAR)
            if len(rows) == 0:
                break
            excess = rest[rows] - np.clip(rest[rows], -_FAR, _FAR)
            codes[rows] = _codes(x[rows] - excess * self.noise, known[rows], self)[0]
            rest[rows] = np.where(known[rows], (x[rows] - codes[rows] @ self.loadings) / self.noise, 0.0)
        return rest, codes, known

    def _distances(self, x: Array) -> Array:
        rest, codes, known = self._parted(x)
        share = np.maximum(np.mean(known, axis=1), 1 / x.shape[1])
        return np.asarray((np.sum(rest**2, axis=1) + np.sum(codes**2, axis=1)) / share)

    def _whitened(self, x: Array) -> "RowModel":
        codes = self._parted(x)[1]
        codes = codes - codes.mean(axis=0)
        values, turn = np.linalg.eigh(codes.T @ codes / len(codes))
        return self._replace(white=turn / np.sqrt(np.maximum(values, 1e-6)))

    def _marked(self, x: Array) -> "RowModel":
        """With what is usual for the statistics of new ordinary rows, from those of the rows learnt from."""
        fair = self._replace(noise=self.noise / np.sqrt(_unseen(len(x), len(self.loadings))))
        found, known = fair._statistics(x)
        model = self._replace(marks=np.array([_centre_and_spread(one) for one in found]))
        roots = np.cbrt(-model._joint(found, known))
        middle, high = np.quantile(roots, [0.5, 0.75])
        return model._replace(law=np.array([middle, max((high - middle) / ndtri(0.75), 1e-12)]))

    def _statistics(self, x: Array) -> tuple[Array, BoolArray]:
        """(3, n): what is left, the strangest cell and the size of rows, nearly normal; and which cells are known."""
        rest, codes, known = self._parted(x)
        size, count = np.abs(rest), np.maximum(1, known.sum(axis=1))
        cost = np.where(size <= _HUBER, size**2, _HUBER * (2 * size - _HUBER))
        strangest = np.log(2 * count) + log_ndtr(-np.max(size, axis=1))
        least = np.log(-np.expm1(-np.exp(np.clip(strangest, -30.0, 3.0))))  # 1 - (1 - p)^m, nearly
        least = np.where(strangest < -10, strangest, least)
        inside = np.sum((codes @ self.white) ** 2, axis=1)
        return np.array([np.cbrt(np.sum(cost, axis=1) / count), -ndtri_exp(least), np.cbrt(inside)]), known


def _evenly(n: int, m: int) -> slice:
    return slice(None, None, max(1, n // max(_MOST_ROWS, _MOST_NUMBERS // m)))


def _in_scale(X: Array, scale: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.clip(X / scale, -_MOST_SCALES, _MOST_SCALES)


def _started(x: Array, scale: Array, codes: Array, components: Array) -> tuple[RowModel, Array]:
    """A model from the robust low-rank part, and rows to learn from: cells far from that part are cut, gaps filled."""
    middle = np.median(codes, axis=0)
    spread = NORMAL_MAD * np.median(np.abs(codes - middle), axis=0)
    used = spread > 0
    loadings = components[used] * spread[used, None] / scale
    low_rank = codes @ (components / scale)
    rest = x - low_rank
    noise = np.maximum(column_scales(rest), _LEAST)
    near = low_rank + np.nan_to_num(np.clip(rest, -_FAR * noise, _FAR * noise), nan=0.0)
    centre = np.median(near - ((codes - middle) / np.where(used, spread, 1.0))[:, used] @ loadings, axis=0)
    none = np.zeros((3, 2)), np.zeros(2)
    return RowModel(scale, centre, loadings, noise, np.eye(len(loadings)), *none), near


def _reach(far: Array, share: float, m: int) -> float:
    """Distance within which this share of ordinary rows is, from the middle of all, as with m normal cells."""
    return float(np.median(far) * max(1.0, chi2.ppf(share, m) / chi2.ppf(0.5, m)))


def _unseen(n: int, q: int) -> float:
    """By how much larger squares are of rows that a mean and q components were not fitted to, as others n were."""
    return (n + q + 1) / (n - q - 1) if n > 2 * q + 2 else 1.0


def _codes(x: Array, known: BoolArray, model: RowModel) -> tuple[Array, Array]:
    """C_i = (I + sum_j v_j v_j' / sigma_j^2)^-1 over known cells, and s_i = C_i sum_j x_ij v_j / sigma_j^2."""
    V, q = model.loadings, len(model.loadings)
    if q == 0:
        return np.zeros((len(x), 0)), np.zeros((1, 0, 0))
    precise = V / model.noise**2
    sides = x @ precise.T
    if known.all():
        C = np.linalg.inv(regularised(np.eye(q) + precise @ V.T))
        return sides @ C, C[None]
    products = (V.T[:, :, None] * precise.T[:, None, :]).reshape(-1, q * q)
    C = np.linalg.inv(regularised(np.eye(q) + (known @ products).reshape(-1, q, q)))
    return np.einsum("iab,ib->ia", C, sides), C


def _step(x: Array, known: Array, model: RowModel) -> RowModel:
    """One step of expectation and maximisation for the loadings and the noise, codes kept white.

    Parameters
    ----------
    x : array of shape (n, m)
        Rows without gaps.
    known : array of shape (m,)
        Share of each column that was known before gaps were filled with what is expected.
    model : RowModel
        The model so far.
    """
    x = x - model.centre
    s, C = _codes(x, np.ones(x.shape, bool), model)
    n = len(s)
    V = np.linalg.solve(regularised(s.T @ s + n * C[0]), s.T @ x)
    rest = x - s @ V
    offset, shift = rest.mean(axis=0), s.mean(axis=0)
    noise = np.sqrt((np.mean(rest**2, axis=0) + np.sum(V * (C[0] @ V), axis=0)) / known)
    values, turn = np.linalg.eigh(s.T @ s / n - np.outer(shift, shift) + C[0])
    back = (turn * np.sqrt(np.maximum(values, 1e-12))) @ turn.T
    centre = model.centre + offset + shift @ V
    return model._replace(centre=centre, loadings=back @ V, noise=np.maximum(noise, _LEAST))


def _centre_and_spread(values: Array) -> tuple[float, float]:
    middle = float(np.median(values))
    spread = NORMAL_MAD * float(np.median(np.abs(values - middle)))
    return middle, max(spread, 1e-6 * abs(middle), 1e-12)
