"""Comparison "unconstrained": noisy matrices with outliers, problem (2) to a certified gap, and (1) beside it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from compare_pcp import table
from contender import Contender
from ours import minimiser, pursuit
from peak_memory import HOW
from plain_alm import reference
from tasks import LARGE, MEDIUM, NOISE, SMALL, TALL, Size

_ONCE = dict.fromkeys((SMALL.label, MEDIUM.label, LARGE.label, TALL.label), 1)


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


def compare(sizes: Sequence[Size], quick: bool = False) -> dict[str, Any]:
    return {"tables": [table(contenders(), size, NOISE, quick) for size in sizes], "memory": HOW}
