"""Other Python packages as contenders on problem (1)."""

import io
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module

from ..shared.environment import package_version
from .contender import Answer, Contender
from .stopwatch import Stopwatch
from .tasks import LARGE, MEDIUM, SIZES, SMALL, TALL, Task

_TOO_SLOW = "one run would take more than 2 minutes"


def runnable_peers() -> list[Contender]:
    """All peers; those whose package cannot be imported are listed as not run."""
    known = [_pyrpca(), _tensorly(), _sporco(1e-6), _sporco(1e-3), _godec(), _orpca()]
    return [_missing(contender, reason) if (reason := why_missing(contender)) else contender for contender in known]


def pursuers() -> list[Contender]:
    """The peers that solve (1), none with a tolerance that takes minutes, whether they can be imported or not."""
    return [_pyrpca(), _tensorly(), _sporco(1e-3)]


def why_missing(contender: Contender) -> str:
    """Why a peer cannot run here; nothing if it can."""
    try:
        import_module(contender.package)
    except ImportError:
        return f"{contender.package} ({package_version(contender.package)}) cannot be imported"
    return ""


def _missing(contender: Contender, reason: str) -> Contender:
    everywhere = {size.label: reason for size in SIZES}
    return Contender(contender.name, contender.solve, package=contender.package, not_run=everywhere)


def _pyrpca() -> Contender:
    def solve(task: Task, stopwatch: Stopwatch, max_iter: int) -> Answer:
        from pyrpca import rpca_pcp_ialm

        log = io.StringIO()
        with redirect_stdout(log):
            low_rank, _ = rpca_pcp_ialm(task.X, task.pursuit_penalty, max_iter=max_iter, tol=1e-7, verbose=True)
        return Answer(lambda: low_rank, sum(line.startswith("iter") for line in log.getvalue().splitlines()))

    settings = "rpca_pcp_ialm, defaults (tol 1e-7), its log read for the iterations"
    return Contender("pyrpca", solve, settings=settings, package="pyrpca", rounds={LARGE.label: 1}, memory_iterations=3)


def _tensorly() -> Contender:
    def solve(task: Task, stopwatch: Stopwatch, max_iter: int) -> Answer:
        from tensorly.decomposition import robust_pca

        low_rank, _, errors = robust_pca(
            task.X,
            reg_E=2 * task.pursuit_penalty,
            n_iter_max=min(max_iter, 1000),
            return_errors=True,
            verbose=0,
        )
        return Answer(lambda: low_rank, len(errors))

    return Contender(
        "tensorly",
        solve,
        settings="robust_pca, reg_E = 2 lam (it thresholds both unfoldings), n_iter_max=1000, other defaults",
        package="tensorly",
        rounds={SMALL.label: 1, TALL.label: 1},
        not_run=dict.fromkeys((MEDIUM.label, LARGE.label), _TOO_SLOW),
        slow=True,
        memory_iterations=3,
    )


def _sporco(tol: float) -> Contender:
    tight = tol < 1e-3

    def solve(task: Task, stopwatch: Stopwatch, max_iter: int) -> Answer:
        from sporco.admm.rpca import RobustPCA

        options = RobustPCA.Options(
            {"FastSolve": True, "RelStopTol": tol, "MaxMainIter": min(max_iter, 1000), "Verbose": False}
        )
        solver = RobustPCA(task.X, task.pursuit_penalty, options)
        low_rank, _ = solver.solve()
        return Answer(lambda: low_rank, solver.k)

    sizes = (MEDIUM.label, LARGE.label) if tight else (LARGE.label,)
    return Contender(
        f"sporco, {tol:.0e}",
        solve,
        settings=f"admm.rpca.RobustPCA, RelStopTol {tol:.0e}{'' if tight else ' (its default)'}, FastSolve",
        package="sporco",
        rounds={SMALL.label: 1, MEDIUM.label: 1, TALL.label: 1},
        not_run=dict.fromkeys(sizes, _TOO_SLOW),
        slow=tight,
        memory_iterations=3,
    )


def _godec() -> Contender:
    def solve(task: Task, stopwatch: Stopwatch, max_iter: int) -> Answer:
        from hyperspy.learn import rpca_godec

        low_rank = rpca_godec(task.X.T, rank=task.rank, maxiter=min(max_iter, 1000), random_state=0)[0]
        return Answer(lambda: low_rank.T)

    return _hyperspy("hyperspy GoDec, rank given", solve, "learn.rpca_godec, the true rank given, other defaults")


def _orpca() -> Contender:
    def solve(task: Task, stopwatch: Stopwatch, max_iter: int) -> Answer:
        from hyperspy.learn import orpca

        penalties = {"lambda1": 0.1, "lambda2": 0.1}
        start = {"training_samples": max(10, task.rank), "random_state": 0}
        with redirect_stderr(io.StringIO()):
            left, right = orpca(task.X.T, rank=task.rank, method="SGD", **penalties, **start)
        return Answer(lambda: (left @ right).T, 1)

    settings = "learn.orpca, SGD, lambda1 = lambda2 = 0.1, the true rank given, one pass over the samples"
    return _hyperspy("hyperspy ORPCA, rank given", solve, settings)


def _hyperspy(name: str, solve: Callable[[Task, Stopwatch, int], Answer], settings: str) -> Contender:
    return Contender(
        name,
        solve,
        problem="own",
        settings=settings,
        package="hyperspy",
        rounds={size.label: 1 for size in SIZES},
        memory_iterations=3,
    )
