"""Comparison "unconstrained": noisy matrices with outliers, problem (2) to a certified gap, and (1) beside it."""

from typing import Any

import numpy as np

from .._matrices.contender import Contender
from .._matrices.memory import HOW
from .._matrices.ours import minimiser, pursuit
from .._matrices.plain import reference
from .._matrices.racing import race_and_memory
from .._matrices.tasks import LARGE, NOISE, SIZES, sizes

_ONCE = dict.fromkeys((size.label for size in SIZES), 1)


def contenders() -> list[Contender]:
    tolerances = ((np.float64, 1e-6), (np.float32, 1e-4))
    ours = [minimiser(solver, *how) for how in tolerances for solver in ("proximal", "alternating")]
    too_slow = {LARGE.label: "one run takes more than 2 minutes"}
    return [
        reference(),
        *ours,
        pursuit(np.float64, 1e-7, with_noise=True, rounds=_ONCE, not_run=too_slow, memory_iterations=0),
        pursuit(np.float64, 1e-7, rounds=_ONCE, not_run=too_slow, memory_iterations=0),
    ]


def run(quick: bool) -> dict[str, Any]:
    tables = [race_and_memory("unconstrained", contenders(), size, NOISE, quick) for size in sizes(quick)]
    return {"tables": tables, "memory": HOW}
