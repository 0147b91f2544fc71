"""What takes part in a comparison."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unmingle.core.linalg.low_rank import LowRank
from unmingle.core.objective import Certificate

from .stopwatch import Stopwatch
from .tasks import Array, Task

REFERENCE = "plain full-SVD ALM"
OWN = ("unmingle", "scipy")
"""Packages of our solvers and of the reference; all others are peers, which may be missing or fail."""


@dataclass(frozen=True)
class Answer:
    """What a contender came back with."""

    low_rank: Callable[[], LowRank | Array]
    """Builds the low-rank part, after the clock has stopped."""
    n_iter: int | None = None
    converged: bool = True
    certificate: Callable[[], Certificate] | None = None
    """Builds the certificate of the problem solved, after the clock has stopped."""


@dataclass(frozen=True)
class Contender:
    """A way to take a matrix apart: `solve(task, stopwatch, max_iter)`."""

    name: str
    solve: Callable[[Task, Stopwatch, int], Answer]
    problem: str = "(1)"
    """What it solves; where that is none of ours, "own", it is judged by (1)."""
    settings: str = ""
    package: str = "unmingle"
    dtype: Any = np.float64
    rounds: Mapping[str, int] = field(default_factory=dict)
    """Fewer rounds at these sizes."""
    not_run: Mapping[str, str] = field(default_factory=dict)
    """Why it is left out at these sizes."""
    slow: bool = False
    """Left out of a quick run."""
    memory_iterations: int = 10_000
    """Iterations after which its memory has peaked; 0 where memory is not measured."""
