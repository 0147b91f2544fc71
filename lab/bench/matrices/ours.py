"""Our solvers as contenders."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from unmingle.core.iterate import run
from unmingle.core.linalg.low_rank import LowRank
from unmingle.core.objective import Certificate, certify_unconstrained
from unmingle.core.solvers.criteria import GapCriterion, PursuitCriterion
from unmingle.core.solvers.pcp import pursuit_iterates
from unmingle.core.solvers.proximal import alternating_iterates, proximal_iterates

from .contender import Answer, Contender
from .stopwatch import Stopwatch
from .tasks import Task

_ITERATES: dict[str, Callable[..., Any]] = {"proximal": proximal_iterates, "alternating": alternating_iterates}
MAX_ITER = 2000


def pursuit(
    dtype: Any,
    tol: float,
    *,
    with_noise: bool = False,
    rounds: Mapping[str, int] | None = None,
    not_run: Mapping[str, str] | None = None,
    memory_iterations: int = MAX_ITER,
) -> Contender:
    """`pcp` to a certified gap and a hundredth of it as relative residual; all certificates are part of the time."""

    def solve(task: Task, stopwatch: Stopwatch, max_iter: int) -> Answer:
        lam, eps = task.per_feature(task.pursuit_penalty), task.noise_norm if with_noise else 0.0
        iterates = stopwatch.follow(pursuit_iterates(task.X, lam, eps, rng=np.random.default_rng(0)))
        criterion = PursuitCriterion(task.X, lam, eps, tol)
        result = run(iterates, criterion, tol=tol, max_iter=min(max_iter, MAX_ITER))

        def certificate() -> Certificate:
            return criterion.certify(result.state)

        return Answer(lambda: result.state.low_rank, result.n_iter, result.converged, certificate)

    name = f"unmingle pcp{', eps = ‖noise‖' if with_noise else ''}, {np.dtype(dtype).name}, {tol:.0e}"
    return Contender(
        name,
        solve,
        problem="(1) with eps" if with_noise else "(1)",
        settings=f"certified relative gap {tol:.0e}, relative residual {tol / 100:.0e}, rank not given",
        dtype=dtype,
        rounds=rounds or {},
        not_run=not_run or {},
        memory_iterations=memory_iterations,
    )


def minimiser(solver: str, dtype: Any, tol: float) -> Contender:
    """`proximal` or `alternating` to a certified gap of (2); all certificates are part of the time."""

    def solve(task: Task, stopwatch: Stopwatch, max_iter: int) -> Answer:
        lam_star, lam = task.rank_penalty, task.per_feature(task.outlier_penalty)
        iterates = stopwatch.follow(_ITERATES[solver](task.X, lam_star, lam, rng=np.random.default_rng(0)))
        criterion = GapCriterion(task.X, lam_star, lam, tol)
        result = run(iterates, criterion, tol=tol, max_iter=min(max_iter, MAX_ITER))

        def certificate() -> Certificate:
            """Once more, in float64 and from the answer alone."""
            wide = LowRank(*(part.astype(np.float64) for part in result.state.low_rank))
            return certify_unconstrained(task.X.astype(np.float64), wide, lam_star, lam.astype(np.float64))

        return Answer(lambda: result.state.low_rank, result.n_iter, result.converged, certificate)

    name = f"unmingle {solver}, {np.dtype(dtype).name}, {tol:.0e}"
    settings = f"certified relative gap {tol:.0e}, rank not given"
    return Contender(name, solve, problem="(2)", settings=settings, dtype=dtype)
