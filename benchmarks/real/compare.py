"""Comparison "real": matrices of films, sound and faces, problems (1) and (2), against a plain full-SVD method."""

import gc
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from unmingle import decompose, solvers
from unmingle.iterate import run as run_until
from unmingle.linalg import LowRank

from .._matrices.plain import TOL, plain_alm
from .._shared.environment import DATA_VARIABLE
from .._shared.progress import say
from .matrices import MATRICES, QUICK, Array

ROUNDS, QUICK_ROUNDS = 2, 1
TOLERANCES = (1e-3, 1e-4, 1e-6)
PURSUED = (1e-3, 1e-4)
MAX_ITER = 1000
_COMPILED = 40
"""Iterations after which all that is needed is compiled."""


def run(quick: bool) -> dict[str, Any]:
    folder = os.environ.get(DATA_VARIABLE)
    if not folder:
        return {"rows": [], "rounds": 0, "remark": f"Left out: {DATA_VARIABLE} names no folder of data."}
    rounds = QUICK_ROUNDS if quick else ROUNDS
    names = QUICK if quick else tuple(MATRICES)
    return {
        "rows": [_row(name, MATRICES[name](Path(folder)), rounds) for name in names],
        "rounds": rounds,
        "remark": "",
    }


def _row(name: str, X: Array, rounds: int) -> dict[str, Any]:
    """All contenders in turns; ratios are of the reference's time over theirs, medians over the rounds."""
    say(f"real: {name}, {X.shape[0]} x {X.shape[1]}")
    lam = 1 / np.sqrt(max(X.shape))
    found = decompose(X, tol=1e-3, random_state=0)
    penalties = {"rank_penalty": found.rank_penalty, "outlier_penalty": found.outlier_penalty}
    cost, iterations = _reference_cost(X, lam)
    ours: dict[str, Callable[[], Any]] = {
        **{f"(2) to {tol:.0e}": _solving(X, tol=tol, **penalties) for tol in TOLERANCES},
        "(2) to 1e-04, auto": _solving(X, tol=1e-4),
        **{f"(1) to {tol:.0e}": _solving(X, tol=tol, solver="pcp") for tol in PURSUED},
    }
    for options in ({"tol": 1e-4}, {"tol": 1e-6}, {"tol": 1e-4, "solver": "pcp"}):
        _solving(X, max_iter=_COMPILED, **options)()
    seconds: dict[str, list[float]] = {"reference": [], "(1) to equal cost": [], **{key: [] for key in ours}}
    answers = {}
    for _ in range(rounds):
        seconds["reference"].append(_clocked(lambda: _reference(X, lam))[0])
        seconds["(1) to equal cost"].append(_time_to_cost(X, lam, cost))
        for key, solve in ours.items():
            spent, answers[key] = _clocked(solve)
            seconds[key].append(spent)
    return {
        "name": name,
        "shape": list(X.shape),
        "reference": {"seconds": median(seconds["reference"]), "iterations": iterations, "cost": cost},
        "ratios": {
            key: median(r / own for r, own in zip(seconds["reference"], values, strict=True))
            for key, values in seconds.items()
            if key != "reference"
        },
        "answers": {
            key: {"iterations": part.n_iter, "gap": part.gap, "rank": part.rank, "converged": part.converged}
            for key, part in answers.items()
        },
    }


def _solving(X: Array, **options: Any) -> Callable[[], Any]:
    def solve() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return decompose(X, **{"max_iter": MAX_ITER, "random_state": 0, **options})

    return solve


def _reference(X: Array, lam: float) -> Any:
    return run_until(plain_alm(X, lam), lambda iterate: iterate.residual, tol=TOL, max_iter=200)


def _reference_cost(X: Array, lam: float) -> tuple[float, int]:
    result = _reference(X, lam)
    L = result.state.low_rank
    return float(np.linalg.norm(L, "nuc") + lam * np.abs(X - L).sum()), result.n_iter


def _time_to_cost(X: Array, lam: float, cost: float) -> float:
    """CPU seconds of `pcp` until the cost of its L is that of the reference; the cost is taken off the clock."""
    iterates = solvers.pcp(X, np.full(X.shape[1], lam), rng=np.random.default_rng(0))
    spent = 0.0
    for _ in range(MAX_ITER):
        more, state = _clocked(lambda: next(iterates))
        spent += more
        if _cost(X, state.low_rank, lam) <= cost:
            return spent
    return float("inf")


def _cost(X: Array, low_rank: LowRank, lam: float) -> float:
    return float(low_rank.values.sum() + lam * np.abs(X - low_rank.scaled_left @ low_rank.right).sum())


def _clocked(work: Callable[[], Any]) -> tuple[float, Any]:
    gc.collect()
    begin = process_time()
    done = work()
    return process_time() - begin, done
