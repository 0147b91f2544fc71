"""What rows of a table are like when nothing is wrong with them, and how strange others are beside them."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from scipy.special import log_ndtr, ndtri, ndtri_exp
from scipy.stats import chi2

from .._rules import LEAST, ArrayOf
from .._types import Array, BoolArray, Float64Array
from ..core.cells.columns import column_scales
from ..core.linalg.systems import regularised
from ..core.penalties import NORMAL_MAD


@dataclass(frozen=True)
class Trimming:
    """How the model is found from rows of which less than half are bad: from the least strange rows, then from more."""

    shares: tuple[float, ...] = (0.6, 0.75, 0.75, 0.75, 0.975, 0.975)
    """Share of ordinary rows that each round learns from: first the least strange half, in the end nearly all."""
    steps: int = 3
    """Steps of expectation and maximisation in each round."""
    numbers: int = 2**19
    """The model is found from evenly chosen rows that together hold about this many numbers."""
    rows: int = 100
    """The model is found from this many rows at least."""


@dataclass(frozen=True)
class CellLimits:
    """How far single cells may pull a row, and what the least noise and the largest entry are."""

    least_noise: float = 1e-3
    """Noise of a column is at least this share of its scale."""
    largest: float = 1e20
    """Entries beyond this number of scales of their column are cut there: squares of them do not overflow."""
    far: float = 4.0
    """Cells are cut at this number of deviations, before a model is found and where codes are."""
    rounds: int = 10
    """Codes of rows with such cells are found in this number of rounds at most."""
    huber: float = 3.0
    """Beyond this number of deviations a cell counts by its size, not by its square, in the mean over a row."""


TRIMMING, CELLS = Trimming(), CellLimits()
_BLOCK = 2**21
"""Numbers of a block of rows that is scored at once."""
RELATIVE = 1e30
"""What numbers in units of their own are at most."""


def _numbers(*shape: str | int, low: float = -RELATIVE, high: float = RELATIVE) -> ArrayOf:
    return ArrayOf(("float64",), *shape, low=low, high=high)


@dataclass(frozen=True, eq=False)
class RowModel:
    """Ordinary rows are x = mu + V's + noise with s ~ N(0, I), each column with its own scale and noise."""

    scale: Annotated[Float64Array, ArrayOf(("float64",), "m", low=LEAST)]
    """(m,): what columns are divided by first."""
    centre: Annotated[Float64Array, _numbers("m")]
    """(m,): mu."""
    loadings: Annotated[Float64Array, _numbers("atoms of rows", "m")]
    """(q, m): V."""
    noise: Annotated[Float64Array, _numbers("m", low=1e-6)]
    """(m,): standard deviations, sigma."""
    white: Annotated[Float64Array, _numbers("atoms of rows", "atoms of rows")]
    """(q, q): W, with which codes as they are found, s W, have covariance I."""
    marks: Annotated[Float64Array, _numbers(3, 2)]
    """(3, 2): median and robust spread of the three statistics of ordinary rows."""
    law: Annotated[Float64Array, _numbers(2)]
    """(2,): median and spread, from the upper quartile, of the cube root of minus the score of ordinary rows."""

    @classmethod
    def of(cls, X: Array, codes: Array, components: Array) -> "RowModel":
        """Learn from rows of which less than half are bad.

        Factor analysis by expectation and maximisation, from the robust low-rank part on, that leaves out the rows
        furthest from the model, and finds again in each round which those are::

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
        some = _evenly_spaced(*X.shape)
        X, codes = X[some].astype(np.float64), codes[some].astype(np.float64)
        largest = np.max(np.abs(X), where=~np.isnan(X), initial=0.0) or 1.0
        scale = np.asarray(largest * column_scales(X / largest), np.float64)
        x = _in_scale(X, scale)
        model, near = _first_model(x, scale, codes, components.astype(np.float64))
        known = np.maximum(np.mean(~np.isnan(x), axis=0), 1 / len(x))
        for share in TRIMMING.shares:
            far = model.distances(x)
            growth = _growth_when_unseen(len(x), len(codes.T)) if share == TRIMMING.shares[-1] else 1.0
            rows = near[far <= growth * _distance_of_share(far, share, x.shape[1])]
            for _ in range(TRIMMING.steps):
                model = _em_step(rows, known, model)
        return model.whitened(rows).marked(x)

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
        size = max(1, _BLOCK // max(len(self.noise), len(self.loadings) ** 2))
        for start in range(0, len(X), size):
            x = _in_scale(X[start : start + size].astype(np.float64), self.scale)
            scores[start : start + size] = self.joint_score(*self.statistics_of(x))
        return scores

    def joint_score(self, statistics: Array, known: BoolArray) -> Array:
        """The score from the statistics of rows, and which of their cells are known."""
        z = (statistics - self.marks[:, :1]) / self.marks[:, 1:]
        z[0] *= np.sqrt(np.mean(known, axis=1))  # a mean over fewer cells spreads more
        z[:, ~known.any(axis=1)] = 0.0
        return np.asarray(np.sum(log_ndtr(-z[: 3 if len(self.loadings) else 2]), axis=0), np.float64)

    def threshold(self, false_alarm_rate: float) -> float:
        """The score that this share of ordinary rows is below: the cube root of minus a score is nearly normal."""
        root = self.law[0] + ndtri(1 - false_alarm_rate) * self.law[1]
        return -float(max(root, 0.0) ** 3)

    def split(self, x: Array) -> tuple[Array, Array, BoolArray]:
        """What is left of rows in units of the noise, 0 where missing; their codes; and what is known.

        Codes are Huber's: cells beyond 4 sigma pull no harder than those at 4 sigma.
        """
        known = ~np.isnan(x)
        x = np.nan_to_num(x - self.centre, nan=0.0)
        codes = _codes(x, known, self)[0]
        rest = np.where(known, (x - codes @ self.loadings) / self.noise, 0.0)
        for _ in range(CELLS.rounds):
            rows = np.flatnonzero(np.max(np.abs(rest), axis=1, initial=0.0) > CELLS.far)
            if len(rows) == 0:
                break
            excess = rest[rows] - np.clip(rest[rows], -CELLS.far, CELLS.far)
            codes[rows] = _codes(x[rows] - excess * self.noise, known[rows], self)[0]
            rest[rows] = np.where(known[rows], (x[rows] - codes[rows] @ self.loadings) / self.noise, 0.0)
        return rest, codes, known

    def distances(self, x: Array) -> Array:
        """D_i of rows."""
        rest, codes, known = self.split(x)
        share = np.maximum(np.mean(known, axis=1), 1 / x.shape[1])
        return np.asarray((np.sum(rest**2, axis=1) + np.sum(codes**2, axis=1)) / share)

    def whitened(self, x: Array) -> "RowModel":
        """With what makes the codes of these rows white."""
        codes = self.split(x)[1]
        codes = codes - codes.mean(axis=0)
        values, turn = np.linalg.eigh(codes.T @ codes / len(codes))
        return replace(self, white=turn / np.sqrt(np.maximum(values, 1e-6)))

    def marked(self, x: Array) -> "RowModel":
        """With what is usual for the statistics of new ordinary rows, from those of the rows learnt from."""
        fair = replace(self, noise=self.noise / np.sqrt(_growth_when_unseen(len(x), len(self.loadings))))
        found, known = fair.statistics_of(x)
        model = replace(self, marks=np.array([_centre_and_spread(one) for one in found]))
        roots = np.cbrt(-model.joint_score(found, known))
        middle, high = np.quantile(roots, [0.5, 0.75])
        return replace(model, law=np.array([middle, max((high - middle) / ndtri(0.75), 1e-12)]))

    def statistics_of(self, x: Array) -> tuple[Array, BoolArray]:
        """(3, n): what is left, the strangest cell and the size of rows, nearly normal; and which cells are known."""
        rest, codes, known = self.split(x)
        size, count = np.abs(rest), np.maximum(1, known.sum(axis=1))
        cost = np.where(size <= CELLS.huber, size**2, CELLS.huber * (2 * size - CELLS.huber))
        strangest = np.log(2 * count) + log_ndtr(-np.max(size, axis=1))
        least = np.log(-np.expm1(-np.exp(np.clip(strangest, -30.0, 3.0))))  # 1 - (1 - p)^m, nearly
        least = np.where(strangest < -10, strangest, least)
        inside = np.sum((codes @ self.white) ** 2, axis=1)
        return np.array([np.cbrt(np.sum(cost, axis=1) / count), -ndtri_exp(least), np.cbrt(inside)]), known


def _evenly_spaced(n: int, m: int) -> slice:
    return slice(None, None, max(1, n // max(TRIMMING.rows, TRIMMING.numbers // m)))


def _in_scale(X: Array, scale: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.clip(X / scale, -CELLS.largest, CELLS.largest)


def _first_model(x: Array, scale: Float64Array, codes: Array, components: Array) -> tuple[RowModel, Array]:
    """A model from the robust low-rank part, and rows to learn from: cells far from that part are cut, gaps filled."""
    middle = np.median(codes, axis=0)
    spread = NORMAL_MAD * np.median(np.abs(codes - middle), axis=0)
    used = spread > 0
    loadings = components[used] * spread[used, None] / scale
    low_rank = codes @ (components / scale)
    rest = x - low_rank
    noise = np.maximum(column_scales(rest), CELLS.least_noise)
    near = low_rank + np.nan_to_num(np.clip(rest, -CELLS.far * noise, CELLS.far * noise), nan=0.0)
    centre = np.median(near - ((codes - middle) / np.where(used, spread, 1.0))[:, used] @ loadings, axis=0)
    none = np.zeros((3, 2)), np.zeros(2)
    return RowModel(scale, centre, loadings, noise, np.eye(len(loadings)), *none), near


def _distance_of_share(far: Array, share: float, m: int) -> float:
    """Distance within which this share of ordinary rows is, from the middle of all, as with m normal cells."""
    return float(np.median(far) * max(1.0, chi2.ppf(share, m) / chi2.ppf(0.5, m)))


def _growth_when_unseen(n: int, q: int) -> float:
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


def _em_step(x: Array, known: Array, model: RowModel) -> RowModel:
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
    return replace(model, centre=centre, loadings=back @ V, noise=np.maximum(noise, CELLS.least_noise))


def _centre_and_spread(values: Array) -> tuple[float, float]:
    middle = float(np.median(values))
    spread = NORMAL_MAD * float(np.median(np.abs(values - middle)))
    return middle, max(spread, 1e-6 * abs(middle), 1e-12)
