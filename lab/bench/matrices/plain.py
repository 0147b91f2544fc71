"""The reference of all comparisons: principal component pursuit by a plain inexact augmented Lagrangian method."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import svds

from unmingle.core.iterate import run
from unmingle.core.prox import soft_threshold

from .contender import REFERENCE, Answer, Contender
from .stopwatch import Stopwatch
from .tasks import Array, Task

GROWTH = 1.5
TOL = 1e-7


@dataclass(frozen=True)
class Iterate:
    low_rank: Array
    residual: float


def plain_alm(X: Array, lam: float) -> Iterator[Iterate]:
    """Iterates of min ||L||_* + lam ||O||_1 subject to L + O = X, with a full SVD in every step.

    Multiplier Y, weight mu = 1.25 / ||X||_2, 1.5 times larger in each step::

        L <- shrink singular values of X - O + Y/mu by 1/mu
        O <- soft(X - L + Y/mu, lam/mu)
        Y <- Y + mu (X - L - O)
    """
    size = np.linalg.norm(X)
    norm = svds(X, k=1, return_singular_vectors=False, random_state=0)[0]
    Y = X / max(norm, np.abs(X).max() / lam)
    O = np.zeros_like(X)  # noqa: E741
    mu = 1.25 / norm
    while True:
        U, s, Vt = linalg.svd(X - O + Y / mu, full_matrices=False, overwrite_a=True, check_finite=False)
        r = int(np.count_nonzero(s > 1 / mu))
        L = (U[:, :r] * (s[:r] - 1 / mu)) @ Vt[:r]
        rest = X - L
        O = soft_threshold(rest + Y / mu, lam / mu)  # noqa: E741
        rest -= O
        Y += mu * rest
        yield Iterate(L, float(np.linalg.norm(rest) / size))
        mu *= GROWTH


def _solve(task: Task, stopwatch: Stopwatch, max_iter: int) -> Answer:
    iterates = stopwatch.follow(plain_alm(task.X, task.pursuit_penalty))
    result = run(iterates, lambda iterate: iterate.residual, tol=TOL, max_iter=min(max_iter, 200))
    return Answer(lambda: result.state.low_rank, result.n_iter, result.converged)


def reference() -> Contender:
    settings = f"mu = 1.25/‖X‖₂, growth {GROWTH}, relative residual {TOL:.0e}, scipy.linalg.svd"
    return Contender(REFERENCE, _solve, settings=settings, package="scipy", memory_iterations=3)
