"""`RobustNMF`: nonnegative parts of one matrix."""

from math import nan
from typing import Any, ClassVar, Self

import numpy as np

from .._rules import ANY_NUMBER, FLOATS, POSITIVE, ArrayOf, Count, Either, Flag, OneOf
from .._threads import limit_blas_threads
from .._types import Array
from .._validation import (
    as_floats,
    check_choice,
    first_negative,
    generator,
    given_penalties,
)
from ..core.cells.columns import column_scales
from ..core.cells.refit import refit_cells
from ..core.decomposition.decompose_matrix import solve
from ..core.decomposition.problem import penalty_per_feature, refuse_vanishing, warn_unfinished
from ..core.iterate import Callback, Result, run
from ..core.linalg.units import Units
from ..core.penalties import matching_outlier_penalty, noise_level, nonnegative_from_noise
from ..core.solvers.criteria import StationarityCriterion
from ..core.solvers.nmf import Factors, nmf_iterates
from .base import FITTED, GIVEN, NONNEGATIVE_COMPONENTS, OF_TABLES, RobustTransformer
from .distributed_protocol import PassResult

_STARTS = ("nndsvd", "random")
_ROUGH = 1e-2
"""Gap of (2) at which its components are counted."""


class RobustNMF(RobustTransformer):
    r"""Nonnegative parts that outliers cannot bend, and a transform that takes outliers off new data.

    ``fit`` solves (4) with signs for components U, codes S and outliers O, all of them at least 0::

        min 1/2 ||X - US - O||_F^2 + rank_penalty/2 (||U||_F^2 + ||S||_F^2) + outlier_penalty ||O||_1

    It is not convex: fit ends at a stationary point, and which one depends on ``init``. ``transform`` solves the
    robust projection (5) of each new sample onto the components, which is convex, exactly and on its own::

        min over s >= 0, o >= 0 of 1/2 ||x - Us - o||^2 + rank_penalty/2 ||s||^2 + outlier_penalty ||o||_1

    So codes and outliers are certified for the components found (``sample_gap`` of `decompose`); the components are
    not. Outliers only add: for what takes away, such as shadows, take the data from their largest value first.
    NaN means missing.

    Parameters
    ----------
    n_components : int, optional
        Largest number of components, and not more than samples or features unless ``init`` is an array; None for as
        many as `unmingle.decompose` finds, if with the penalties that are given.
    rank_penalty : float or "auto"
        Larger: fewer and smaller components. "auto" is sigma (sqrt m + sqrt n) / 2 with sigma the noise level found in
        the data: half of that of `RobustPCA`, found by trials on made data.
    outlier_penalty : float, array of shape (n_features,), or "auto"
        Larger: fewer outliers. "auto" is ``3 rank_penalty / (sqrt m + sqrt n)``, one and a half sigma.
    init : {"nndsvd", "random"} or array of shape (n_components, n_features)
        The first components: nonnegative parts of singular vectors, chance, or these.
    scale : "columns", optional
        Divide each column by a robust scale of its own first, for columns in different units: `column_scale_`.
        Components and parts are in the units of the data; penalties, objective and gaps of the divided problem.
    debias : bool
        Also fit components without the penalties, which shrink, and the noise of every column: `cells_`. For
        ``decompose(X, debias=True)`` and for flags of single cells of new samples.
    tol : float
        Stop at this stationarity, see ``stationarity_``. float32 stops at 1e-4 at the least.
    max_iter : int
        Iterations after which to stop, with a ConvergenceWarning.
    contamination : float or "auto"
        Share of bad rows in the training data, at most a half: `predict` finds this share of them. "auto": it takes one
        ordinary row in a hundred for an outlier, however many bad ones there are.
    random_state : int, Generator, RandomState or None
        Starts the partial SVD, or makes the random start; None is the seed 0.

    Attributes
    ----------
    components_ : array of shape (n_components_, n_features)
        Atoms U', of falling norm; not rotated, and their norms matter. Each is as long as its codes together.
    n_components_ : int
        Number of components; those that came to nothing are left out.
    reconstruction_err_ : float
        ||X - US||_F over the entries that are known, as scikit-learn's NMF has it: the outliers are part of it. NaN
        after `unmingle.distributed.fit`.
    rank_penalty_, outlier_penalty_ : float, or array if one was given
        The penalties used.
    objective_ : float
        Value of (4) at the answer.
    stationarity_ : float
        How far (4) is from stationary, relative to the gradient of its regulariser; see
        `unmingle.core.objective.nonnegative_stationarity`.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether ``tol`` was reached.
    column_scale_ : array of shape (n_features,) or None
        What columns are divided by.
    cells_ : unmingle.core.cells.model.CellModel or None
        Components without penalties, and the noise of every column.
    offset_ : float
        Score below which `predict` calls a row an outlier.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of str
        Names of the features, if the data had such.

    See Also
    --------
    unmingle.OnlineRobustNMF : for streams, and for data that do not fit into memory.
    unmingle.RobustPCA : for data of any sign, with a certificate for the components too.

    References
    ----------
    .. [1] P. Sprechmann, A. M. Bronstein, G. Sapiro, "Learning Robust Low-Rank Representations", 2012.

    Examples
    --------
    >>> import numpy as np, unmingle
    >>> rng = np.random.default_rng(0)
    >>> parts = np.repeat(np.eye(3), 10, axis=1)
    >>> X = rng.gamma(1.0, 1.0, (200, 3)) @ parts + 0.01 * rng.random((200, 30))
    >>> X[rng.random(X.shape) < 0.1] += 5.0
    >>> model = unmingle.RobustNMF(3, random_state=0).fit(X)
    >>> bool((model.components_ >= 0).all()), model.converged_
    (True, True)
    >>> new = np.array([[1.0, 0.0, 2.0]]) @ parts
    >>> new[0, 7] = 100.0
    >>> part = model.decompose(new)
    >>> np.flatnonzero(part.outliers > 0.5).tolist(), bool(part.sample_gap[0] < 1e-9)
    ([7], True)
    """

    nonnegative: ClassVar = True
    _parameter_rules: ClassVar = {
        **GIVEN,
        **OF_TABLES,
        "init": Either(OneOf(*_STARTS), ArrayOf(FLOATS, "atoms", "m", low=0.0)),
        "tol": POSITIVE,
        "max_iter": Count(1),
    }
    _attribute_rules: ClassVar = {
        **FITTED,
        "components_": NONNEGATIVE_COMPONENTS,
        "converged_": Flag(),
        "n_iter_": Count(),
        "objective_": ANY_NUMBER,
        "reconstruction_err_": ANY_NUMBER,
        "stationarity_": ANY_NUMBER,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        rank_penalty: float | str = "auto",
        outlier_penalty: Any = "auto",
        init: Any = "nndsvd",
        scale: str | None = None,
        debias: bool = False,
        tol: float = 1e-4,
        max_iter: int = 2000,
        contamination: float | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.rank_penalty = rank_penalty
        self.outlier_penalty = outlier_penalty
        self.init = init
        self.scale = scale
        self.debias = debias
        self.tol = tol
        self.max_iter = max_iter
        self.contamination = contamination
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, callback: Callback | None = None) -> Self:
        """Learn the components.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            Training data, at least 0; NaN means missing.
        y : ignored
            Not used.
        callback : callable, optional
            Called with the progress; see `unmingle.decompose`.
        """
        given = self._checked_parameters()
        tol, max_iter = given["tol"], given["max_iter"]
        X = self._to_learn_from(X)
        start = self._start(X.shape[1])
        self._set_cells(None if self.scale is None else column_scales(X), None)
        with limit_blas_threads(X.size):
            tol = max(tol, 1e-4) if X.dtype == np.float32 else tol
            result = self._solved(self._in_scale(X), start, tol, max_iter, callback)
            if self.debias:
                cells = refit_cells(X, self._project(X)[0], self.components_, nonnegative=True).model
                self._set_cells(self.column_scale_, cells)
            self._calibrated(X)
        if not result.converged:
            warn_unfinished(result.n_iter, tol, "stationarity", self.stationarity_, depth=3)
        return self

    def finish_passes(self, result: PassResult, rows: Array) -> None:
        """Become fitted by what passes over all rows found, for `unmingle.distributed.fit`."""
        self.components_ = result.components
        self.n_components_ = len(result.components)
        self.rank_penalty_, self.outlier_penalty_ = result.rank_penalty, result.outlier_penalty
        self.objective_, self.stationarity_, self.reconstruction_err_ = result.objective, result.measure, nan
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        self._calibrated(rows)

    def _start(self, m: int) -> str | Array:
        """The first components, checked, or the way to make them."""
        if isinstance(self.init, str):
            return check_choice(self.init, "init", _STARTS)
        start, wanted = as_floats(self.init, "init"), self.n_components
        if start.ndim != 2 or start.shape[1] != m or len(start) != (wanted or max(1, len(start))):
            raise ValueError(
                f"init must be 'nndsvd', 'random' or {wanted or 'some'} components of {m} features, "
                f"got an array of shape {start.shape}."
            )
        if not np.isfinite(start).all() or first_negative(start) is not None:
            raise ValueError("init must be finite and at least 0 in every entry.")
        return start

    def _solved(
        self, X: Array, start: str | Array, tol: float, max_iter: int, callback: Callback | None
    ) -> Result[Factors]:
        """Solve (4) with signs, and keep what was found."""
        rng, units = generator(self.random_state), Units.of(X)
        scaled = units.to_units(X)
        q = self._size(X, rng) if isinstance(start, str) else len(start)
        first = start if isinstance(start, str) else units.factors_to_units(self._in_scale(start))
        rank_penalty, outlier_penalty = self._penalties(scaled, units, q, rng)
        lam_star, lam = units.to_units(rank_penalty), penalty_per_feature(units.to_units(outlier_penalty), X)
        refuse_vanishing(lam_star, lam)
        measure = StationarityCriterion(scaled, lam_star, lam, tol)
        iterates = nmf_iterates(scaled, lam_star, lam, n_components=q, init=first, rng=rng)
        result = run(iterates, measure, tol=tol, max_iter=max_iter, callback=callback)
        self.rank_penalty_, self.outlier_penalty_ = rank_penalty, outlier_penalty
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        self.stationarity_ = result.measure if result.converged else measure.measure(result.state)
        self._keep(scaled, result.state, units)
        return result

    def _size(self, X: Array, rng: np.random.Generator) -> int:
        """How many components to look for."""
        if self.n_components is not None:
            return min(self.n_components, *X.shape)
        given = {"rank_penalty": self.rank_penalty, "outlier_penalty": self.outlier_penalty}
        return max(1, solve(X, **given, tol=_ROUGH, random_state=rng).rank)

    def _penalties(self, X: Array, units: Units, q: int, rng: np.random.Generator) -> tuple[float, Any]:
        """Both penalties, in the units of the data, of X in ``units``."""
        rank_penalty, outlier_penalty = given_penalties(self.rank_penalty, self.outlier_penalty, X.shape[1])
        if rank_penalty is None:
            sigma = units.from_units(noise_level(X, rng, at_most=q))
            rank_penalty = nonnegative_from_noise(sigma, *X.shape).rank_penalty or 1.0
        if outlier_penalty is None:
            outlier_penalty = matching_outlier_penalty(rank_penalty, *X.shape, nonnegative=True)
        return rank_penalty, outlier_penalty

    def _keep(self, X: Array, found: Factors, units: Units) -> None:
        """Keep components and figures of an answer, in the units of the data."""
        there = found.components.any(axis=1)
        self.components_ = units.factors_from_units(found.components[there])
        if self.column_scale_ is not None:
            self.components_ = self.components_ * self.column_scale_
        self.n_components_ = len(self.components_)
        self.objective_ = units.cost_from_units(found.objective)
        misfit = np.nan_to_num(X - found.codes @ found.components, nan=0.0)
        self.reconstruction_err_ = units.from_units(float(np.sqrt(np.sum(misfit**2, dtype=np.float64))))
