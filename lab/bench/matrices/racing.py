"""Contenders run in turns on the same matrices, in one process: A B C A B C ..."""

import gc
import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import nan
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from unmingle.core.linalg.low_rank import LowRank
from unmingle.core.objective import Certificate

from ..shared.environment import package_version
from ..shared.progress import say
from .contender import OWN, REFERENCE, Answer, Contender
from .memory import peak_copies
from .stopwatch import Stopwatch
from .tasks import ROUNDS, Array, Size, Task, dense, error_against, make

JUDGED_BY_1 = ("(1)", "own")
RANK_FLOOR = 1e-6
"""A singular value counts for the rank if it is above this fraction of the largest."""


@dataclass
class Turn:
    """One run of one contender, and what its answer is worth."""

    cpu: float
    n_iter: int | None
    converged: bool
    error: float
    rank: int
    objective: float
    bound: float | None
    ratio: float = nan
    gap: float | None = None
    watched: bool = False
    cpu_to_error: float | None = None
    ratio_to_error: float | None = None
    stopwatch: Stopwatch | None = field(default=None, repr=False)


def race_and_memory(
    comparison: str, known: Sequence[Contender], size: Size, noise: float, quick: bool
) -> dict[str, Any]:
    """Rows of all contenders at one size, fastest first; those that did not run come last."""
    entrants = [contender for contender in known if not (quick and contender.slow)]
    rounds = 2 if quick else ROUNDS[size]
    rows = race(entrants, size, noise, rounds)
    for contender, row in zip(entrants, rows, strict=True):
        if "cpu" in row and contender.memory_iterations and not quick:
            say(f"  {size.label} memory: {contender.name}")
            row["memory"] = peak_copies(comparison, contender.name, size, noise, contender.memory_iterations)
    rows.sort(key=lambda row: row.get("cpu", np.inf))
    return {"size": size.label, "rank": size.rank, "noise": noise, "rounds": rounds, "rows": rows}


def race(contenders: Sequence[Contender], size: Size, noise: float, rounds: int) -> list[dict[str, Any]]:
    """One row for each contender. Each round has its own seed, so that no figure hangs on one matrix."""
    failures = _warm_up(contenders, size, noise)
    turns: dict[str, list[Turn]] = defaultdict(list)
    for k in range(rounds):
        task, truth = make(size, noise, seed=k)
        able = [c for c in contenders if size.label not in c.not_run and c.name not in failures]
        present = [c for c in able if k < c.rounds.get(size.label, rounds)]
        for contender in present:
            begin = perf_counter()
            turns[contender.name].append(_turn(contender, task, truth))
            say(f"  {size.label} round {k + 1}/{rounds}: {contender.name} ({perf_counter() - begin:.1f} s)")
        _compare(present, {c.name: turns[c.name][k] for c in present}, noise)
    excuses = {c.name: failures.get(c.name) or c.not_run.get(size.label, "") for c in contenders}
    return [_row(contender, turns[contender.name], excuses[contender.name]) for contender in contenders]


def _warm_up(contenders: Sequence[Contender], size: Size, noise: float) -> dict[str, str]:
    """Import and compile everything before any clock runs; tell which peers fail, and why."""
    task, truth = make(Size(90, 80, 2), noise, seed=0)
    failures = {}
    for contender in contenders:
        try:
            if size.label not in contender.not_run:
                _turn(contender, task, truth, max_iter=20)
        except Exception as problem:
            if contender.package in OWN:
                raise
            failures[contender.name] = f"it failed with {type(problem).__name__}: {problem}"
    return failures


def _turn(contender: Contender, task: Task, truth: Array, max_iter: int = 10_000) -> Turn:
    given = task.in_dtype(contender.dtype)
    gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stopwatch = Stopwatch(error_against(truth))
        answer = contender.solve(given, stopwatch, max_iter)
        cpu = stopwatch.elapsed
    low_rank = answer.low_rank()
    values = _singular_values(low_rank)
    certificate = _certificate(contender, answer, task, low_rank, values)
    return Turn(
        cpu,
        answer.n_iter,
        answer.converged,
        error_against(truth)(low_rank),
        int(np.count_nonzero(values > RANK_FLOOR * values.max(initial=0.0))),
        certificate.objective,
        certificate.bound,
        stopwatch=stopwatch,
    )


def _singular_values(low_rank: LowRank | Array) -> Array:
    if isinstance(low_rank, LowRank):
        return low_rank.values.astype(np.float64)
    return np.linalg.svd(dense(low_rank), compute_uv=False)


def _certificate(
    contender: Contender, answer: Answer, task: Task, low_rank: LowRank | Array, values: Array
) -> Certificate:
    """Objective and lower bound. In (1) L is judged together with O = X - L, so that every answer is feasible.

    A bound found in float32 is one of another matrix, the rounded one, and does not count in (1).
    """
    found = answer.certificate() if answer.certificate else Certificate(nan, -np.inf)
    if contender.problem not in JUDGED_BY_1:
        return found
    objective = values.sum() + task.pursuit_penalty * np.abs(task.X - dense(low_rank)).sum()
    return Certificate(float(objective), found.bound if contender.dtype == np.float64 else -np.inf)


def _compare(present: Sequence[Contender], turns: dict[str, Turn], noise: float) -> None:
    """Ratios to the reference of this round, gaps to the best bound of the same problem, time to a common error.

    The common error is 1e-6 without noise; with noise it is that of the reference's answer, give or take 1 %. Another
    ratio is taken at the time when the error is that of the reference's answer.
    """
    reference = turns[REFERENCE]
    target = 1.01 * reference.error if noise else 1e-6
    shared = max(turns[contender.name].bound for contender in present if contender.problem in JUDGED_BY_1)
    for contender in present:
        turn = turns[contender.name]
        bound = shared if contender.problem in JUDGED_BY_1 else turn.bound
        turn.gap = max(turn.objective - bound, 0.0) / turn.objective if np.isfinite(bound) else None
        turn.bound = bound if np.isfinite(bound) else None
        turn.ratio = reference.cpu / turn.cpu
        turn.watched = bool(turn.stopwatch and turn.stopwatch.trace)
        turn.cpu_to_error = turn.stopwatch.time_to(target) if turn.stopwatch else None
        as_good = turn.stopwatch.time_to(reference.error) if turn.stopwatch else None
        turn.ratio_to_error = None if as_good is None else reference.cpu / as_good
        turn.stopwatch = None


def _row(contender: Contender, turns: Sequence[Turn], excuse: str) -> dict[str, Any]:
    """Medians of times and ratios; the worst of errors and gaps."""
    row: dict[str, Any] = {
        "contender": contender.name,
        "problem": contender.problem,
        "settings": contender.settings,
        "package": contender.package,
        "version": package_version(contender.package),
    }
    if not turns:
        return row | {"not_run": excuse}
    reached = [turn.cpu_to_error for turn in turns]
    return row | {
        "rounds": len(turns),
        "cpu": median(turn.cpu for turn in turns),
        "ratio": median(turn.ratio for turn in turns),
        "n_iter": _middle([turn.n_iter for turn in turns]),
        "error": max(turn.error for turn in turns),
        "rank": max(turn.rank for turn in turns),
        "gap": max((turn.gap for turn in turns if turn.gap is not None), default=None),
        "watched": all(turn.watched for turn in turns),
        "cpu_to_error": None if None in reached else median(reached),
        "ratio_to_error": median(turn.ratio_to_error or 0.0 for turn in turns),
        "converged": all(turn.converged for turn in turns),
        "turns": [{name: value for name, value in asdict(turn).items() if name != "stopwatch"} for turn in turns],
    }


def _middle(counts: Sequence[int | None]) -> int | None:
    return None if None in counts else int(median(counts))
