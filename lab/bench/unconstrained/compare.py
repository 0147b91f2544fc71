"""Comparison "unconstrained": noisy matrices with outliers, problem (2) to a certified gap, and (1) beside it."""

from math import log
from typing import Any

import numpy as np

from ..matrices.contender import Contender
from ..matrices.memory import HOW
from ..matrices.ours import minimiser, pursuit
from ..matrices.plain import reference
from ..matrices.racing import race_and_memory
from ..matrices.stopwatch import Stopwatch
from ..matrices.tasks import LARGE, MEDIUM, NOISE, SIZES, Size, make, sizes
from ..shared.progress import say

GROWTH = (MEDIUM, Size(4000, 4000, 20))
_ONCE = dict.fromkeys((size.label for size in SIZES), 1)


def contenders() -> list[Contender]:
    tolerances = ((np.float64, 1e-6), (np.float32, 1e-4))
    ours = [minimiser(solver, *how) for how in tolerances for solver in ("proximal", "alternating")]
    too_slow = {LARGE.label: "one run takes more than 2 minutes"}
    return [
        reference(),
        *ours,
        pursuit(np.float64, 1e-4, with_noise=True, rounds=_ONCE, not_run=too_slow, memory_iterations=0),
        pursuit(np.float64, 1e-4, rounds=_ONCE, not_run=too_slow, memory_iterations=0),
    ]


def run(quick: bool) -> dict[str, Any]:
    tables = [race_and_memory("unconstrained", contenders(), size, NOISE, quick) for size in sizes(quick)]
    return {"tables": tables, "memory": HOW, "growth": None if quick else growth()}


def growth() -> dict[str, Any]:
    """CPU seconds of `proximal` to 1e-6 at two sizes, and the power of the side that they grow as."""
    fastest = minimiser("proximal", np.float64, 1e-6)
    seconds = []
    for size in GROWTH:
        task, _ = make(size, NOISE, seed=0)
        say(f"  {size.label}: {fastest.name}")
        stopwatch = Stopwatch()
        fastest.solve(task, stopwatch, 10_000)
        seconds.append(stopwatch.elapsed)
    power = log(seconds[1] / seconds[0]) / log(GROWTH[1].n / GROWTH[0].n)
    return {"sides": [size.n for size in GROWTH], "seconds": seconds, "power": power}
