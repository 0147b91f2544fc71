"""What tells which cells of a row stand out: components without penalties, and the noise of every column."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..._types import Array, BoolArray
from ..linalg.systems import regularised
from .tails import TailLaws


@dataclass(frozen=True)
class RefitRounds:
    """How rows are fitted without penalties: rounds of weights for their cells, then of codes."""

    huber: float = 1.345
    """Weights of cells begin to fall this many standard deviations from what is expected: Huber's usual constant, with
    95 % of the efficiency of least squares where noise is normal."""
    reject: float = 4.0
    """Cells beyond this many standard deviations are left out in the later rounds."""
    soft: int = 3
    """First rounds, with falling weights."""
    hard: int = 3
    """Later rounds, without the cells that are left out."""
    largest_leverage: float = 0.97
    """The leverage of a cell counts as this at most, lest deviations be divided by nothing."""
    nonnegative_passes: int = 10
    """Passes over the coordinates of nonnegative codes, in each round."""


ROUNDS = RefitRounds()
_NUMBERS_TOGETHER = 2**21
"""Rows are worked on together in blocks of this many numbers."""


class CellModel(NamedTuple):
    """Rows are x = V's + noise, but for cells that stand out."""

    components: Array
    """(q, m): V."""
    noise: Array
    """(m,): standard deviation of the noise in each column, sigma."""
    centre: Array
    """(q,): mean of the codes, mu; they are s ~ N(mu, I), or any s >= 0."""
    laws: TailLaws
    """Tails of the noise."""
    nonnegative: bool = False
    """Whether components and codes have no negative entries, and only what is larger than expected stands out."""

    def refit_rows(self, X: Array, expected: Array) -> "Refit":
        """Codes of rows without penalties, and how far each cell is from what the others tell of it.

        Rounds of weights w and codes: Huber's weights at first, then 1 within 4 sigma_j and 0 beyond. See `row_codes`.

        Parameters
        ----------
        X : array of shape (n, m)
            Rows; NaN means missing.
        expected : array of shape (n, m)
            What is expected of them at first, such as the penalised low-rank part.
        """
        codes = np.zeros((len(X), len(self.components)))
        deviations = np.zeros(X.shape)
        for rows in row_blocks(len(X), *self.components.shape):
            x, low_rank = X[rows].astype(np.float64), expected[rows].astype(np.float64)
            s: Array = codes[rows]
            for turn in range(ROUNDS.soft + ROUNDS.hard):
                w = cell_weights(x, low_rank, self.noise, soft=turn < ROUNDS.soft)
                s, C = self.row_codes(np.nan_to_num(x, nan=0.0), w, s)
                low_rank = s @ self.components
            used = cell_weights(x, low_rank, self.noise, soft=False)
            codes[rows] = s
            deviations[rows] = standard_deviations(x, low_rank, self.noise, used, self.leverage(C))
        return Refit(codes, deviations, self)

    def row_codes(self, x: Array, w: Array, start: Array) -> tuple[Array, Array]:
        """Codes of rows and their covariances, from cells of weight w.

        C_i = (I + sum_j w_ij v_j v_j' / sigma_j^2)^-1,   s_i = C_i (mu + sum_j w_ij x_ij v_j / sigma_j^2)

        Nonnegative ones minimise sum_j w_ij (x_ij - v_j's)^2 / sigma_j^2 over s >= 0, coordinate by coordinate from a
        start; their C_i is that of the codes that are not 0, without prior.
        """
        q = len(self.components)
        own = self.components / self.noise
        with np.errstate(over="ignore", invalid="ignore"):
            moments = (w @ _products(own)).reshape(len(x), q, q)
        if not np.isfinite(moments).all():
            raise ValueError("The components of this model are too large beside the noise of its columns.")
        sides = (w * (x / self.noise)) @ own.T
        if not self.nonnegative:
            C = np.linalg.inv(regularised(moments + np.eye(q)))
            return np.einsum("iab,ib->ia", C, sides + self.centre), C
        s = nonnegative_codes(moments, sides, start)
        active = (s > 0).astype(np.float64)
        outer = active[:, :, None] * active[:, None, :]
        ridge = 1e-9 * (1 + np.einsum("iaa->i", moments))[:, None, None]
        return s, np.linalg.inv(moments * outer + (1 - active[:, :, None] + ridge) * np.eye(q)) * outer

    def leverage(self, C: Array) -> Array:
        """v_j' C_i v_j / sigma_j^2 for each cell: by how much it tells its own expectation."""
        return C.reshape(len(C), -1) @ _products(self.components / self.noise).T

    def probabilities(self, deviations: Array, known: BoolArray) -> Array:
        """How probable such deviations are as noise."""
        return self.laws.probabilities(deviations, known, one_sided=self.nonnegative)


class Refit(NamedTuple):
    """Rows taken apart without penalties."""

    codes: Array
    """(n, q)."""
    deviations: Array
    """(n, m): from what the other cells tell, in standard deviations; 0 where missing."""
    model: CellModel
    error: float = np.nan
    """Mean square of what other cells do not tell of a cell, in scales of its column; without cells that stand out."""


def row_blocks(n: int, q: int, m: int) -> list[slice]:
    """Rows to work on together."""
    size = max(1, _NUMBERS_TOGETHER // max(q * q, m))
    return [slice(start, start + size) for start in range(0, n, size)]


def cell_weights(X: Array, expected: Array, sigma: Array, *, soft: bool) -> Array:
    """Weights of cells: 0 where missing, smaller or 0 where far from what is expected."""
    away = np.abs(X - expected)
    if soft:
        return np.nan_to_num(np.minimum(1.0, ROUNDS.huber * sigma / np.maximum(away, 1e-300)), nan=0.0)
    return (away <= ROUNDS.reject * sigma).astype(np.float64)


def standard_deviations(X: Array, expected: Array, sigma: Array, used: Array, leverage: Array) -> Array:
    """(x - expected) / (sigma sqrt(1 - h)) for cells that were used, with 1 + h for others; 0 where missing."""
    h = np.minimum(leverage, ROUNDS.largest_leverage)
    return np.nan_to_num((X - expected) / (sigma * np.sqrt(np.where(used > 0, 1 - h, 1 + h))), nan=0.0)


def _products(V: Array) -> Array:
    """(m, q q): v_j v_j' for each column."""
    return (V.T[:, :, None] * V.T[:, None, :]).reshape(V.shape[1], -1)


def nonnegative_codes(moments: Array, sides: Array, start: Array) -> Array:
    """Minimise s' M s / 2 - b' s over s >= 0 for each row, by passes over the coordinates."""
    s = np.array(start)
    diagonal = np.einsum("iaa->ia", moments)
    for _ in range(ROUNDS.nonnegative_passes):
        for k in range(s.shape[1]):
            gradient = sides[:, k] - np.einsum("ia,ia->i", moments[:, k], s)
            step = np.divide(gradient, diagonal[:, k], out=np.zeros(len(s)), where=diagonal[:, k] > 0)
            s[:, k] = np.maximum(0.0, s[:, k] + step)
    return s
