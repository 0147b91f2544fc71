"""Comparison "real": matrices of films, sound and faces, problems (1) and (2), against plain methods and packages."""

import os
from collections import defaultdict
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from ...data import DATA_VARIABLE
from ..shared.progress import say
from .case import PATIENCE, Case, Outcome
from .contenders import REFERENCE, Entrant, entrants
from .matrices import MATRICES, QUICK, Array

ROUNDS = {"Hall": 2, "Yale": 2}
"""Other matrices take minutes and have one."""
SLOW = ("tensorly", "sporco, 1e-03")
"""Left out of a quick run."""
_PIECE = (64, 128)
"""Sides, at most, of the piece of a matrix on which all is imported and compiled."""


def run(quick: bool) -> dict[str, Any]:
    folder = os.environ.get(DATA_VARIABLE)
    if not folder:
        return {"rows": [], "remark": f"Left out: {DATA_VARIABLE} names no folder of data."}
    names = QUICK if quick else tuple(MATRICES)
    present = [entrant for entrant in entrants() if not quick or entrant.name not in SLOW]
    rows = [_row(name, MATRICES[name](Path(folder)), 1 if quick else ROUNDS.get(name, 1), present) for name in names]
    return {"rows": rows, "patience": PATIENCE, "remark": ""}


def _row(name: str, X: Array, rounds: int, present: Sequence[Entrant]) -> dict[str, Any]:
    """All in turns on one matrix."""
    say(f"real: {name}, {X.shape[0]} x {X.shape[1]}")
    left_out = {entrant.name: entrant.excuse(name) for entrant in present if entrant.excuse(name)}
    left_out |= _warm_up(X, [entrant for entrant in present if entrant.name not in left_out])
    case = Case(X)
    turns: dict[str, list[Outcome]] = defaultdict(list)
    for k in range(rounds):
        for entrant in present:
            if entrant.name not in left_out and not (entrant.once and k):
                turns[entrant.name].append(entrant.solve(case))
                say(f"  round {k + 1}/{rounds}: {entrant.name} ({turns[entrant.name][-1].seconds:.1f} s)")
    figures = {key: _figures(case, outcomes, turns[REFERENCE]) for key, outcomes in turns.items()}
    return {"name": name, "shape": list(X.shape), "rounds": rounds, "figures": figures, "left_out": left_out}


def _warm_up(X: Array, present: Sequence[Entrant]) -> dict[str, str]:
    """Run everybody on every so many rows and columns; tell which peers fail, and why."""
    n, m = X.shape
    sides = _PIECE if n <= m else _PIECE[::-1]
    case, failures = Case(np.ascontiguousarray(X[:: ceil(n / sides[0]), :: ceil(m / sides[1])])), {}
    # Low penalties make many components, whose ways through the solvers are to be compiled, too.
    case.penalties = {name: 0.3 * value for name, value in case.penalties.items()}
    for entrant in present:
        try:
            entrant.solve(case)
        except Exception as problem:
            if not entrant.is_peer:
                raise
            failures[entrant.name] = f"it failed with {type(problem).__name__}: {problem}"
    return failures


def _figures(case: Case, outcomes: Sequence[Outcome], references: Sequence[Outcome]) -> dict[str, Any]:
    """Medians over the rounds; *ratio* is the time of the reference over the own in the same round."""
    last, shares = outcomes[-1], [outcome.certifying for outcome in outcomes]
    return {
        "seconds": median(outcome.seconds for outcome in outcomes),
        "ratio": median(r.seconds / own.seconds for r, own in zip(references, outcomes, strict=False)),
        "iterations": last.iterations,
        "reached": all(outcome.reached for outcome in outcomes),
        "excess": None if last.cost is None else case.excess(last.cost),
        "certifying": None if None in shares else median(shares),
    }
