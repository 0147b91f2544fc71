"""The synthetic matrices that every comparison runs on."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from unmingle.core.linalg.low_rank import LowRank
from unmingle.synth import low_rank_plus_sparse

Array = np.ndarray[Any, Any]


class Size(NamedTuple):
    n: int
    m: int
    rank: int

    @property
    def label(self) -> str:
        return f"{self.n}x{self.m}"


SMALL = Size(400, 400, 10)
MEDIUM = Size(1000, 1000, 20)
LARGE = Size(2000, 2000, 20)
TALL = Size(6336, 200, 5)
SIZES = (SMALL, MEDIUM, LARGE, TALL)
ROUNDS = {SMALL: 5, MEDIUM: 3, LARGE: 2, TALL: 3}
NOISE = 0.05
"""Standard deviation of the dense noise, where there is some; that of the low-rank entries is 1."""


def sizes(quick: bool) -> tuple[Size, ...]:
    return (SMALL,) if quick else SIZES


@dataclass(frozen=True, eq=False)
class Task:
    """A matrix to take apart, and the penalties to do it with."""

    X: Array
    rank: int
    noise: float

    @property
    def pursuit_penalty(self) -> float:
        """lam of (1)."""
        return 1 / sqrt(max(self.X.shape))

    @property
    def rank_penalty(self) -> float:
        """lam_* of (2)."""
        n, m = self.X.shape
        return NOISE * (sqrt(n) + sqrt(m))

    @property
    def outlier_penalty(self) -> float:
        """lam of (2)."""
        return self.rank_penalty * self.pursuit_penalty

    @property
    def noise_norm(self) -> float:
        """Expected Frobenius norm of the noise, eps of (1)."""
        return self.noise * sqrt(self.X.size)

    def per_feature(self, penalty: float) -> Array:
        return np.full(self.X.shape[1], penalty, self.X.dtype)

    def in_dtype(self, dtype: Any) -> "Task":
        return Task(self.X.astype(dtype, copy=False), self.rank, self.noise)


def make(size: Size, noise: float, seed: int) -> tuple[Task, Array]:
    """X = A B + outliers + noise, and the true low-rank part A B.

    Entries of A B have standard deviation 1; outliers are uniform in [-3, 3] on 10 % of the entries.
    """
    made = low_rank_plus_sparse(*size, outlier_fraction=0.1, noise=noise, random_state=seed)
    return Task(made.X, size.rank, noise), made.low_rank


def dense(low_rank: LowRank | Array) -> Array:
    """The matrix itself, in float64."""
    if isinstance(low_rank, LowRank):
        return low_rank.scaled_left.astype(np.float64) @ low_rank.right.astype(np.float64)
    return np.asarray(low_rank, dtype=np.float64)


def error_against(truth: Array) -> Callable[[LowRank | Array], float]:
    """Relative error ||L - truth||_F / ||truth||_F as a function of L."""
    size = float(np.linalg.norm(truth))
    return lambda low_rank: float(np.linalg.norm(dense(low_rank) - truth)) / size
