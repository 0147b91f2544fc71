"""Optimality measures of iterates: certificates, taken when they are likely to pay."""

from dataclasses import dataclass
from math import inf, isnan, log, nan, sqrt

from ..._types import Array
from ..objective import Certificate, certify_splitting, certify_unconstrained, nonnegative_stationarity, stationarity
from .nmf import Factors
from .pcp import Pursuit, certify_pursuit
from .proximal import Sweep
from .splitting import Split


@dataclass(frozen=True)
class _CertificateTiming:
    """When iterates are looked at, before the schedule learns from the first look how the gap falls."""

    cheap_entries: int = 2**15
    """Up to this many entries a certificate costs next to nothing, and every iterate is looked at."""
    sweeps: int = 20
    """A sweep of (2) is looked at after this many of them at the latest."""
    step_per_gap: float = 5.0
    """A sweep is looked at when its step, over lam_*, is this many times the gap that is wanted: planted matrices of
    1000 to 4000 rows had gaps of 0.2 to 1 times the step."""
    residual_per_tol: float = 0.01
    """A pursuit is looked at when its relative residual has come down to this share of the tolerance."""


_TIMING = _CertificateTiming()
_LEAST_RESIDUAL = {"float32": 1e-6, "float64": 1e-14}
"""What the relative residual of a pursuit can come down to in each precision."""


class GapCriterion:
    """Optimality measure for iterates of (2) and (4): the relative duality gap of (2), or NaN where nobody looked.

    With all ``at_most`` atoms in use the gap may stay open for ever, and the stationarity residual of (4) will do as
    well.
    """

    def __init__(self, X: Array, lam_star: float, lam: Array, tol: float, at_most: int | None = None) -> None:
        self._X, self._lam_star, self._lam, self._at_most = X, lam_star, lam, at_most
        self._schedule = CertificateSchedule(
            tol,
            always=X.size <= _TIMING.cheap_entries,
            patience=_TIMING.sweeps,
            step=_TIMING.step_per_gap * tol * lam_star,
        )
        self._seen: tuple[Sweep, Certificate] | None = None

    def __call__(self, sweep: Sweep) -> float:
        """The measure of an iterate."""
        expected = nan if sweep.split is None else sweep.split.expected
        if not sweep.settled or not self._schedule.due(sweep.step, expected):
            return nan
        value = self._schedule.take(self.certify(sweep).gap, sweep.step, expected)
        if sweep.low_rank.rank == self._at_most:
            rest = stationarity(self._X, sweep.low_rank.astype(self._X.dtype), self._lam_star, self._lam)
            value = self._schedule.settle_for(rest, sweep.step)
        return value

    def certify(self, sweep: Sweep) -> Certificate:
        """The certificate of an iterate, with the best bound so far."""
        if self._seen is None or self._seen[0] is not sweep:
            self._seen = sweep, self._schedule.with_best_bound(self._certified(sweep))
        return self._seen[1]

    def _certified(self, sweep: Sweep) -> Certificate:
        X, lam_star, lam = self._X, self._lam_star, self._lam
        if sweep.split is None:
            return certify_unconstrained(X, sweep.low_rank.astype(X.dtype), lam_star, lam)
        split = sweep.split.astype(X.dtype)
        return certify_splitting(X, split.low_rank, split.point, split.rho, lam_star, lam)


class PursuitCriterion:
    """Optimality measure of `pursuit_iterates`: the relative duality gap of (1), or NaN where nobody looked.

    Where L + O meets X only in the limit, nobody looks before they are as near as a hundredth of the tolerance asks.
    """

    def __init__(self, X: Array, lam: Array, eps: float, tol: float) -> None:
        self._X, self._lam, self._eps = X, lam, eps
        self._residual = max(_TIMING.residual_per_tol * tol, _LEAST_RESIDUAL[X.dtype.name])
        self._schedule = CertificateSchedule(tol, always=X.size <= _TIMING.cheap_entries)
        self._seen: tuple[Pursuit | Split, Certificate] | None = None

    def __call__(self, pursuit: Pursuit | Split) -> float:
        """The measure of an iterate."""
        if isinstance(pursuit, Pursuit):
            step, expected, near = pursuit.residual, nan, pursuit.residual <= self._residual
        else:
            step, expected, near = pursuit.step, pursuit.expected, True
        if not near or not self._schedule.due(step, expected):
            return nan
        return self._schedule.take(self.certify(pursuit).gap, step, expected)

    def certify(self, pursuit: Pursuit | Split) -> Certificate:
        """The certificate of an iterate, with the best bound so far."""
        if self._seen is None or self._seen[0] is not pursuit:
            certificate = certify_pursuit(self._X, pursuit, self._lam, self._eps)
            self._seen = pursuit, self._schedule.with_best_bound(certificate)
        return self._seen[1]

    def how_far(self, pursuit: Pursuit | Split) -> tuple[str, float]:
        """What kept an iterate from having converged: the name of a measure and its value."""
        if isinstance(pursuit, Pursuit) and pursuit.residual > self._residual:
            return "relative residual", pursuit.residual
        return "duality gap", self.certify(pursuit).gap


class StationarityCriterion:
    """Optimality measure of `nmf_iterates`: `objective.nonnegative_stationarity`, or NaN where nobody looked."""

    def __init__(self, X: Array, lam_star: float, lam: Array, tol: float) -> None:
        self._problem = lam_star, lam
        self._X = X
        self._schedule = CertificateSchedule(tol, always=X.size <= _TIMING.cheap_entries)

    def __call__(self, factors: Factors) -> float:
        """The measure of an iterate."""
        return self._schedule.take(self.measure(factors), factors.step) if self._schedule.due(factors.step) else nan

    def measure(self, factors: Factors) -> float:
        """The same, looked at in any case."""
        return nonnegative_stationarity(self._X, factors.components, factors.codes, *self._problem)


class CertificateSchedule:
    """When to take a certificate, which costs about as much as a step of a solver, and the best bound so far.

    Gaps fall about geometrically. From two looks the schedule tells how many steps are left, and waits for most of
    them; it looks earlier when the steps, or the gap that the solver itself expects, say so.

    Parameters
    ----------
    tol : float
        The gap that is wanted.
    always : bool
        Look at every iterate.
    patience : int
        Iterates before the first look.
    step : float
        Look the first time when a step is this short.

    Examples
    --------
    >>> schedule = CertificateSchedule(1e-4, patience=2)
    >>> [schedule.due(step=1.0) for _ in range(2)]
    [False, True]
    >>> schedule.take(0.01, step=1.0)  # a gap a hundred times too large: wait for a step a hundred times shorter
    0.01
    >>> schedule.due(step=0.5), schedule.due(step=0.01)
    (False, True)
    """

    def __init__(self, tol: float, *, always: bool = False, patience: int = 3, step: float = 0.0) -> None:
        self._tol, self._always, self._bound, self._longest = tol, always, -inf, max(10, patience)
        self._age, self._due, self._due_step, self._due_gap = 0, patience, step, tol
        self._before, self._last = (0, nan), (0, nan)

    def due(self, step: float, expected: float = nan) -> bool:
        """Whether to look at an iterate, which the solver reached by a step of this size.

        A gap that the solver expects, seldom above the true one, tells better than the size of steps.
        """
        self._age += 1
        if isnan(expected):
            return self._always or self._age >= self._due or step <= self._due_step
        return expected <= self._due_gap or (self._last[0] > 0 and self._age >= self._due)

    def with_best_bound(self, certificate: Certificate) -> Certificate:
        """The same point with the best bound so far, since all of them stay valid."""
        self._bound = max(self._bound, certificate.bound)
        return certificate._replace(bound=self._bound)

    def take(self, value: float, step: float, expected: float = nan) -> float:
        """Take in a measure and give it back."""
        self._before = self._last
        return self._judge(value, step, expected)

    def settle_for(self, measure: float, step: float) -> float:
        """The same, where another measure will do as well."""
        return self._judge(min(self._last[1], measure), step)

    def _judge(self, value: float, step: float, expected: float = nan) -> float:
        self._last = (self._age, value)
        self._due = self._age + self._wait()
        if value > 0:
            left = self._tol / value
            self._due_step, self._due_gap = left * step, sqrt(left) * expected
        return value

    def _wait(self) -> int:
        """Most of the steps that are left if the measure goes on falling as it did.

        At most a quarter of the steps so far, or ten; with a patience above ten, as many as that.
        """
        (earlier, larger), (age, value) = self._before, self._last
        longest = max(self._longest, age // 4)
        if not 0 < value < larger:
            return longest
        left = log(value / self._tol) / log(larger / value) * (age - earlier)
        # A look too early costs about one step, one too late costs all the steps in between.
        return int(min(max(0.8 * left, 1.0), longest))
