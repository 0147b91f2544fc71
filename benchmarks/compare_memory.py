"""Comparison "memory": `proximal` on a matrix that is large for one machine."""

from typing import Any

import numpy as np
from contender import Answer, Contender
from ours import minimiser
from peak_memory import HOW, peak_copies
from race import say
from stopwatch import Stopwatch
from tasks import NOISE, Size, Task

from unmingle import decompose

SIZE = Size(5000, 5000, 20)
TOL = 1e-4


def through_decompose() -> Contender:
    """What a user calls: the same solver, with X scaled and all parts returned."""

    def solve(task: Task, stopwatch: Stopwatch, max_iter: int) -> Answer:
        penalties = {"rank_penalty": task.rank_penalty, "outlier_penalty": task.outlier_penalty}
        part = decompose(task.X, **penalties, solver="proximal", tol=TOL, random_state=0)
        return Answer(lambda: part.low_rank, part.n_iter, part.converged)

    return Contender("unmingle.decompose, float32", solve, problem="(2)", dtype=np.float32)


def contenders() -> list[Contender]:
    return [minimiser("proximal", np.float32, TOL), through_decompose()]


def compare(size: Size = SIZE) -> dict[str, Any]:
    rows = []
    for contender in contenders():
        say(f"  {size.label} memory: {contender.name}")
        copies = peak_copies(contender.name, *size, NOISE, contender.memory_iterations)
        rows.append({"contender": contender.name, "memory": copies})
    return {"size": size.label, "rank": size.rank, "noise": NOISE, "memory": HOW, "rows": rows}
