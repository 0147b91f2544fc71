"""Comparison "pcp": exactly low-rank matrices with outliers, problem (1)."""

from typing import Any

import numpy as np

from ..matrices.contender import Contender
from ..matrices.memory import HOW
from ..matrices.ours import pursuit
from ..matrices.peers import runnable_peers
from ..matrices.plain import reference
from ..matrices.racing import race_and_memory
from ..matrices.tasks import sizes


def contenders() -> list[Contender]:
    ours = [pursuit(np.float64, 1e-5), pursuit(np.float64, 1e-7), pursuit(np.float32, 1e-4)]
    return [reference(), *ours, *runnable_peers()]


def run(quick: bool) -> dict[str, Any]:
    tables = [race_and_memory("pcp", contenders(), size, 0.0, quick) for size in sizes(quick)]
    return {"tables": tables, "memory": HOW}
