"""All that take part: the reference, our solvers, plain ADMM, other packages."""

import gc
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import process_time
from typing import Any

import numpy as np

from unmingle import decompose, pursue
from unmingle.core.iterate import run as run_until
from unmingle.core.solvers.criteria import GapCriterion, PursuitCriterion
from unmingle.core.solvers.pcp import pursuit_iterates
from unmingle.core.solvers.proximal import proximal_iterates

from ..matrices.contender import Contender
from ..matrices.peers import pursuers, why_missing
from ..matrices.plain import TOL, plain_alm
from ..matrices.plain_admm import admm_of_pursuit, admm_unconstrained
from ..matrices.stopwatch import Stopwatch
from .case import CLOSE, PATIENCE, Case, Outcome, clocked, parts

REFERENCE = "plain full-SVD ALM, (1)"
TOLERANCES = (1e-3, 1e-4, 1e-6)
MAX_ITER = 1000
MOST_OF_PEERS = 10_000
TOO_SLOW = {
    "pyrpca": ("Escalator",),
    "tensorly": ("Escalator", "Frey", "planted, noisy"),
    "sporco, 1e-03": ("Escalator", "planted, noisy"),
}
"""Where one run of a peer takes longer than our patience."""


@dataclass(frozen=True)
class Entrant:
    """Somebody who takes part: `solve(case)` gives an Outcome."""

    name: str
    solve: Callable[[Case], Outcome]
    once: bool = False
    """Slow: in the first round only."""
    is_peer: bool = False
    left_out: dict[str, str] = field(default_factory=dict)
    """Why it does not run on these matrices; "" stands for all of them."""

    def excuse(self, matrix: str) -> str:
        return self.left_out.get("") or self.left_out.get(matrix, "")


def entrants() -> list[Entrant]:
    """In the order of their turns: the reference tells the cost to reach, our certificates the minima."""
    return [
        Entrant(REFERENCE, _reference),
        *(Entrant(f"(1) to {tol:.0e}", _certified("(1)", tol), once=tol < 1e-4) for tol in TOLERANCES),
        *(Entrant(f"(2) to {tol:.0e}", _certified("(2)", tol)) for tol in TOLERANCES),
        Entrant("(2) to 1e-04, auto", _certified("(2)", 1e-4, automatic=True)),
        Entrant("(1) to equal cost", _our_pursuit),
        Entrant(f"(2) to a cost within {CLOSE:.0e}", _our_minimiser),
        Entrant("plain ADMM, (1) to equal cost", _admm_of_pursuit, once=True),
        Entrant(f"plain ADMM, (2) to a cost within {CLOSE:.0e}", _admm_unconstrained, once=True),
        *map(_peer, pursuers()),
    ]


def _reference(case: Case) -> Outcome:
    """Its answer is also the cost of (1) that others are to reach."""
    iterates = plain_alm(case.X, case.lam)
    seconds, result = clocked(lambda: run_until(iterates, lambda it: it.residual, tol=TOL, max_iter=200))
    low_rank = result.state.low_rank
    case.target = case.pursuit_cost(low_rank, np.linalg.norm(low_rank, "nuc"))
    return Outcome(seconds, result.n_iter, result.converged, case.target)


def _certified(problem: str, tol: float, *, automatic: bool = False) -> Callable[[Case], Outcome]:
    """`decompose` to a certified gap, which is inside the clock."""

    def solve(case: Case) -> Outcome:
        own = {} if automatic or problem == "(1)" else case.penalties
        split = pursue if problem == "(1)" else decompose
        options = {"tol": tol, "max_iter": MAX_ITER, "random_state": 0, **own}
        begin = process_time()
        with warnings.catch_warnings(), certificates_clocked() as certifying:
            warnings.simplefilter("ignore")
            seconds, part = clocked(
                lambda: split(case.X, callback=lambda _: process_time() - begin > PATIENCE, **options)
            )
        if not automatic:
            case.learn(problem, part.objective * (1 - part.gap))
        cost = part.objective if problem == "(1)" else None
        # A pursuit that stopped on its residual has converged, but to another measure.
        return Outcome(seconds, part.n_iter, part.converged and part.gap <= tol, cost, sum(certifying) / seconds)

    return solve


@contextmanager
def certificates_clocked() -> Iterator[list[float]]:
    """CPU seconds of each call of `certify` of either criterion while this lasts."""
    spent: list[float] = []
    own = {kind: kind.certify for kind in (GapCriterion, PursuitCriterion)}

    def with_clock(certify: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any) -> Any:
            begin = process_time()
            found = certify(*arguments)
            spent.append(process_time() - begin)
            return found

        return timed

    try:
        for kind, certify in own.items():
            kind.certify = with_clock(certify)  # type: ignore[method-assign]
        yield spent
    finally:
        for kind, certify in own.items():
            kind.certify = certify  # type: ignore[method-assign]


def _followed(iterates: Iterator[Any], is_there: Callable[[float], bool], cost: Callable[..., float]) -> Outcome:
    """Iterates until their cost will do, or patience ends. What it takes to tell the cost is off the clock."""
    spent, iterations, there = 0.0, 0, False
    gc.collect()
    while not there and spent <= PATIENCE:
        begin = process_time()
        state = next(iterates)
        spent += process_time() - begin
        iterations += 1
        there = is_there(cost(*parts(state)))
    return Outcome(spent, iterations, there)


def _to_equal_cost(case: Case, iterates: Iterator[Any]) -> Outcome:
    return _followed(iterates, lambda cost: cost <= case.target, case.pursuit_cost)


def _to_close_cost(case: Case, iterates: Iterator[Any]) -> Outcome:
    return _followed(iterates, case.is_close, case.unconstrained_cost)


def _our_pursuit(case: Case) -> Outcome:
    lam = case.task.per_feature(case.lam)
    return _to_equal_cost(case, pursuit_iterates(case.X, lam, rng=np.random.default_rng(0)))


def _our_minimiser(case: Case) -> Outcome:
    lam_star, lam = case.penalties["rank_penalty"], case.task.per_feature(case.penalties["outlier_penalty"])
    return _to_close_cost(case, proximal_iterates(case.X, lam_star, lam, rng=np.random.default_rng(0)))


def _admm_of_pursuit(case: Case) -> Outcome:
    return _to_equal_cost(case, admm_of_pursuit(case.X, case.lam))


def _admm_unconstrained(case: Case) -> Outcome:
    lam_star, lam = case.penalties["rank_penalty"], case.penalties["outlier_penalty"]
    return _to_close_cost(case, admm_unconstrained(case.X, lam_star, lam))


def _peer(contender: Contender) -> Entrant:
    """Another package, to its own tolerance; its L is judged together with O = X - L."""

    def solve(case: Case) -> Outcome:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seconds, answer = clocked(lambda: contender.solve(case.task, Stopwatch(), MOST_OF_PEERS))
        low_rank = answer.low_rank()
        cost = case.pursuit_cost(low_rank, np.linalg.norm(low_rank, "nuc"))
        return Outcome(seconds, answer.n_iter, answer.converged, cost)

    slow = dict.fromkeys(TOO_SLOW[contender.name], f"more than {PATIENCE:g} s")
    missing = why_missing(contender)
    return Entrant(contender.name, solve, once=True, is_peer=True, left_out={"": missing} if missing else slow)
