"""The problems behind `decompose` and `pursue`, at any scale of the data."""

import warnings
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from ..._types import Array
from ..iterate import Callback, run
from ..linalg.low_rank import LowRank
from ..linalg.units import Units
from ..objective import stationarity
from ..penalties import from_noise, from_residual, matching_outlier_penalty, noise_fit
from ..solvers.criteria import GapCriterion, PursuitCriterion
from ..solvers.pcp import pursuit_iterates
from ..solvers.proximal import alternating_iterates, proximal_iterates
from .result import Decomposition, fix_signs

ITERATES = {"proximal": proximal_iterates, "alternating": alternating_iterates}
"""Solvers of (2) and (4), by their names."""
_LEAST_TOL_OF_FLOAT32 = 1e-4
"""Rounding in float32 can blur a gap below this."""


@dataclass(frozen=True)
class Problem:
    """One decomposition: data of any scale, and how long to work on it.

    The way is always the same: bring X to units in which it is about one, choose the penalties, draw iterates of a
    solver until the criterion is satisfied, and bring the answer back.
    """

    X: Array
    n_components: int | None
    tol: float
    max_iter: int
    callback: Callback | None
    rng: np.random.Generator

    def _in_units(self) -> tuple[Array, Units]:
        units = Units.of(self.X)
        return units.to_units(self.X), units

    @property
    def _reachable_tol(self) -> float:
        return max(self.tol, _LEAST_TOL_OF_FLOAT32) if self.X.dtype == np.float32 else self.tol

    def minimise(self, penalties: tuple[float | None, float | Array | None], method: str) -> Decomposition:
        """Solve (2) or (4), by a method of `ITERATES`."""
        X, units = self._in_units()
        (rank_penalty, outlier_penalty), start = self._choose_penalties(X, units, penalties)
        if not np.any(np.nan_to_num(X)):
            return self._all_zero(rank_penalty, outlier_penalty)
        lam_star = units.to_units(rank_penalty)
        lam = penalty_per_feature(units.to_units(outlier_penalty), X)
        refuse_vanishing(lam_star, lam)
        tol = self._reachable_tol
        at_most = None if self.n_components is None else min(self.n_components, *X.shape)
        measure = GapCriterion(X, lam_star, lam, tol, at_most)
        iterates = ITERATES[method](X, lam_star, lam, n_components=at_most, rng=self.rng, start=start)
        result = run(iterates, measure, tol=tol, max_iter=self.max_iter, callback=self.callback)
        # The criterion does not look at every iterate: the last one may be good enough though nobody looked.
        certificate = measure.certify(result.state)
        low_rank = result.state.low_rank.astype(X.dtype)
        converged = result.converged or certificate.gap <= tol
        if not converged:
            stationary = low_rank.rank == at_most
            name = "stationarity residual" if stationary else "duality gap"
            value = stationarity(X, low_rank, lam_star, lam) if stationary else certificate.gap
            warn_unfinished(result.n_iter, tol, name, value)
        return self._answer(
            low_rank, _best_outliers(X, low_rank, lam), units, rank_penalty, outlier_penalty,
            objective=units.cost_from_units(certificate.objective), gap=certificate.gap,
            n_iter=result.n_iter, converged=converged,
        )  # fmt: skip

    def pursue(self, outlier_penalty: float | Array | None, eps: float) -> Decomposition:
        """Solve (1)."""
        X, units = self._in_units()
        if outlier_penalty is None:
            outlier_penalty = 1 / sqrt(max(X.shape))
        if not np.any(np.nan_to_num(X)):
            return self._all_zero(1.0, outlier_penalty)
        lam = penalty_per_feature(outlier_penalty, X)
        refuse_vanishing(1.0, lam)
        eps = units.to_units(eps)
        tol = self._reachable_tol
        iterates = pursuit_iterates(X, lam, eps, rng=self.rng)
        measure = PursuitCriterion(X, lam, eps, tol)
        result = run(iterates, measure, tol=tol, max_iter=self.max_iter, callback=self.callback)
        outliers, certificate = result.state.outliers(X, lam), measure.certify(result.state)
        if not result.converged:
            warn_unfinished(result.n_iter, tol, *measure.how_far(result.state))
        return self._answer(
            result.state.low_rank.astype(X.dtype), outliers, units, 1.0, outlier_penalty,
            objective=units.from_units(certificate.objective), gap=certificate.gap,
            n_iter=result.n_iter, converged=result.converged,
        )  # fmt: skip

    def _choose_penalties(
        self, X: Array, units: Units, penalties: tuple[float | None, float | Array | None]
    ) -> tuple[tuple[float, float | Array], LowRank | None]:
        """The penalties, and where to start if both follow from the noise."""
        rank_penalty, outlier_penalty = penalties
        if rank_penalty is None:
            fit = noise_fit(X, self.rng, at_most=self.n_components)
            suited = from_residual(X, fit, self.rng) if outlier_penalty is None else from_noise(fit.level, *X.shape)
            rank_penalty = units.from_units(suited.rank_penalty) or 1.0  # 0 where X is 0: any penalty does
            if outlier_penalty is None and suited.outlier_penalty:
                start = fit.low_rank if fit.low_rank is not None else self._start_without_noise(X)
                return (rank_penalty, units.from_units(suited.outlier_penalty)), start
        if outlier_penalty is None:
            outlier_penalty = matching_outlier_penalty(rank_penalty, *X.shape)
        return (rank_penalty, outlier_penalty), None

    def _start_without_noise(self, X: Array) -> LowRank:
        """The low-rank part of (1): where there is no noise, and penalties are tiny, the best to start (2) from."""
        lam, tol = penalty_per_feature(1 / sqrt(max(X.shape)), X), max(self.tol, 1e-4)
        found = run(
            pursuit_iterates(X, lam, 0.0, rng=self.rng),
            PursuitCriterion(X, lam, 0.0, tol),
            tol=tol,
            max_iter=self.max_iter,
        )
        return found.state.low_rank.astype(X.dtype)

    def _answer(
        self,
        low_rank: LowRank,
        outliers: Array,
        units: Units,
        rank_penalty: float,
        outlier_penalty: float | Array,
        **facts: Any,
    ) -> Decomposition:
        codes, components = fix_signs(*low_rank.balanced())
        return Decomposition(
            units.factors_from_units(codes),
            units.factors_from_units(components),
            self.X,
            units.from_units(outliers, out=outliers),
            rank_penalty,
            outlier_penalty,
            _at_most=self.n_components,
            **facts,
        )

    def _all_zero(self, rank_penalty: float, outlier_penalty: float | Array) -> Decomposition:
        n, m = self.X.shape
        nothing = LowRank.zero(n, m, self.X.dtype)
        return self._answer(
            nothing, np.zeros_like(self.X), Units(), rank_penalty, outlier_penalty, objective=0.0, gap=0.0
        )


def warn_unfinished(n_iter: int, tol: float, name: str, value: float, *, depth: int = 4) -> None:
    """Warn that a solver was stopped before its measure was small enough; who called is ``depth`` calls up."""
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(
        f"Stopped after {n_iter} iterations at a {name} of {value:.1e}, above tol={tol:.1e}; "
        "raise max_iter or tol, raise the penalties, or give all columns the same scale.",
        ConvergenceWarning,
        stacklevel=depth,
    )


def penalty_per_feature(outlier_penalty: float | Array, X: Array) -> Array:
    """The outlier penalty as a vector of the dtype of X."""
    with np.errstate(over="ignore"):
        return np.broadcast_to(np.asarray(outlier_penalty), X.shape[1:]).astype(X.dtype)


def _best_outliers(X: Array, low_rank: LowRank, lam: Array) -> Array:
    """soft(X - L, lam), and 0 where X is missing; with one temporary array only, for the sake of large data."""
    misfit = low_rank.scaled_left @ low_rank.right
    np.subtract(X, misfit, out=misfit)
    misfit[np.isnan(X)] = 0
    misfit -= np.clip(misfit, -lam, lam)
    return misfit


def refuse_vanishing(lam_star: float, lam: Array) -> None:
    """Refuse penalties, in units of the data, that are zero or infinite beside them."""
    limits = np.finfo(lam.dtype)
    least = float(limits.tiny) / float(limits.eps)
    if not (least < lam_star < np.inf and (lam > least).all() and np.isfinite(lam).all()):
        raise ValueError(
            "The penalties are too large or too small for the numbers in X; choose them nearer to penalty_max(X)."
        )
