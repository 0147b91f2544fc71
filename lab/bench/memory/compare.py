"""Comparison "memory": `proximal` on a matrix that is large for one machine."""

from typing import Any

import numpy as np

from unmingle import decompose

from ..matrices.contender import Answer, Contender
from ..matrices.memory import HOW, peak_copies
from ..matrices.ours import minimiser
from ..matrices.stopwatch import Stopwatch
from ..matrices.tasks import NOISE, SMALL, Size, Task
from ..shared.progress import say

SIZE = Size(5000, 5000, 20)
SIZES = (SIZE, Size(4000, 4000, 20))
"""Above and below the size up to which the spectral norm in a certificate is bounded through a Gram matrix."""
TOL = 1e-4
ITERATIONS = 25
"""Enough for two certificates, where the memory peaks; with the rank it still grows a little until convergence."""


def through_decompose() -> Contender:
    """What a user calls: the same solver, with X scaled and all parts returned."""

    def solve(task: Task, stopwatch: Stopwatch, max_iter: int) -> Answer:
        penalties = {"rank_penalty": task.rank_penalty, "outlier_penalty": task.outlier_penalty}
        part = decompose(task.X, **penalties, tol=TOL, max_iter=max_iter, random_state=0)
        return Answer(lambda: part.low_rank, part.n_iter, part.converged)

    return Contender("unmingle.decompose, float32", solve, problem="(2)", dtype=np.float32)


def contenders() -> list[Contender]:
    return [minimiser("proximal", np.float32, TOL), through_decompose()]


def run(quick: bool) -> dict[str, Any]:
    rows = []
    for size in (SMALL,) if quick else SIZES:
        for contender in contenders():
            say(f"  {size.label} memory: {contender.name}")
            copies = peak_copies("memory", contender.name, size, NOISE, ITERATIONS)
            rows.append({"size": size.label, "rank": size.rank, "contender": contender.name, "memory": copies})
    return {"noise": NOISE, "iterations": ITERATIONS, "memory": HOW, "rows": rows}
