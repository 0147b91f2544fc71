"""Optimality measures of iterates: certificates, taken when they are likely to pay."""

from math import inf, log, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..objective import (
    Certificate,
    certify_splitting,
    certify_unconstrained,
    nonnegative_stationarity,
    stationarity,
)
from ._nmf import Factors
from ._pcp import Pursuit, certify_pursuit
from ._splitting import Split
from ._sweeps import Sweep

Array = NDArray[np.floating[Any]]

_SMALL = 2**15
"""Entries up to which a certificate costs next to nothing."""
_ROUGH = 1e-4
"""The gap that float32 can be asked for."""


class GapCriterion:
    """Optimality measure for iterates of (2) and (4): the relative duality gap of (2), or NaN where nobody looked.

    With all ``at_most`` atoms in use the gap may stay open for ever, and the stationarity residual of (4) will do as
    well.
    """

    def __init__(self, X: Array, lam_star: float, lam: Array, tol: float, at_most: int | None = None) -> None:
        self._X, self._lam_star, self._lam, self._at_most = X, lam_star, lam, at_most
        self._looks = Looks(tol, always=X.size <= _SMALL)
        self._seen: tuple[Any, Any] = (None, None)

    def __call__(self, sweep: Sweep) -> float:
        """The measure of an iterate."""
        if not sweep.settled or not self._looks.due(sweep.step):
            return nan
        value = self._looks.take(self.certify(sweep), sweep.step)
        if sweep.low_rank.rank == self._at_most:
            rest = stationarity(self._X, sweep.low_rank, self._lam_star, self._lam)
            value = self._looks.settle_for(rest, sweep.step)
        return value

    def certify(self, sweep: Sweep) -> Certificate:
        """The certificate of an iterate, with the best bound so far."""
        if self._seen[0] is not sweep:
            self._seen = sweep, self._looks.with_best_bound(self._certified(sweep))
        return self._seen[1]

    def _certified(self, sweep: Sweep) -> Certificate:
        X, lam_star, lam, split = self._X, self._lam_star, self._lam, sweep.split
        if split is None:
            return certify_unconstrained(X, sweep.low_rank, lam_star, lam)
        return certify_splitting(X, split.low_rank, split.point, split.weight, lam_star, lam)


class PursuitCriterion:
    """Optimality measure for iterates of `pcp`: their relative residual, or the certified gap of those by splitting.

    In float32 a gap of 1e-4 will do.
    """

    def __init__(self, X: Array, lam: Array, eps: float, tol: float) -> None:
        self._X, self._lam, self._eps, self._tol = X, lam, eps, tol
        self._wanted = max(tol, _ROUGH) if X.dtype == np.float32 else tol
        self._looks = Looks(self._wanted, always=X.size <= _SMALL)

    def __call__(self, pursuit: Pursuit | Split) -> float:
        """The measure of an iterate; NaN where nobody looked at its gap."""
        if isinstance(pursuit, Pursuit):
            return pursuit.residual
        if not self._looks.due(pursuit.step):
            return nan
        gap = self._looks.take(self.certify(pursuit), pursuit.step)
        return min(gap, self._tol) if gap <= self._wanted else gap

    def certify(self, pursuit: Pursuit | Split) -> Certificate:
        """The certificate of an iterate, with the best bound so far."""
        return self._looks.with_best_bound(certify_pursuit(self._X, pursuit, self._lam, self._eps))


class StationarityCriterion:
    """Optimality measure for iterates of `nmf`: `objective.nonnegative_stationarity`, or NaN where nobody looked."""

    def __init__(self, X: Array, lam_star: float, lam: Array, tol: float) -> None:
        self._problem = lam_star, lam
        self._X, self._looks = X, Looks(tol, always=X.size <= _SMALL)

    def __call__(self, factors: Factors) -> float:
        """The measure of an iterate."""
        return self._looks.see(self.measure(factors), factors.step) if self._looks.due(factors.step) else nan

    def measure(self, factors: Factors) -> float:
        """The same, looked at in any case."""
        return nonnegative_stationarity(self._X, factors.components, factors.codes, *self._problem)


class Looks:
    """When to take a certificate, which costs about as much as a step of a solver, and the best bound so far."""

    def __init__(self, tol: float, *, always: bool = False) -> None:
        self._tol, self._always, self._bound = tol, always, -inf
        self._age, self._due, self._due_step = 0, 3, 0.0
        self._before, self._last = (0, nan), (0, nan)

    def due(self, step: float) -> bool:
        """Whether to look at an iterate, which the solver reached by a step of this size."""
        self._age += 1
        return self._always or self._age >= self._due or step <= self._due_step

    def with_best_bound(self, certificate: Certificate) -> Certificate:
        """The same point with the best bound so far, since all of them stay valid."""
        self._bound = max(self._bound, certificate.bound)
        return certificate._replace(bound=self._bound)

    def take(self, certificate: Certificate, step: float) -> float:
        """The relative gap that a certificate tells."""
        return self.see(certificate.gap, step)

    def see(self, value: float, step: float) -> float:
        """Any measure."""
        self._before = self._last
        return self._judged(value, step)

    def settle_for(self, measure: float, step: float) -> float:
        """The same, where another measure will do as well."""
        return self._judged(min(self._last[1], measure), step)

    def _judged(self, value: float, step: float) -> float:
        self._last = (self._age, value)
        self._due = self._age + self._wait()
        self._due_step = step * self._tol / value if value > 0 else inf
        return value

    def _wait(self) -> int:
        """Most of the steps that are left if the measure goes on falling as it did, ten or a quarter of all at most."""
        (earlier, larger), (age, value) = self._before, self._last
        longest = max(10, age // 4)
        if not 0 < value < larger:
            return longest
        left = log(value / self._tol) / log(larger / value) * (age - earlier)
        return int(min(max(0.8 * left, 1.0), longest))
