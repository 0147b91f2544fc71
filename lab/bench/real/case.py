"""A matrix with its penalties, what is known of its minima, and what a contender came back with."""

import gc
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from time import process_time
from typing import Any

import numpy as np

from unmingle import decompose

from ..matrices.tasks import Task, dense
from .matrices import Array

PATIENCE = 50.0
"""CPU seconds after which a run is given up; the reference takes less on every matrix."""
CLOSE = 1e-4
"""How near a cost of (2) must come to the minimum, relatively."""


@dataclass(frozen=True)
class Outcome:
    """One run of one contender."""

    seconds: float
    iterations: int | None
    reached: bool = True
    """Whether it got where it was sent before it was given up."""
    cost: float | None = None
    """Of its low-rank part in (1), where that is what it solves."""
    certifying: float | None = None
    """Share of the time that certificates took."""


class Case:
    """X with lam of (1), lam_* and lam of (2), the cost that the reference reached, and the best bounds so far."""

    def __init__(self, X: Array) -> None:
        self.X, self.task = X, Task(X, 0, 0.0)
        self.lam = self.task.pursuit_penalty
        found = decompose(X, tol=1e-3, random_state=0)
        self.penalties = {"rank_penalty": found.rank_penalty, "outlier_penalty": found.outlier_penalty}
        self.target = inf
        """Cost of (1) to reach."""
        self._bounds = {"(1)": 0.0, "(2)": 0.0}

    def learn(self, problem: str, bound: float) -> None:
        """Take in a lower bound of a minimum."""
        self._bounds[problem] = max(self._bounds[problem], bound)

    def pursuit_cost(self, low_rank: Array, nuclear_norm: float) -> float:
        """||L||_* + lam ||X - L||_1."""
        return float(nuclear_norm + self.lam * np.abs(self.X - low_rank).sum())

    def unconstrained_cost(self, low_rank: Array, nuclear_norm: float) -> float:
        """1/2 ||X - L - O||^2 + lam_* ||L||_* + lam ||O||_1 with the best O: Huber's function of X - L."""
        rest, lam = self.X - low_rank, self.penalties["outlier_penalty"]
        inside = np.clip(rest, -lam, lam)
        return float(np.sum(inside * (rest - 0.5 * inside)) + self.penalties["rank_penalty"] * nuclear_norm)

    def is_close(self, cost: float) -> bool:
        """Whether a cost of (2) is certified to be near its minimum."""
        return cost - self._bounds["(2)"] <= CLOSE * cost

    def excess(self, cost: float) -> float:
        """What a cost of (1) is above the certified minimum, relatively; at most, for the bound is below it."""
        return cost / self._bounds["(1)"] - 1


def parts(state: Any) -> tuple[Array, float]:
    """The low-rank part of an iterate and its nuclear norm, ours or that of a plain method."""
    if hasattr(state, "nuclear_norm"):
        return state.low_rank, state.nuclear_norm
    return dense(state.low_rank), float(state.low_rank.values.sum())


def clocked(work: Callable[[], Any]) -> tuple[float, Any]:
    gc.collect()
    begin = process_time()
    done = work()
    return process_time() - begin, done
