"""Nonnegative data with truth, and penalties for them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Planted(NamedTuple):
    X: Array
    product: Array
    codes: Array
    components: Array
    sigma: float

    def error(self, found: Array) -> float:
        """Relative error of SU."""
        return float(np.linalg.norm(found - self.product) / np.linalg.norm(self.product))


def planted(n: int, m: int, q: int, seed: int, *, outliers: float = 0.1, sigma: float = 0.05) -> Planted:
    """Exponential factors, normal noise, cut at zero, and gross positive outliers, up to ten times the mean."""
    rng = np.random.default_rng(seed)
    codes, components = rng.exponential(1.0, (n, q)) / q**0.25, rng.exponential(1.0, (q, m)) / q**0.25
    product = codes @ components
    X = product + sigma * rng.standard_normal((n, m))
    X += np.where(rng.random((n, m)) < outliers, rng.uniform(0, 10 * product.mean(), (n, m)), 0)
    return Planted(np.maximum(X, 0), product, codes, components, sigma)


def penalties(data: Planted) -> tuple[float, float]:
    """lam_* = sigma (sqrt n + sqrt m), lam = lam_* / sqrt(max(n, m)), as "auto" has them."""
    n, m = data.X.shape
    lam_star = data.sigma * (np.sqrt(n) + np.sqrt(m))
    return lam_star, lam_star / np.sqrt(max(n, m))


class Rows(NamedTuple):
    clean: Array
    X: Array
    components: Array
    lam_star: float
    lam: Array


def spectra(n: int, m: int, q: int, seed: int) -> Rows:
    """Rows of uneven atoms, three in ten of which take part, noise of both signs, a tenth of outliers."""
    rng = np.random.default_rng(seed)
    components = rng.gamma(0.5, 1.0, (q, m))
    codes = rng.exponential(1.0, (n, q)) * (rng.random((n, q)) < 0.3)
    clean, sigma = codes @ components, 0.1
    clean += sigma * rng.standard_normal((n, m))
    X = clean + np.where(rng.random((n, m)) < 0.1, rng.uniform(0, 10 * clean.mean(), (n, m)), 0)
    lam_star = sigma * (np.sqrt(n) + np.sqrt(m))
    return Rows(clean, X, components, lam_star, np.full(m, lam_star / np.sqrt(max(n, m))))


def anything(n: int, rng: np.random.Generator) -> Rows:
    """Samples as the bar on certificates wants them, m 5..600, q 1..60, atoms over three decades, else by chance."""
    m, q = int(rng.integers(5, 601)), int(rng.integers(1, 61))
    components = rng.gamma(rng.choice([0.3, 1.0]), 1.0, (q, m)) * 10.0 ** rng.uniform(-1.5, 1.5, (q, 1))
    codes = rng.exponential(1.0, (n, q)) * (rng.random((n, q)) < rng.uniform(0.1, 1))
    clean = codes / np.maximum(np.linalg.norm(components, axis=1), 1e-9) * np.sqrt(m) @ components
    mean = clean.mean() + 1e-9
    sigma = mean * 10.0 ** rng.uniform(-3, -0.3)
    X = clean + sigma * rng.standard_normal((n, m))
    X += np.where(rng.random((n, m)) < rng.uniform(0, 0.6), rng.uniform(0, 10 * mean, (n, m)), 0)
    X[rng.random((n, m)) < rng.uniform(0, 0.3)] = np.nan
    lam_star = sigma * (np.sqrt(m) + np.sqrt(n)) * 10.0 ** rng.uniform(-2, 1)
    return Rows(clean, X, components, lam_star, sigma * rng.uniform(0.5, 3) * rng.uniform(0.5, 2, m))
