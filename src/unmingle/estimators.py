"""Estimators that follow scikit-learn's conventions; the mathematics is elsewhere."""

import warnings
from numbers import Integral
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from . import solvers, store
from ._validation import as_floats, check_choice, check_matrix, check_positive, is_frame
from .decomposition import Callback, Decomposition, decompose, scale_root
from .iterate import run
from .prox import huber, soft_threshold

__all__ = ["RobustPCA"]

_BEYOND = 1e20
"""Entries beyond so many outlier penalties are cut: outliers they remain, and sums of them do not overflow."""
_UNSHRUNK = 1e-3
"""Share of the rank penalty at which the shrinkage of a code no longer shows in its score."""
_LEARNT = (
    "components_",
    "converged_",
    "explained_variance_ratio_",
    "gap_",
    "n_components_",
    "n_features_in_",
    "n_iter_",
    "objective_",
    "outlier_penalty_",
    "rank_penalty_",
    "score_center_",
    "score_scale_",
    "singular_values_",
)

Array = NDArray[np.floating[Any]]


class RobustPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
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
        At most so many components; None for as many as the data ask for.
    rank_penalty : float or "auto"
        Larger: lower rank. "auto" is sigma (sqrt m + sqrt n) with sigma the noise level found in the data.
    outlier_penalty : float, array of shape (n_features,), or "auto"
        Larger: fewer outliers. "auto" is ``rank_penalty / sqrt(max(m, n))``; on tables with many more rows than columns
        twice as much is often better.
    solver : {"alternating", "proximal"}
        "proximal" closes the gap in fewer, dearer iterations: faster where ``n_components`` is None and X large.
    tol : float
        Relative duality gap, or stationarity residual if all ``n_components`` are in use, at which to stop.
    max_iter : int
        Iterations after which to stop, with a ConvergenceWarning.
    random_state : int, Generator, RandomState or None
        Starts the partial SVD.

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
        Median and robust spread of the cube root of `score_samples` over the training data, for `outlier_flags`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of str
        Names of the features, if the data had such.

    See Also
    --------
    unmingle.decompose : both parts of one matrix, without an estimator.

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

    def __init__(
        self,
        n_components: int | None = None,
        *,
        rank_penalty: float | str = "auto",
        outlier_penalty: Any = "auto",
        solver: str = "alternating",
        tol: float = 1e-6,
        max_iter: int = 500,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.rank_penalty = rank_penalty
        self.outlier_penalty = outlier_penalty
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
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
            Told of the progress; see `unmingle.decompose`.
        """
        check_choice(self.solver, "solver", ("alternating", "proximal"))
        X = check_matrix(self._validated(X, reset=True))
        part = decompose(
            X,
            n_components=self.n_components,
            rank_penalty=self.rank_penalty,
            outlier_penalty=self.outlier_penalty,
            solver=self.solver,
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
        norms = np.linalg.norm(part.components, axis=1)
        self.singular_values_ = norms**2
        clean = np.where(np.isnan(X), part.low_rank, X - part.outliers)
        self.explained_variance_ratio_ = _energy_shares(self.singular_values_, clean)
        self._describe_ordinary_scores(self._outlyingness(X))
        return self

    def transform(self, X: Any) -> Array:
        """Codes of new samples, by exact robust projection (5) of each sample on its own.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            Samples; NaN means missing, and a sample with nothing but NaN gets the code 0.

        Returns
        -------
        array of shape (n_samples, n_components_)
        """
        check_is_fitted(self)
        return self._project(self._validated(X, reset=False))[0]

    def inverse_transform(self, X: Any) -> Array:
        """Low-rank part from codes: ``X @ components_``.

        Parameters
        ----------
        X : array of shape (n_samples, n_components_)
            Codes.

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        codes = as_floats(X, "codes")
        if codes.ndim != 2 or codes.shape[1] != self.n_components_:
            raise ValueError(f"codes must have {self.n_components_} columns, got an array of shape {codes.shape}.")
        if not np.isfinite(codes).all():
            raise ValueError("codes must be finite, got NaN or infinity.")
        return codes @ self._atoms(codes.dtype)

    def decompose(self, X: Any) -> Decomposition:
        """Low-rank part, outliers and residual of new samples, each with its own certificate.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            Samples; NaN means missing, and ``low_rank`` is its imputation.

        Returns
        -------
        Decomposition
            With ``sample_gap``, the relative duality gap of (5) for each sample; ``gap`` is the largest of them and
            ``objective`` the sum of their costs.
        """
        check_is_fitted(self)
        data = self._validated(X, reset=False)
        codes, gap = self._project(data)
        misfit = np.where(np.isnan(data), data.dtype.type(0), data - codes @ self._atoms(data.dtype))
        lam = self._thresholds(data.dtype)
        with np.errstate(over="ignore"):  # the cost is of the square of the data's scale
            cost = np.sum(huber(misfit, lam)) + 0.5 * self.rank_penalty_ * np.sum(codes**2)
        return Decomposition(
            codes,
            self._atoms(data.dtype),
            data,
            soft_threshold(misfit, lam),
            self.rank_penalty_,
            self.outlier_penalty_,
            objective=float(cost),
            gap=float(np.max(gap)),
            sample_gap=gap,
            _frame=X if is_frame(X) else None,
        )

    def score_samples(self, X: Any) -> Array:
        """Outlyingness of each sample: how badly the components explain it, in units of the outlier penalty.

        The mean over its features of huber(x - Us) / outlier_penalty^2, with s the projection that is not shrunk by
        the rank penalty: about 0.1 to 0.4 for noise, and growing with the number and size of the outliers. Missing
        entries do not count.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            Samples; NaN means missing.

        Returns
        -------
        array of shape (n_samples,)
            Larger for stranger samples.
        """
        check_is_fitted(self)
        return self._outlyingness(self._validated(X, reset=False))

    def outlier_flags(self, X: Any, *, false_alarm_rate: float = 0.01) -> NDArray[np.bool_]:
        """Whether each sample is stranger than the training data's ordinary samples.

        The cube root of a score, a sum of many near-squares, is nearly normal. The ordinary samples are described by
        its median and median absolute deviation, so that strange samples among the training data do not matter.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            Samples; NaN means missing.
        false_alarm_rate : float
            Share of ordinary samples that may be flagged, between 0 and 1.

        Returns
        -------
        boolean array of shape (n_samples,)
        """
        rate = check_positive(false_alarm_rate, "false_alarm_rate")
        if rate >= 1:
            raise ValueError(f"false_alarm_rate must be below 1, got {false_alarm_rate!r}.")
        scores = self.score_samples(X)
        return np.cbrt(scores) > self.score_center_ + ndtri(1 - rate) * self.score_scale_

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean absolute deviation from the low-rank part, for model selection: larger is better.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            Samples; NaN means missing.
        y : ignored
            Not used.
        """
        check_is_fitted(self)
        data = self._validated(X, reset=False)
        deviation = np.abs(data - self._project(data)[0] @ self._atoms(data.dtype))
        return -float(np.mean(deviation, where=~np.isnan(data))) if not np.isnan(data).all() else 0.0

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a ``.safetensors`` file; `unmingle.load` reads it back.

        Parameters
        ----------
        path : path
            Where to; an existing file is replaced once the new one is complete.
        """
        check_is_fitted(self)
        arrays: dict[str, NDArray[Any]] = {}
        parameters: dict[str, Any] = {"init": self.get_params(), "fitted": dict(_fitted(self))}
        if np.ndim(self.outlier_penalty):
            parameters["init"]["outlier_penalty"] = np.asarray(self.outlier_penalty, dtype=np.float64)
        for part in parameters.values():
            for name in [name for name, value in part.items() if isinstance(value, np.ndarray)]:
                value = part.pop(name)
                if value.dtype == object:
                    part[name] = {"names": value.tolist()}
                else:
                    arrays[name] = value
        seed = parameters["init"]["random_state"]
        parameters["init"]["random_state"] = int(seed) if isinstance(seed, Integral) else None
        store.write(path, type(self).__name__, parameters, arrays)

    @classmethod
    def _from_store(cls, parameters: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        try:
            init, fitted = dict(parameters["init"]), dict(parameters["fitted"])
            if "outlier_penalty" in arrays:
                init["outlier_penalty"] = arrays["outlier_penalty"]
            model = cls(**init)
            names = fitted.pop("feature_names_in_", None)
            fitted |= {name: array for name, array in arrays.items() if name.endswith("_")}
            if names is not None:
                model.feature_names_in_ = np.array(names["names"], dtype=object)
            for name in _LEARNT:
                setattr(model, name, fitted.pop(name))
            consistent = model.components_.shape == (model.n_components_, model.n_features_in_) and not fitted
        except (KeyError, TypeError, ValueError, AttributeError):
            consistent = False
        if not consistent:
            raise store.StoreError(f"The file does not hold a complete {cls.__name__}.")
        return model

    def _validated(self, X: Any, *, reset: bool) -> Array:
        floats = as_floats(X)
        if floats.shape == (0, 0):
            check_matrix(floats)
        if is_frame(X):
            floats = type(X)(floats, columns=X.columns)
        return validate_data(
            self, floats, reset=reset, dtype=[np.float64, np.float32], order="C", ensure_all_finite="allow-nan"
        )

    def _atoms(self, dtype: Any) -> Array:
        return self.components_.astype(dtype, copy=False)

    def _thresholds(self, dtype: Any) -> Array:
        return np.broadcast_to(np.asarray(self.outlier_penalty_), self.components_.shape[1:]).astype(dtype)

    def _project(self, X: Array, shrinkage: float = 1.0) -> tuple[Array, Array]:
        """Codes and relative gaps of (5), in units in which the largest outlier penalty is about one."""
        if self.n_components_ == 0:
            return np.zeros((len(X), 0), X.dtype), np.zeros(len(X))
        lam = self._thresholds(np.float64)
        root = scale_root(lam)
        exact = 1e-10 if X.dtype == np.float64 else 1e-5
        with np.errstate(over="ignore"):
            scaled = X / X.dtype.type(root) / X.dtype.type(root)
        iterates = solvers.newton(
            np.clip(scaled, -_BEYOND, _BEYOND),
            (self.components_ / root).astype(X.dtype),
            shrinkage * self.rank_penalty_ / root / root,
            (lam / root / root).astype(X.dtype),
            tol=exact,
        )
        result = run(iterates, lambda projection: float(projection.gap.max()), tol=exact, max_iter=10)
        if result.measure > 1e3 * exact:
            warnings.warn(
                f"The projection of some samples stopped at a relative duality gap of {result.measure:.1e}; "
                "`decompose` tells which by its sample_gap.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return result.state.codes * X.dtype.type(root), result.state.gap

    def _describe_ordinary_scores(self, scores: Array) -> None:
        n, q = len(scores), self.n_components_
        unseen = (n + q) / (n - q) if n >= 2 * q else 1.0  # what q components fitted to n samples explain too much
        roots = np.cbrt(unseen * scores)
        self.score_center_ = float(np.median(roots))
        self.score_scale_ = 1.4826 * float(np.median(np.abs(roots - self.score_center_)))

    def _outlyingness(self, X: Array) -> Array:
        codes = self._project(X, _UNSHRUNK)[0]
        lam = self._thresholds(X.dtype)
        with np.errstate(over="ignore"):
            cost = huber((X - codes @ self._atoms(X.dtype)) / lam, X.dtype.type(1))
        known = np.sum(~np.isnan(X), axis=1)
        return np.nansum(cost, axis=1) / np.maximum(known, 1)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _energy_shares(singular_values: Array, clean: Array) -> Array:
    """Squares of the singular values over the sum of squares of the data, at any scale."""
    largest = float(np.max(np.abs(clean)))
    if largest == 0:
        return np.zeros_like(singular_values)
    return (singular_values / largest) ** 2 / np.sum((clean / largest) ** 2)


def _fitted(model: BaseEstimator) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in vars(model).items() if name.endswith("_") and not name.startswith("_")]
