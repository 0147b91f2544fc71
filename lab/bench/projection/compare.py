"""Comparison "projection": frames of a surveillance video onto given components, problem (5)."""

import gc
import os
import warnings
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmingle import RobustPCA
from unmingle.core.objective import projection_gap
from unmingle.core.solvers import projection as solvers

from ...data import DATA_VARIABLE
from ..shared.progress import say

Array = NDArray[Any]

FRAMES, QUICK_FRAMES = 1000, 40
WIDTH, HEIGHT = 88, 72
RANK_PENALTY, OUTLIER_PENALTY, COMPONENTS = 0.1, 1e-3, 5
TOL = 1e-8
ROUNDS = 5
LEAVING = "Algorithm 1, finished samples leave every 10 passes"
STAYING = "Algorithm 1, all samples until the last is done"


class Setting(NamedTuple):
    X: Array
    components: Array
    lam_star: float
    lam: Array


class Projected(NamedTuple):
    codes: Array
    passes: float | None = None
    """Passes over a sample, on average."""
    slowest: int | None = None
    """Passes over the slowest sample."""


def newton(setting: Setting) -> Projected:
    return Projected(next(solvers.newton(*setting, tol=TOL)).codes)


def newton_passes(setting: Setting) -> tuple[float, int]:
    """How many Newton steps a sample takes, on average and at most, found by cutting the method short."""
    unfinished: list[float] = []
    while not unfinished or unfinished[-1]:
        state = next(solvers.newton(*setting, tol=TOL, max_steps=len(unfinished) + 1))
        X, components, lam_star, lam = setting
        unfinished.append(float(np.mean(projection_gap(X, components, state.codes, lam_star, lam) > TOL)))
    return 1 + sum(unfinished), len(unfinished)


def algorithm_1(setting: Setting, every: int | None) -> Projected:
    """Algorithm 1 until every sample is done; those that are, leave the batch after each `every` passes.

    With None nobody leaves and the batch is passed over until the last sample is done.
    """
    X, components, lam_star, lam = setting
    found = np.empty((len(X), len(components)), X.dtype)
    active, codes = np.arange(len(X)), None
    work = passes = 0
    while active.size:
        rows = X if active.size == len(X) else X[active]
        iterates = solvers.algorithm_1(rows, components, lam_star, lam, codes)
        if every is None:
            taken, state = next((k, state) for k, state in enumerate(iterates, 1) if state.gap.max() <= TOL)
        else:
            taken, state = every, next(islice(iterates, every - 1, None))
        done = state.gap <= TOL
        found[active[done]] = state.codes[done]
        work, passes = work + taken * active.size, passes + taken
        active, codes = active[~done], state.codes[~done]
    return Projected(found, work / len(X), passes)


CONTENDERS: dict[str, Callable[[Setting], Projected]] = {
    "Newton": newton,
    LEAVING: partial(algorithm_1, every=10),
    STAYING: partial(algorithm_1, every=None),
}


def run(quick: bool) -> dict[str, Any]:
    folder = os.environ.get(DATA_VARIABLE)
    if not folder:
        return {"skipped": f"the variable {DATA_VARIABLE} is not set, so there is no video"}
    X = _lobby(Path(folder) / "video" / "i2r_lobby.npz", QUICK_FRAMES if quick else FRAMES)
    components, fit = _components(X)
    setting = Setting(X, components, RANK_PENALTY, np.full(X.shape[1], OUTLIER_PENALTY))
    small = setting._replace(X=X[:20])
    for solve in CONTENDERS.values():
        solve(small)
    turns: dict[str, list[dict[str, Any]]] = {name: [] for name in CONTENDERS}
    for k in range(ROUNDS):
        say(f"  projection round {k + 1}/{ROUNDS}")
        for name, solve in CONTENDERS.items():
            turns[name].append(_turn(solve, setting))
    rows = _rows(turns)
    rows[0]["passes"], rows[0]["slowest"] = newton_passes(setting)
    return {"frames": len(X), "pixels": X.shape[1], "tol": TOL, "fit": fit, "rows": rows}


def _lobby(path: Path, frames: int) -> Array:
    """The first frames of Lobby at 88 x 72, one per row, in [0, 1]."""
    from PIL import Image

    with np.load(path) as stored:
        video = np.cumsum(stored["tdiff"], axis=0, dtype=np.uint8)[:frames]
    small = [np.asarray(Image.fromarray(frame).resize((WIDTH, HEIGHT))) for frame in video]
    return np.stack(small).reshape(len(small), -1) / 255.0


def _components(X: Array) -> tuple[Array, dict[str, Any]]:
    say(f"  RobustPCA({COMPONENTS}) on {len(X)} frames")
    model = RobustPCA(COMPONENTS, rank_penalty=RANK_PENALTY, outlier_penalty=OUTLIER_PENALTY, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = process_time()
        model.fit(X)
    facts = {"cpu": process_time() - begin, "n_iter": model.n_iter_, "converged": model.converged_}
    return model.components_, facts | {"n_components": model.n_components_}


def _turn(solve: Callable[[Setting], Projected], setting: Setting) -> dict[str, Any]:
    gc.collect()
    begin = process_time()
    projected = solve(setting)
    cpu = process_time() - begin
    X, components, lam_star, lam = setting
    gap = projection_gap(X, components, projected.codes, lam_star, lam)
    return {"cpu": cpu, "gap": float(gap.max()), "passes": projected.passes, "slowest": projected.slowest}


def _rows(turns: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """`ratio` is how many times faster Newton is than the contender in the same round."""
    newton_turns = turns["Newton"]
    return [
        {
            "contender": name,
            "rounds": len(mine),
            "cpu": median(turn["cpu"] for turn in mine),
            "ratio": median(turn["cpu"] / base["cpu"] for turn, base in zip(mine, newton_turns, strict=True)),
            "passes": mine[0]["passes"],
            "slowest": mine[0]["slowest"],
            "gap": max(turn["gap"] for turn in mine),
            "turns": mine,
        }
        for name, mine in turns.items()
    ]
