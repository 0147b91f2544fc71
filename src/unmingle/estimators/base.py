"""What all estimators share: rules of their parameters, files, and robust projection of samples onto components.

An estimator says in its own file what its parameters, its fitted attributes and its state may be, each in a table of
rules. From these follow what ``fit`` checks, what a file must hold, and how it is written and read.
"""

import warnings
from collections.abc import Mapping
from numbers import Integral
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import store
from .._fields import checked, record_of
from .._frames import is_frame, like_frame
from .._rules import (
    FLOATS,
    LEAST,
    POSITIVE,
    ArrayOf,
    Count,
    Each,
    Either,
    Flag,
    Number,
    OneOf,
    Record,
    Rule,
    Size,
    Text,
    maybe,
)
from .._threads import limit_blas_threads
from .._types import Array
from .._validation import as_floats, check_matrix, given_penalties, refuse_negative, warn_of_rounding, within_range
from ..core.cells.model import CellModel
from ..core.cells.tails import TailLaws
from ..core.decomposition.result import Decomposition, without_bias
from ..core.encoder.encoder import BEYOND
from ..core.iterate import run
from ..core.linalg.units import Units
from ..core.solvers.nonnegative import nonnegative_newton
from ..core.solvers.projection import newton
from .detector import CONTAMINATION, OrdinaryRows, RowDetector
from .distributed_protocol import PassRequest, Projector

PER_FEATURE = ArrayOf(FLOATS, "m", low=LEAST)
PENALTY = Either(OneOf("auto"), POSITIVE)
OPTIONAL_COUNT = Either(OneOf(None), Count(1), wanted=Count(1).wanted)
FORGETTING = Either(OneOf("auto"), Number(0.0, 1.0, above=True), wanted="above 0 and at most 1, or 'auto'")
GIVEN: Mapping[str, Rule] = {
    "n_components": OPTIONAL_COUNT,
    "rank_penalty": PENALTY,
    "outlier_penalty": Either(OneOf("auto"), POSITIVE, PER_FEATURE),
    "contamination": CONTAMINATION,
    "random_state": maybe(Count(0, 2**1024)),
}
"""Parameters of all estimators of rows."""
OF_TABLES: Mapping[str, Rule] = {"scale": maybe(OneOf("columns")), "debias": Flag()}
"""Parameters of those that know the whole table."""
FITTED: Mapping[str, Rule] = {
    "components_": ArrayOf(FLOATS, "q", "m"),
    "n_components_": Size("q"),
    "n_features_in_": Size("m"),
    "outlier_penalty_": Either(POSITIVE, PER_FEATURE),
    "rank_penalty_": POSITIVE,
}
"""Attributes of all of them."""
NONNEGATIVE_COMPONENTS = ArrayOf(FLOATS, "q", "m", low=0.0)
_RELATIVE = 1e30
"""What numbers in units of their own are at most."""
_CELLS = Record(
    {
        "components": ArrayOf(("float64",), "atoms of cells", "m"),
        "noise": ArrayOf(("float64",), "m", low=LEAST),
        "centre": ArrayOf(("float64",), "atoms of cells", low=-_RELATIVE, high=_RELATIVE),
        "degrees": ArrayOf(("float64",), "m", low=1.0, high=_RELATIVE),
        "widths": ArrayOf(("float64",), "m", low=1 / _RELATIVE, high=_RELATIVE),
    }
)
_IF_KNOWN: Mapping[str, Rule] = {
    "feature_names_in_": Record({"names": Each(Text(), Size("m"))}),
    "rows_": record_of(OrdinaryRows),
    "column_scale_": PER_FEATURE,
    "cells_": _CELLS,
}
"""Attributes that a file holds of a model that has them: what is known of columns, rows and cells."""
_CHECKED_WITH_THE_DATA = ("rank_penalty", "outlier_penalty", "init", "random_state")
"""Parameters that ``fit`` checks where it uses them: there may be one for each feature, or they may be objects."""


class StoredEstimator(BaseEstimator):
    """An estimator that checks its parameters and goes to a file and back by the rules that it declares."""

    _parameter_rules: ClassVar[Mapping[str, Rule]]
    """What each parameter may be, also in a file."""
    _state_rules: ClassVar[Mapping[str, Rule]] = {}
    """What a file holds beside the parameters."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a ``.safetensors`` file; `unmingle.load` reads it back.

        Parameters
        ----------
        path : path
            Where to; an existing file is replaced once the new one is complete.
        """
        check_is_fitted(self)
        content = self._to_store()
        store.save(path, type(self).__name__, content, self._schema(content))

    def _checked_parameters(self) -> dict[str, Any]:
        """The parameters as plain values, or one sentence that says what is wrong with the first that is."""
        rules = {name: rule for name, rule in self._parameter_rules.items() if name not in _CHECKED_WITH_THE_DATA}
        return {name: checked(getattr(self, name), name, rule) for name, rule in rules.items()}

    def _to_store(self) -> dict[str, Any]:
        return {"init": self._parameters_to_store(), **self._state_to_store()}

    @classmethod
    def _from_store(cls, content: dict[str, Any]) -> Self:
        model = cls(**cls._parameters_from_store(content["init"]))
        model._state_from_store(content)
        return model

    @classmethod
    def _schema(cls, content: Any) -> Record:
        return Record({"init": Record(cls._parameter_rules), **cls._state_rules})

    def _parameters_to_store(self) -> dict[str, Any]:
        """The parameters as a file holds them: a generator of random numbers is none that could be repeated."""
        given = self.get_params()
        for name, value in given.items():
            if name == "random_state":
                given[name] = int(value) if isinstance(value, Integral) else None
            elif not isinstance(value, str) and np.ndim(value):
                given[name] = np.asarray(value, dtype=np.float64)
        return given

    @classmethod
    def _parameters_from_store(cls, stored: dict[str, Any]) -> dict[str, Any]:
        return stored

    def _state_to_store(self) -> dict[str, Any]:
        """What a file holds beside the parameters."""
        return {}

    def _state_from_store(self, content: dict[str, Any]) -> None:
        """Take back what `_state_to_store` gave."""


class RobustTransformer(ClassNamePrefixFeaturesOutMixin, RowDetector, TransformerMixin, StoredEstimator):
    """Robust projection (5) onto ``components_`` with ``rank_penalty_`` and ``outlier_penalty_``, however learnt."""

    _attribute_rules: ClassVar[Mapping[str, Rule]]
    """What each fitted attribute may be; a file must hold them all."""
    nonnegative: ClassVar[bool] = False
    """Whether data, components, codes and outliers have no negative entries."""
    column_scale_: Array | None = None
    """(m,): what columns are divided by before all else, if they are; penalties and gaps are of that problem."""
    cells_: CellModel | None = None
    """Components without penalties and the noise of every column, if they were asked for."""

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
        data = self._validated(X, reset=False)
        with limit_blas_threads(data.size, self.n_components_):
            return self._project(data)[0]

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
        with limit_blas_threads(len(codes) * self.n_features_in_, self.n_components_):
            return self._low_rank(codes)

    def decompose(self, X: Any, *, debias: bool = False) -> Decomposition:
        """Low-rank part, outliers and residual of new samples, each with its own certificate.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            Samples; NaN means missing, and ``low_rank`` is its imputation.
        debias : bool
            Take low-rank part and codes from the components without penalties, which a model fitted with
            ``debias=True`` has; outliers, objective and gaps stay those of (5).

        Returns
        -------
        Decomposition
            With ``sample_gap``, the relative duality gap of (5) for each sample; ``gap`` is the largest of them and
            ``objective`` the sum of their costs.
        """
        check_is_fitted(self)
        data = self._validated(X, reset=False)
        with limit_blas_threads(data.size, self.n_components_):
            part = self._decomposed(data, X if is_frame(X) else None)
            return without_bias(part) if debias else part

    def _decomposed(self, data: Array, frame: Any) -> Decomposition:
        return self._decomposition(data, *self._project(data), frame)

    def _decomposition(self, data: Array, codes: Array, gap: Array, frame: Any = None) -> Decomposition:
        misfit = np.where(np.isnan(data), data.dtype.type(0), data - self._low_rank(codes))
        misfit = self._in_scale(misfit)
        rest = self._freed(misfit, self._thresholds(data.dtype))
        with np.errstate(over="ignore"):  # the cost is of the square of the data's scale
            cost = np.sum(rest * (misfit - rest / 2)) + 0.5 * self.rank_penalty_ * np.sum(codes**2)
        outliers = within_range(misfit - rest, type(self).__name__)
        if self.column_scale_ is not None:
            outliers *= self.column_scale_.astype(outliers.dtype)
        return self._assembled(data, codes, outliers, cost, gap, frame)

    def _in_scale(self, X: Array) -> Array:
        """Each column divided by its scale."""
        return X if self.column_scale_ is None else X / self.column_scale_.astype(X.dtype)

    def _freed(self, misfit: Array, lam: Any) -> Array:
        """What the best outliers o leave of x - Us, r; 1/2 r^2 + lam |o| is then r (x - Us - r / 2)."""
        return np.minimum(misfit, lam) if self.nonnegative else misfit.clip(-lam, lam)

    def _assembled(
        self, data: Array, codes: Array, outliers: Array, cost: Any, gap: Array, frame: Any
    ) -> Decomposition:
        return Decomposition(
            codes,
            self._atoms(data.dtype),
            data,
            outliers,
            self.rank_penalty_,
            self.outlier_penalty_,
            objective=float(cost),
            gap=float(np.max(gap)),
            sample_gap=gap,
            column_scale=self.column_scale_,
            _frame=frame,
            _cells=self.cells_,
        )

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean absolute deviation from the low-rank part: larger is better, as `GridSearchCV` wants it.

        Not the mean of `score_samples`, which is in units of what each model leaves: a model that explains nothing
        finds nothing strange.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            Samples; NaN means missing.
        y : ignored
            Not used.
        """
        check_is_fitted(self)
        data = self._validated(X, reset=False)
        with limit_blas_threads(data.size, self.n_components_):
            deviation = np.abs(data - self._low_rank(self._project(data)[0]))
        return -float(np.mean(deviation, where=~np.isnan(data))) if not np.isnan(data).all() else 0.0

    @classmethod
    def _schema(cls, content: Any) -> Record:
        record = super()._schema(content)
        return Record({**record.rules, "fitted": Record(cls._attribute_rules, _IF_KNOWN)})

    def _state_to_store(self) -> dict[str, Any]:
        fitted = {name: getattr(self, name) for name in self._attribute_rules}
        if hasattr(self, "feature_names_in_"):
            fitted["feature_names_in_"] = {"names": self.feature_names_in_.tolist()}
        if self.column_scale_ is not None:
            fitted["column_scale_"] = self.column_scale_
        if self.cells_ is not None:
            fitted["cells_"] = {
                "components": self.cells_.components,
                "noise": self.cells_.noise,
                "centre": self.cells_.centre,
                "degrees": self.cells_.laws.degrees,
                "widths": self.cells_.laws.widths,
            }
        return {"fitted": {**fitted, **self._rows_to_store()}}

    def _state_from_store(self, content: dict[str, Any]) -> None:
        fitted = content["fitted"]
        if "feature_names_in_" in fitted:
            self.feature_names_in_ = np.array(fitted["feature_names_in_"]["names"], dtype=object)
        if "cells_" in fitted:
            cells = fitted["cells_"]
            laws = TailLaws(cells["degrees"], cells["widths"])
            self.cells_ = CellModel(cells["components"], cells["noise"], cells["centre"], laws, self.nonnegative)
        if "column_scale_" in fitted:
            self.column_scale_ = fitted["column_scale_"]
        if "rows_" in fitted:
            self._rows_from_store(fitted["rows_"])
        for name in self._attribute_rules:
            setattr(self, name, fitted[name])

    def begin_passes(self, rows: Any) -> PassRequest:
        """Check parameters and the rows of the start, and say what `unmingle.distributed.fit` shall look for."""
        for name in ("scale", "debias"):
            if getattr(self, name, None):
                raise ValueError(
                    f"{name} needs the whole table in memory; leave it out for `unmingle.distributed.fit`."
                )
        rows = self._validated(rows, reset=True)
        penalties = given_penalties(self.rank_penalty, self.outlier_penalty, rows.shape[1])
        return PassRequest(rows, self.n_components, *penalties, self.random_state, nonnegative=self.nonnegative)

    def projector(self) -> Projector:
        """What takes samples apart as the model does, for `unmingle.distributed.decompose` to send around."""
        check_is_fitted(self)
        light = self._light_copy()
        return Projector(
            light.n_components_, light.n_features_in_, light.nonnegative, light._project, light._decomposition
        )

    def _light_copy(self) -> Self:
        """A copy with nothing but what projections need."""
        light = type(self)(**self.get_params())
        for name in self._attribute_rules:
            setattr(light, name, getattr(self, name))
        light._set_cells(self.column_scale_, self.cells_)
        return light

    def _set_cells(self, scale: Array | None, cells: CellModel | None) -> None:
        """Keep scales of columns and what is known of their cells; forget those of an earlier fit."""
        for name, value in {"column_scale_": scale, "cells_": cells}.items():
            if name in vars(self):
                delattr(self, name)
            if value is not None:
                setattr(self, name, value)

    def _validated(self, X: Any, *, reset: bool) -> Array:
        plain = not reset and self._is_plain(X)
        data = X if plain else self._checked(X, reset)
        if self.nonnegative:
            refuse_negative(data, X, type(self).__name__)
        return data

    def _to_learn_from(self, X: Any) -> Array:
        """A whole matrix for ``fit``."""
        data = check_matrix(self._validated(X, reset=True))
        warn_of_rounding(data)
        return data

    def _checked(self, X: Any, reset: bool) -> Array:
        floats = as_floats(X)
        if floats.shape == (0, 0):
            check_matrix(floats)
        if is_frame(X):
            floats = like_frame(X, floats)
        return validate_data(
            self, floats, reset=reset, dtype=[np.float64, np.float32], order="C", ensure_all_finite="allow-nan"
        )

    def _is_plain(self, X: Any) -> bool:
        """Whether X is an array of known numbers, just as wanted: small blocks need not wait for all other checks."""
        as_wanted = (
            type(X) is np.ndarray
            and X.dtype in (np.float64, np.float32)
            and X.shape[1:] == (self.n_features_in_,)
            and X.shape[0] > 0
            and X.flags.c_contiguous
            and not hasattr(self, "feature_names_in_")
        )
        with np.errstate(over="ignore", invalid="ignore"):
            return as_wanted and bool(np.isfinite(np.sum(X)))

    def _low_rank(self, codes: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            return within_range(codes @ self._atoms(codes.dtype), type(self).__name__)

    def _atoms(self, dtype: Any) -> Array:
        return self.components_.astype(dtype, copy=False)

    def _thresholds(self, dtype: Any) -> Array:
        return np.broadcast_to(np.asarray(self.outlier_penalty_), self.components_.shape[1:]).astype(dtype)

    def _project(self, X: Array) -> tuple[Array, Array]:
        """Codes and relative gaps of (5)."""
        if self.n_components_ == 0:
            return np.zeros((len(X), 0), X.dtype), np.zeros(len(X))
        exact = 1e-10 if X.dtype == np.float64 else 1e-5
        units, problem = self._scaled_problem(X)
        iterates = (nonnegative_newton if self.nonnegative else newton)(*problem, tol=exact)
        result = run(iterates, lambda projection: float(projection.gap.max()), tol=exact, max_iter=10)
        if result.measure > 1e3 * exact:
            warnings.warn(
                f"The projection of some samples stopped at a relative duality gap of {result.measure:.1e}; "
                "`decompose` tells which by its sample_gap.",
                ConvergenceWarning,
                stacklevel=3,
            )
        by = type(self).__name__
        codes, gap = units.factors_from_units(result.state.codes), result.state.gap
        return within_range(codes, by), within_range(gap, by)

    def _scaled_problem(self, X: Array) -> tuple[Units, tuple[Array, Array, float, Array]]:
        """(5) in units in which the largest outlier penalty is about one: the units; X, U', lam_* and lam."""
        lam = self._thresholds(np.float64)
        units = Units.of(lam)
        with np.errstate(over="ignore"):
            scaled = units.to_units(self._in_scale(X))
        return units, (
            np.clip(scaled, -BEYOND, BEYOND),
            units.factors_to_units(self._in_scale(self.components_)).astype(X.dtype),
            units.to_units(self.rank_penalty_),
            units.to_units(lam).astype(X.dtype),
        )

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.positive_only = self.nonnegative
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
