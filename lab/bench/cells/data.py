"""Tables with planted faults: made ones with truth, and real ones of scikit-learn."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets

from unmingle.core.cells.columns import column_scales

Array = NDArray[Any]

N_TABLES, SEED = 20, 2012
DEGREES = 4
WEAKEST, STRONGEST = 2.0, 6.0
"""Standard deviations of the components, in those of the noise."""


class Kind(NamedTuple):
    """A kind of made table."""

    n: int
    m: int
    rank: int
    faults: float
    gaps: float
    decades: bool
    student: bool

    def told(self) -> str:
        units = ", four decades" if self.decades else ""
        return f"{self.n}x{self.m}, rank {self.rank}{units}{', Student' if self.student else ''}"


class Made(NamedTuple):
    """A table and its truth."""

    X: Array
    low_rank: Array
    bad: NDArray[np.bool_]
    units: Array
    rank: int

    def least_squares(self) -> Array:
        """Alternating least squares of the true rank on good, known cells, from the truth: what an oracle can do."""
        good = (~np.isnan(self.X) & ~self.bad).astype(float)
        X = np.nan_to_num(self.X) / self.units
        V = np.linalg.svd(self.low_rank / self.units, full_matrices=False)[2][: self.rank]
        for _ in range(10):
            S = _regression(X, good, V)
            V = _regression(X.T, good.T, S.T).T
        return S @ V * self.units

    def error(self, found: Array) -> float:
        """Of a low-rank part, in noise levels."""
        return float(np.sqrt(np.mean(((found - self.low_rank) / self.units) ** 2)))


def _regression(X: Array, w: Array, V: Array) -> Array:
    """Codes of rows by weighted least squares."""
    q = len(V)
    products = (V[:, None, :] * V[None, :, :]).reshape(q * q, -1)
    moments = (w @ products.T).reshape(-1, q, q) + 1e-9 * np.eye(q)
    return np.linalg.solve(moments, ((w * X) @ V.T)[..., None])[..., 0]


def kinds(count: int = N_TABLES) -> list[Kind]:
    """From 60x8 to 20000x60, by chance: every second one with columns over four decades, every fourth of Student noise.

    So many faults that each table has six of them.
    """
    rng, found = np.random.default_rng(SEED), [(60, 8), (20_000, 60)]
    while len(found) < count:
        found.append((int(60 * (20_000 / 60) ** rng.random()), int(8 * (60 / 8) ** rng.random())))
    made = []
    for k, (n, m) in enumerate(found[:count]):
        most_faults, most_gaps = (0.1, 0.2) if m >= 20 else (0.05, 0.1)
        faults = max(rng.uniform(0.005, most_faults), 6 / (n * m))
        rank = int(rng.integers(1, max(1, m // 8) + 1))
        made.append(Kind(n, m, rank, faults, rng.uniform(0, most_gaps), k % 2 == 1, k % 4 == 2))
    return made


def made_table(kind: Kind, seed: int) -> Made:
    """Normal codes and components, noise of standard deviation one, faults of 6 to 40 of either sign; then units."""
    n, m, rank = kind.n, kind.m, kind.rank
    rng = np.random.default_rng([SEED, n, m, seed])
    strengths = np.geomspace(STRONGEST, WEAKEST, rank) if rank > 1 else np.array([4.0])
    low_rank = rng.standard_normal((n, rank)) * strengths @ rng.standard_normal((rank, m))
    noise = rng.standard_t(DEGREES, (n, m)) / np.sqrt(2) if kind.student else rng.standard_normal((n, m))
    bad = np.zeros(n * m, bool)
    bad[rng.permutation(n * m)[: round(kind.faults * n * m)]] = True
    bad = bad.reshape(n, m)
    sizes = rng.uniform(6, 40, (n, m)) * rng.choice([-1, 1], (n, m))
    X = low_rank + noise + np.where(bad, sizes, 0)
    gaps = rng.random((n, m)) < kind.gaps
    X[gaps] = np.nan
    units = 10 ** rng.uniform(-2, 2, m) if kind.decades else np.ones(m)
    return Made(X * units, low_rank * units, bad & ~gaps, units, rank)


def real_tables() -> dict[str, Array]:
    """Without columns that are constant."""
    loaders = {
        "breast cancer": datasets.load_breast_cancer,
        "wine": datasets.load_wine,
        "diabetes": lambda: datasets.load_diabetes(scaled=False),
        "digits": datasets.load_digits,
    }
    tables = {name: load().data.astype(float) for name, load in loaders.items()}
    return {name: table[:, np.ptp(table, axis=0) > 0] for name, table in tables.items()}


class Planted(NamedTuple):
    """A real table with faults in one cell of a hundred."""

    X: Array
    bad: NDArray[np.bool_]


def planted(table: Array, sizes: Array, seed: int, share: float = 0.01) -> Planted:
    """Cells of a share, moved by so many units of their columns, up or down."""
    rng = np.random.default_rng([SEED, seed])
    bad = np.zeros(table.size, bool)
    bad[rng.permutation(table.size)[: round(share * table.size)]] = True
    bad = bad.reshape(table.shape)
    return Planted(table + np.where(bad, sizes * rng.choice([-1, 1], table.shape), 0), bad)


def mad_rule(X: Array, times: float = 5.0) -> NDArray[np.bool_]:
    """The rule of thumb that looks at each column by itself."""
    away = np.abs(X - np.nanmedian(X, axis=0))
    return away > times * column_scales(X)


def removed(table: Array, seed: int, share: float = 0.1) -> NDArray[np.bool_]:
    """Cells that are taken out, for imputation."""
    return np.random.default_rng([SEED, seed, 1]).random(table.shape) < share
