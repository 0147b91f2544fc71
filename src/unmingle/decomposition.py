"""`decompose`: one matrix into a low-rank part and sparse outliers, with a certificate."""

import warnings
from dataclasses import dataclass, field
from math import nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import solvers
from ._threads import suited_to
from ._validation import (
    as_floats,
    check_choice,
    check_count,
    check_mask,
    check_matrix,
    check_optional_count,
    check_positive,
    generator,
    given_penalties,
    is_frame,
)
from .iterate import Callback, run
from .linalg import LowRank, Units
from .objective import stationarity
from .penalties import Penalties, from_noise, noise_fit, penalty_limits
from .solvers import GapCriterion, PursuitCriterion

__all__ = ["Decomposition", "decompose", "penalty_max"]

Array = NDArray[np.floating[Any]]

_ITERATES = {"proximal": solvers.proximal, "alternating": solvers.alternating}


@dataclass(frozen=True, eq=False)
class Decomposition:
    """A matrix taken apart: ``X = low_rank + outliers + residual``.

    The parts of a DataFrame are DataFrames. Where X is missing, outliers and residual are 0 and ``low_rank`` is the
    imputation. ``low_rank`` and ``residual`` are computed when asked for, the latter from X as it is then.
    """

    codes: Array
    """(n, q): the coordinates of the samples."""
    components: Array
    """(q, m): the atoms, of falling norm."""
    _X: Array = field(repr=False)
    _outliers: Array = field(repr=False)
    rank_penalty: float
    outlier_penalty: Any
    objective: float = nan
    """Value of the problem solved, at the answer."""
    gap: float = nan
    """Relative duality gap: the objective is at most this fraction above its minimum."""
    n_iter: int = 0
    converged: bool = True
    sample_gap: Array | None = None
    """(n,): gap of each sample's own projection, from `RobustPCA.decompose`."""
    _frame: Any = field(default=None, repr=False)

    @property
    def rank(self) -> int:
        """Number of components."""
        return len(self.components)

    @property
    def singular_values(self) -> Array:
        """(rank,): of the low-rank part; balanced codes and components share them as square roots."""
        return np.linalg.norm(self.codes, axis=0) * np.linalg.norm(self.components, axis=1)

    @property
    def low_rank(self) -> Any:
        """(n, m): what repeats, ``codes @ components``."""
        return self._like_input(self.codes @ self.components)

    @property
    def outliers(self) -> Any:
        """(n, m): what stands out; exactly zero elsewhere."""
        return self._like_input(self._outliers)

    @property
    def residual(self) -> Any:
        """(n, m): what is left, small and dense."""
        rest = self._X - self.codes @ self.components - self._outliers
        return self._like_input(np.where(np.isnan(self._X), 0, rest))

    def _like_input(self, part: Array) -> Any:
        if self._frame is None:
            return part
        return type(self._frame)(part, index=self._frame.index, columns=self._frame.columns)


def decompose(
    X: ArrayLike,
    *,
    n_components: int | None = None,
    rank_penalty: float | str = "auto",
    outlier_penalty: ArrayLike | str = "auto",
    solver: str = "proximal",
    eps: float = 0.0,
    mask: ArrayLike | None = None,
    tol: float = 1e-4,
    max_iter: int = 500,
    callback: Callback | None = None,
    random_state: Any = None,
) -> Decomposition:
    r"""Split a matrix into a low-rank part and sparse outliers.

    Solvers "proximal" and "alternating" minimise (2), the latter in its factored form (4) with at most
    ``n_components`` atoms; "pcp" minimises (1)::

        (2)  1/2 ||X - L - O||_F^2 + rank_penalty ||L||_* + outlier_penalty ||O||_1
        (1)  ||L||_* + outlier_penalty ||O||_1   subject to   ||X - L - O||_F <= eps

    Data are not centred: a mean is one more component. Scaling X by c > 0 scales both parts by c.

    Parameters
    ----------
    X : array or DataFrame of shape (n_samples, n_features)
        Data; NaN means missing. float32 stays float32, integers and booleans become float64.
    n_components : int, optional
        At most so many components; None for as many as the data ask for. Not for "pcp".
    rank_penalty : float or "auto"
        Larger: lower rank. "auto" is sigma (sqrt m + sqrt n) with sigma the noise level found in the data.
    outlier_penalty : float, array of shape (n_features,), or "auto"
        Larger: fewer outliers. "auto" is ``rank_penalty / sqrt(max(m, n))``, and 1 / sqrt(max(m, n)) for "pcp", where
        the symbol has another meaning: it is this one over the rank penalty. On tables with many more rows than
        columns twice as much is often better.
    solver : {"proximal", "alternating", "pcp"}
        "proximal" for a certified answer of (2), "alternating" for a given number of components, "pcp" for clean data.
    eps : float
        Frobenius norm of the noise that "pcp" allows for.
    mask : boolean array of shape (n_samples, n_features), optional
        True where an entry is observed.
    tol : float
        Stop at this relative duality gap, or stationarity residual of (4) if all ``n_components`` are in use. "pcp"
        also wants L + O to be near X: within this, and a hundredth of it where the rank is low. float32 stops at 1e-4
        at the least.
    max_iter : int
        Stop after so many iterations, with a ConvergenceWarning.
    callback : callable, optional
        Called with an `unmingle.iterate.Progress` after each iteration; a true answer stops.
    random_state : int, Generator or None
        Starts the partial SVD; the same seed gives the same numbers, and None is the seed 0.

    Returns
    -------
    Decomposition
        ``low_rank``, ``outliers``, ``residual``, ``codes``, ``components``, ``objective``, ``gap``, ...

    Examples
    --------
    >>> import numpy as np, unmingle
    >>> rng = np.random.default_rng(0)
    >>> X = np.outer(rng.standard_normal(60), rng.standard_normal(40)) + 0.01 * rng.standard_normal((60, 40))
    >>> X[3, 7] += 5
    >>> part = unmingle.decompose(X, random_state=0)
    >>> part.rank, bool(part.gap <= 1e-4), int(np.argmax(np.abs(part.outliers)))  # 3 * 40 + 7
    (1, True, 127)
    """
    choice = check_choice(solver, "solver", (*_ITERATES, "pcp"))
    tol, max_iter = check_positive(tol, "tol"), check_count(max_iter, "max_iter")
    eps = check_positive(eps, "eps", zero=True)
    if eps and choice != "pcp":
        raise ValueError(f"eps belongs to solver='pcp', got eps={eps} with solver={choice!r}.")
    if choice == "pcp" and rank_penalty != "auto":
        raise ValueError("rank_penalty does not go with solver='pcp': the problem (1) has none.")
    n_components = check_optional_count(n_components, "n_components")
    if choice == "pcp" and n_components is not None:
        raise ValueError("n_components does not go with solver='pcp', which finds the rank; take 'alternating'.")
    data = check_matrix(X) if mask is None else check_matrix(_masked(X, mask))
    problem = _Problem(data, n_components, tol, max_iter, callback, generator(random_state))
    penalties = given_penalties(rank_penalty, outlier_penalty, data.shape[1])
    with suited_to(data.size):
        solved = problem.pursue(penalties[1], eps) if choice == "pcp" else problem.minimise(penalties, choice)
    return _framed(solved, X) if is_frame(X) else solved


def penalty_max(X: ArrayLike) -> Penalties:
    """Penalties of (2) from which on, taken together, the answer is all zero.

    These are ``||X||_2`` and ``max |x_ij|``: the scale on which to choose both.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Data; NaN means missing.

    Returns
    -------
    Penalties
        ``rank_penalty`` and ``outlier_penalty``.

    Examples
    --------
    >>> import numpy as np, unmingle
    >>> unmingle.penalty_max(np.diag([3.0, 4.0])).outlier_penalty
    4.0
    """
    data = check_matrix(X)
    units = Units.of(data)
    with suited_to(data.size):
        limits = penalty_limits(units.to_units(data))
    return Penalties(*map(units.from_units, limits))


def _masked(X: ArrayLike, mask: ArrayLike) -> Array:
    """X with NaN wherever the mask is False, whatever was there."""
    data = as_floats(X)
    return np.where(check_mask(mask, data.shape), data, data.dtype.type(np.nan))


def _framed(part: Decomposition, frame: Any) -> Decomposition:
    return Decomposition(**{**part.__dict__, "_frame": frame})


@dataclass(frozen=True)
class _Problem:
    """One decomposition: data of any scale, and how long to work on it."""

    X: Array
    n_components: int | None
    tol: float
    max_iter: int
    callback: Callback | None
    rng: np.random.Generator

    def _scaled(self) -> tuple[Array, Units]:
        units = Units.of(self.X)
        return units.to_units(self.X), units

    def minimise(self, penalties: tuple[float | None, Any], solver: str) -> Decomposition:
        """Solve (2) or (4)."""
        X, units = self._scaled()
        (rank_penalty, outlier_penalty), start = self._resolve(X, units, penalties)
        if not np.any(np.nan_to_num(X)):
            return self._zero(rank_penalty, outlier_penalty)
        lam_star = units.to_units(rank_penalty)
        lam = thresholds(units.to_units(outlier_penalty), X)
        refuse_vanishing(lam_star, lam)
        tol = max(self.tol, 1e-4) if X.dtype == np.float32 else self.tol
        at_most = None if self.n_components is None else min(self.n_components, *X.shape)
        measure = GapCriterion(X, lam_star, lam, tol, at_most)
        iterates = _ITERATES[solver](X, lam_star, lam, n_components=at_most, rng=self.rng, start=start)
        result = run(iterates, measure, tol=tol, max_iter=self.max_iter, callback=self.callback)
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

    def pursue(self, outlier_penalty: Any, eps: float) -> Decomposition:
        """Solve (1)."""
        X, units = self._scaled()
        if outlier_penalty is None:
            outlier_penalty = 1 / sqrt(max(X.shape))
        if not np.any(np.nan_to_num(X)):
            return self._zero(1.0, outlier_penalty)
        lam = thresholds(outlier_penalty, X)
        refuse_vanishing(1.0, lam)
        eps = units.to_units(eps)
        tol = max(self.tol, 1e-4) if X.dtype == np.float32 else self.tol
        iterates = solvers.pcp(X, lam, eps, rng=self.rng)
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

    def _resolve(
        self, X: Array, units: Units, penalties: tuple[float | None, Any]
    ) -> tuple[tuple[float, Any], LowRank | None]:
        """The penalties, and where to start if both follow from the noise."""
        rank_penalty, outlier_penalty = penalties
        start = None
        if rank_penalty is None:
            level, fit = noise_fit(X, self.rng, at_most=self.n_components)
            rank_penalty = from_noise(units.from_units(level), *X.shape).rank_penalty or 1.0
            start = fit if outlier_penalty is None else None
        if outlier_penalty is None:
            outlier_penalty = rank_penalty / sqrt(max(X.shape))
        return (rank_penalty, outlier_penalty), start

    def _answer(
        self, low_rank: LowRank, outliers: Array, units: Units, rank_penalty: float, outlier_penalty: Any, **facts: Any
    ) -> Decomposition:
        codes, components = _signed(*low_rank.balanced())
        return Decomposition(
            units.factors_from_units(codes),
            units.factors_from_units(components),
            self.X,
            units.from_units(outliers, out=outliers),
            rank_penalty,
            outlier_penalty,
            **facts,
        )

    def _zero(self, rank_penalty: float, outlier_penalty: Any) -> Decomposition:
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
        "raise max_iter or tol, raise the penalties, or bring the columns to one scale.",
        ConvergenceWarning,
        stacklevel=depth,
    )


def thresholds(outlier_penalty: Any, X: Array) -> Array:
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


def _signed(codes: Array, components: Array) -> tuple[Array, Array]:
    """Fix signs: the largest entry of each component is positive."""
    if len(components) == 0:
        return codes, components
    peak = components[np.arange(len(components)), np.argmax(np.abs(components), axis=1)]
    sign = np.where(peak < 0, -1, 1).astype(components.dtype)
    return codes * sign, components * sign[:, None]


def refuse_vanishing(lam_star: float, lam: Array) -> None:
    """Refuse penalties, in units of the data, that are zero or infinite beside them."""
    limits = np.finfo(lam.dtype)
    least = float(limits.tiny) / float(limits.eps)
    if not (least < lam_star < np.inf and (lam > least).all() and np.isfinite(lam).all()):
        raise ValueError(
            "The penalties are beyond the range of numbers beside this X; choose them nearer to penalty_max(X)."
        )
