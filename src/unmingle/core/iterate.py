"""The only loop that decides when to stop."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

State = TypeVar("State")


@dataclass(frozen=True)
class Progress:
    """How far some work has come: what every callback is given."""

    done: int
    """Iterations, steps, samples or whatever the work consists of."""
    total: int | None
    """How many of them there are at most; None if that is not known."""
    measure: float = math.nan
    """What is to become small, as it was last known: an optimality measure, or the cost of training."""
    tol: float = math.nan
    """Where the measure is small enough."""


Callback = Callable[[Progress], object]
"""Is called now and then while work goes on; a true answer ends the work there."""


@dataclass(frozen=True)
class Result(Generic[State]):
    """Where the iterates were stopped, and what the optimality measure was there."""

    state: State
    n_iter: int
    measure: float
    """The optimality measure of ``state``; NaN if it was not taken there."""
    converged: bool


def run(
    iterates: Iterator[State],
    criterion: Callable[[State], float],
    *,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
) -> Result[State]:
    """Draw iterates until their optimality measure is at most ``tol``.

    Parameters
    ----------
    iterates : iterator
        A solver.
    criterion : callable
        Optimality measure of an iterate. NaN where it is not known: some measures are worth their price only
        now and then.
    tol : float
        Stop when the measure is at most this.
    max_iter : int
        Stop after this many iterates at the latest.
    callback : callable, optional
        Called with a `Progress` after every iterate; a true answer stops the run there.

    Returns
    -------
    Result
        The last iterate drawn.

    Examples
    --------
    >>> halves = (2.0**-k for k in range(100))
    >>> run(halves, abs, tol=0.1, max_iter=50)
    Result(state=0.0625, n_iter=5, measure=0.0625, converged=True)
    """
    known = math.nan
    for n_iter, state in enumerate(islice(iterates, max_iter), start=1):
        measure = criterion(state)
        known = known if math.isnan(measure) else measure
        stopped = callback is not None and callback(Progress(n_iter, max_iter, known, tol))
        if measure <= tol or stopped:
            break
    return Result(state, n_iter, measure, bool(measure <= tol))
