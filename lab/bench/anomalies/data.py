"""Low-rank tables in which some rows are bad, in one of several ways."""

from collections.abc import Callable

import numpy as np

Array = np.ndarray
Planter = Callable[[np.random.Generator, Array, Array, float], Array]
"""Makes bad rows of good ones, given as their low-rank part, with components and noise level."""

SHAPES = {"200x10": (200, 10, 2), "500x20": (500, 20, 3), "1000x40": (1000, 40, 5), "300x80": (300, 80, 4)} | {
    "100x200": (100, 200, 3)
}
"""Rows, columns and rank, beside a mean."""
SHARE = 0.08
"""Bad rows."""
NOISE = 0.3


def other_subspace(rng: np.random.Generator, L: Array, V: Array, noise: float) -> Array:
    """Half of the size of each row turned into directions that the others do not have."""
    away = rng.standard_normal(L.shape)
    size = np.linalg.norm(L, axis=1, keepdims=True) / np.linalg.norm(away, axis=1, keepdims=True)
    return 0.9 * L + 0.25 * size * away


def broken_cells(rng: np.random.Generator, L: Array, V: Array, noise: float) -> Array:
    """Three cells off by 3 to 6 times the noise."""
    rows = L.copy()
    for row in rows:
        there = rng.choice(L.shape[1], 3, replace=False)
        row[there] += rng.choice([-1, 1], 3) * rng.uniform(3, 6, 3) * noise
    return rows


def scaled(rng: np.random.Generator, L: Array, V: Array, noise: float) -> Array:
    """Everything times 1.8 to 3."""
    return L * rng.uniform(1.8, 3, (len(L), 1))


def shifted(rng: np.random.Generator, L: Array, V: Array, noise: float) -> Array:
    """All cells of a row off by the same amount, one to two times the noise."""
    return L + noise * rng.uniform(1, 2, (len(L), 1)) * rng.choice([-1, 1], (len(L), 1))


def noisier(rng: np.random.Generator, L: Array, V: Array, noise: float) -> Array:
    """1.7 times the noise."""
    return L + np.sqrt(1.7**2 - 1) * noise * rng.standard_normal(L.shape)


def stuck(rng: np.random.Generator, L: Array, V: Array, noise: float) -> Array:
    """A third of the cells, side by side, show one value: that of the first of them."""
    rows, width = L.copy(), max(2, L.shape[1] // 3)
    for row in rows:
        start = rng.integers(L.shape[1] - width + 1)
        row[start : start + width] = row[start]
    return rows


def swapped(rng: np.random.Generator, L: Array, V: Array, noise: float) -> Array:
    """A fifth of the cells of a row in another order."""
    rows, count = L.copy(), max(2, L.shape[1] // 5)
    for row in rows:
        there = rng.choice(L.shape[1], count, replace=False)
        row[there] = row[np.roll(there, 1)]
    return rows


def far_codes(rng: np.random.Generator, L: Array, V: Array, noise: float) -> Array:
    """Rows of the right subspace, far from all others in it: 3 to 4.5 times as far as usual."""
    codes = rng.standard_normal((len(L), len(V)))
    codes *= rng.uniform(3, 4.5, (len(L), 1)) * np.sqrt(len(V)) / np.linalg.norm(codes, axis=1, keepdims=True)
    return L.mean(axis=0) + codes @ V


KINDS: dict[str, Planter] = {
    "another subspace": other_subspace,
    "three broken cells": broken_cells,
    "scaled": scaled,
    "shifted": shifted,
    "noisier": noisier,
    "stuck cells": stuck,
    "swapped cells": swapped,
    "far codes": far_codes,
}
CHOSEN_ON = ("another subspace", "three broken cells", "scaled", "shifted")
"""Kinds that the statistic was chosen on, on the first three shapes; the others were looked at only afterwards."""


def made_table(shape: str, kind: str, seed: int) -> tuple[Array, Array]:
    """A table and which of its rows are bad."""
    n, m, rank = SHAPES[shape]
    rng = np.random.default_rng([seed, n, m, list(KINDS).index(kind)])
    V = rng.standard_normal((rank, m)) * np.linspace(1.0, 0.5, rank)[:, None]
    low_rank = 1.5 * rng.standard_normal(m) + rng.standard_normal((n, rank)) @ V
    bad = np.zeros(n, bool)
    bad[rng.choice(n, max(2, round(SHARE * n)), replace=False)] = True
    low_rank[bad] = KINDS[kind](rng, low_rank[bad], V, NOISE)
    units = rng.uniform(0.5, 2.0, m)
    noise = NOISE * rng.uniform(0.5, 1.5, m)
    return (low_rank + noise * rng.standard_normal((n, m))) * units, bad
