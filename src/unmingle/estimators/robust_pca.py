"""`RobustPCA`: components of one matrix."""

from math import nan
from typing import Any, ClassVar, Self

import numpy as np

from .._rules import ANY_NUMBER, FLOATS, POSITIVE, ArrayOf, Count, Flag
from .._threads import limit_blas_threads
from .._types import Array
from ..core.cells.refit import refit_cells
from ..core.decomposition.decompose_matrix import solve
from ..core.iterate import Callback
from .base import FITTED, GIVEN, OF_TABLES, RobustTransformer
from .distributed_protocol import PassResult


class RobustPCA(RobustTransformer):
    r"""Principal components that outliers cannot bend, and a transform that takes outliers off new data.

    ``fit`` solves (4), and (2) where ``n_components`` is large enough, for components U, codes S and outliers O::

        min 1/2 ||X - US - O||_F^2 + rank_penalty/2 (||U||_F^2 + ||S||_F^2) + outlier_penalty ||O||_1

    ``transform`` solves the robust projection (5) of each new sample onto the components, exactly and on its own::

        min over s, o of 1/2 ||x - Us - o||^2 + rank_penalty/2 ||s||^2 + outlier_penalty ||o||_1

    Data are not centred, since a mean is hard to know before the outliers are; it is one more component. To centre
    all the same, put ``StandardScaler(with_std=False)`` before it in a pipeline. NaN means missing.

    Parameters
    ----------
    n_components : int, optional
        Largest number of components; None for as many as the data ask for.
    rank_penalty : float or "auto"
        Larger: lower rank. "auto" is about sigma (sqrt m + sqrt n) with sigma the noise level found in the data.
    outlier_penalty : float, array of shape (n_features,), or "auto"
        Larger: fewer outliers. "auto" is 2 sigma for tables, less where what is left has a structure; see
        `unmingle.decompose`.
    scale : "columns", optional
        Divide each column by a robust scale of its own first, for columns in different units: `column_scale_`.
        Components and parts are in the units of the data; penalties, objective and gaps of the divided problem.
    debias : bool
        Also fit components without the penalties, which shrink, and the noise of every column: `cells_`. For
        ``decompose(X, debias=True)`` and for flags of single cells of new samples.
    tol : float
        Relative duality gap, or stationarity residual if all ``n_components`` are in use, at which to stop.
    max_iter : int
        Iterations after which to stop, with a ConvergenceWarning.
    contamination : float or "auto"
        Share of bad rows in the training data, at most a half: `predict` finds this share of them. "auto": it takes one
        ordinary row in a hundred for an outlier, however many bad ones there are.
    random_state : int, Generator, RandomState or None
        Starts the partial SVD; None is the seed 0.

    Attributes
    ----------
    components_ : array of shape (n_components_, n_features)
        Atoms U', of falling norm, orthogonal; their norms matter and are not one.
    n_components_ : int
        Number of components.
    singular_values_ : array of shape (n_components_,)
        Singular values of the low-rank part of the training data.
    explained_variance_ratio_ : array of shape (n_components_,)
        Share of each component in the sum of squares of the training data freed of outliers.
    rank_penalty_, outlier_penalty_ : float, or array if one was given
        The penalties used.
    objective_ : float
        Value of (2) at the answer.
    gap_ : float
        Relative duality gap of (2). It stays open where ``n_components`` is smaller than what the data ask for.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether ``tol`` was reached.
    score_center_, score_scale_ : float
        Median and robust spread of the cube root of minus `score_samples` for ordinary rows, for `outlier_flags`.
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
    unmingle.decompose : both parts of one matrix, without an estimator.
    unmingle.OnlineRobustPCA : for streams, and for data that do not fit into memory.

    References
    ----------
    .. [1] P. Sprechmann, A. M. Bronstein, G. Sapiro, "Learning Robust Low-Rank Representations", 2012.

    Examples
    --------
    >>> import numpy as np, unmingle
    >>> rng = np.random.default_rng(0)
    >>> U = rng.standard_normal((2, 50))
    >>> train = rng.standard_normal((200, 2)) @ U + 0.01 * rng.standard_normal((200, 50))
    >>> model = unmingle.RobustPCA(random_state=0).fit(train)
    >>> model.n_components_
    2
    >>> new = np.array([[1.0, -2.0]]) @ U
    >>> new[0, 7] = 100.0
    >>> part = model.decompose(new)
    >>> np.flatnonzero(np.abs(part.outliers) > 0.5).tolist()
    [7]
    """

    _parameter_rules: ClassVar = {
        **GIVEN,
        **OF_TABLES,
        "tol": POSITIVE,
        "max_iter": Count(1),
    }
    _attribute_rules: ClassVar = {
        **FITTED,
        "converged_": Flag(),
        "explained_variance_ratio_": ArrayOf(FLOATS, "q", low=-np.inf, high=np.inf, nan=True),
        "gap_": ANY_NUMBER,
        "n_iter_": Count(),
        "objective_": ANY_NUMBER,
        "singular_values_": ArrayOf(FLOATS, "q", low=0.0, high=np.inf),
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        rank_penalty: float | str = "auto",
        outlier_penalty: Any = "auto",
        scale: str | None = None,
        debias: bool = False,
        tol: float = 1e-4,
        max_iter: int = 500,
        contamination: float | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.rank_penalty = rank_penalty
        self.outlier_penalty = outlier_penalty
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
            Training data; NaN means missing.
        y : ignored
            Not used.
        callback : callable, optional
            Called with the progress; see `unmingle.decompose`.
        """
        self._checked_parameters()
        X = self._to_learn_from(X)
        part = solve(
            X,
            n_components=self.n_components,
            rank_penalty=self.rank_penalty,
            outlier_penalty=self.outlier_penalty,
            method="alternating",
            scale=self.scale,
            tol=self.tol,
            max_iter=self.max_iter,
            callback=callback,
            random_state=self.random_state,
        )
        self.components_ = part.components
        self.n_components_ = part.rank
        self.rank_penalty_, self.outlier_penalty_ = part.rank_penalty, part.outlier_penalty
        self.objective_, self.gap_ = part.objective, part.gap
        self.n_iter_, self.converged_ = part.n_iter, part.converged
        with limit_blas_threads(X.size):
            cells = (
                refit_cells(X, part.codes, part.components, at_most=self.n_components).model if self.debias else None
            )
        self._set_cells(part.column_scale, cells)
        self.singular_values_ = np.linalg.norm(self._in_scale(part.components), axis=1) ** 2
        clean = self._in_scale(np.where(np.isnan(X), part.low_rank, X - part.outliers))
        self.explained_variance_ratio_ = _energy_shares(self.singular_values_, clean)
        with limit_blas_threads(X.size):
            return self._calibrated(X, part.codes)

    def finish_passes(self, result: PassResult, rows: Array) -> None:
        """Become fitted by what passes over all rows found, for `unmingle.distributed.fit`."""
        self.components_ = result.components
        self.n_components_ = len(result.components)
        self.rank_penalty_, self.outlier_penalty_ = result.rank_penalty, result.outlier_penalty
        self.objective_, self.gap_ = result.objective, nan
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        self.singular_values_ = result.singular_values
        self.explained_variance_ratio_ = result.explained_variance_ratio
        self._calibrated(rows)


def _energy_shares(singular_values: Array, clean: Array) -> Array:
    """Squares of the singular values over the sum of squares of the data, at any scale."""
    largest = float(np.max(np.abs(clean)))
    if largest == 0:
        return np.zeros_like(singular_values)
    return (singular_values / largest) ** 2 / np.sum((clean / largest) ** 2)
