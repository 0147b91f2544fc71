"""Comparison "pcp": exactly low-rank matrices with outliers, problem (1)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from contender import Contender
from ours import pursuit
from peak_memory import HOW, peak_copies
from peers import peers
from plain_alm import reference
from race import race, say
from tasks import ROUNDS, Size


def contenders() -> list[Contender]:
    ours = [pursuit(np.float64, 1e-7), pursuit(np.float64, 1e-9), pursuit(np.float32, 1e-6)]
    return [reference(), *ours, *peers()]


def compare(sizes: Sequence[Size], quick: bool = False) -> dict[str, Any]:
    return {"tables": [table(contenders(), size, 0.0, quick) for size in sizes], "memory": HOW}


def table(known: Sequence[Contender], size: Size, noise: float, quick: bool) -> dict[str, Any]:
    """Rows of all contenders at one size, fastest first; those that did not run come last."""
    entrants = [contender for contender in known if not (quick and contender.slow)]
    rounds = 2 if quick else ROUNDS[size]
    rows = race(entrants, size, noise, rounds)
    for contender, row in zip(entrants, rows, strict=True):
        if "cpu" in row and contender.memory_iterations and not quick:
            say(f"  {size.label} memory: {contender.name}")
            row["memory"] = peak_copies(contender.name, *size, noise, contender.memory_iterations)
    rows.sort(key=lambda row: row.get("cpu", np.inf))
    return {"size": size.label, "rank": size.rank, "noise": noise, "rounds": rounds, "rows": rows}
