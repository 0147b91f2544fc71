"""Estimators as detectors of bad rows, in scikit-learn's manner."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from .._fields import checked, from_store, to_store
from .._rules import Count, Either, Number, OneOf
from .._types import Array, BoolArray
from .._validation import check_matrix, check_positive, within_range
from .rows import RELATIVE, RowModel

USUAL_RATE = 0.01
"""Share of ordinary rows that ``contamination="auto"`` lets `predict` call outliers."""
CONTAMINATION = Either(OneOf("auto"), Number(0.0, 0.5, above=True))
"""What the parameter of that name may be."""


@dataclass(frozen=True, eq=False)
class OrdinaryRows:
    """What ordinary rows are like, and how the rows were that tell so."""

    model: RowModel
    offset: Annotated[float, Number(-(RELATIVE**3), 0.0)]
    """Score below which a row is an outlier."""
    described: Annotated[int, Count()]
    """Number of the rows."""
    smallest: Annotated[float, Number(-np.inf, np.inf)]
    """Smallest entry in them."""
    largest: Annotated[float, Number(-np.inf, np.inf)]
    """Largest entry in them."""

    @classmethod
    def of(cls, X: Array, codes: Array, components: Array, share: float | None) -> Self:
        """Describe rows, of which this share is bad; None: unknown, and less than half."""
        model = RowModel.of(X, codes, components)
        offset = model.threshold(USUAL_RATE) if share is None else float(np.percentile(model.score(X), 100 * share))
        return cls(model, offset, len(X), float(np.nanmin(X, initial=np.inf)), float(np.nanmax(X, initial=-np.inf)))


class RowDetector(OutlierMixin, BaseEstimator):
    """Scores of rows by a `RowModel`, and what scikit-learn's detectors make of them."""

    contamination: float | str
    n_components_: int
    _not_scored: ClassVar[str] = (
        "This {} does not know what ordinary rows look like; call its calibrate(X) with rows of which most are good."
    )
    _rows: OrdinaryRows | None = None
    _stale: bool = False
    """Whether more was learnt since rows were described."""

    @property
    def offset_(self) -> float:
        """Score below which `predict` calls a row an outlier."""
        return self._ordinary_rows().offset

    @property
    def score_center_(self) -> float:
        """Median of the cube root of minus the scores of ordinary rows."""
        return float(self._ordinary_rows().model.law[0])

    @property
    def score_scale_(self) -> float:
        """Robust spread of the same."""
        return float(self._ordinary_rows().model.law[1])

    def score_samples(self, X: Any) -> Array:
        """How ordinary each row is: larger is more normal, as everywhere in scikit-learn.

        The log-probability, at most 0, that an ordinary row is as strange as this one, by three tests taken together:
        what the components leave of it, how large it is within what they span, and its strangest cell, all in units
        of what is usual for each column and component. Half of the ordinary rows are above about -2.4. Missing
        entries do not count.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            Samples; NaN means missing.

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        data = self._validated(X, reset=False)
        return within_range(self._ordinary_rows().model.score(data), type(self).__name__)

    def decision_function(self, X: Any) -> Array:
        """`score_samples` less `offset_`: below 0 for outliers.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            Samples; NaN means missing.

        Returns
        -------
        array of shape (n_samples,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Tell which rows are ordinary, 1, and which are outliers, -1.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            Samples; NaN means missing.

        Returns
        -------
        array of shape (n_samples,)
            -1 where `score_samples` is below `offset_`.
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    def outlier_flags(self, X: Any, *, false_alarm_rate: float = USUAL_RATE) -> BoolArray:
        """Whether each row is stranger than the ordinary rows of the training data.

        The cube root of minus a score is nearly normal. The ordinary rows are described by its median and median
        absolute deviation, so that bad rows among the training data do not matter. With ``contamination="auto"`` and
        the default rate these are the rows that `predict` calls outliers.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            Samples; NaN means missing.
        false_alarm_rate : float
            Share of ordinary rows that may be flagged, between 0 and 1.

        Returns
        -------
        boolean array of shape (n_samples,)
        """
        rate = check_positive(false_alarm_rate, "false_alarm_rate")
        if rate >= 1:
            raise ValueError(f"false_alarm_rate must be below 1, got {false_alarm_rate!r}.")
        scores = self.score_samples(X)
        return scores < self._ordinary_rows().model.threshold(rate)

    def calibrate(self, X: Any) -> Self:
        """Learn from rows, of which most are good, what ordinary scores are; the components stay as they are.

        ``fit`` does so with its training data. A model of a stream uses the last rows it has seen.

        Parameters
        ----------
        X : array or DataFrame of shape (n_samples, n_features)
            Samples; NaN means missing.
        """
        check_is_fitted(self)
        return self._calibrated(check_matrix(self._validated(X, reset=False)))

    def _calibrated(self, X: Array, codes: Array | None = None) -> Self:
        """Describe rows, whose codes may be known."""
        codes = self._project(X)[0] if codes is None else codes
        self._rows, self._stale = OrdinaryRows.of(X, codes, self._atoms(X.dtype), self._contamination()), False
        return self

    def _contamination(self) -> float | None:
        """The share of bad rows in the training data, checked; None for "auto"."""
        share = checked(self.contamination, "contamination", CONTAMINATION)
        return None if share == "auto" else float(share)

    def _ordinary_rows(self) -> OrdinaryRows:
        """What ordinary rows are like, as far as is known now."""
        check_is_fitted(self)
        lately = self._seen_lately() if self._stale else None
        if lately is not None and (self._rows is None or len(lately) >= 2 * self.n_components_):
            self._calibrated(lately)
        if self._rows is None:
            raise ValueError(self._not_scored.format(type(self).__name__))
        return self._rows

    def _seen_lately(self) -> Array | None:
        """Rows of a stream that describe what is ordinary now."""
        return None

    def _rows_to_store(self) -> dict[str, Any]:
        """What a file holds of them, if they are known."""
        return {} if self._rows is None and not self._stale else {"rows_": to_store(self._ordinary_rows())}

    def _rows_from_store(self, content: dict[str, Any]) -> None:
        rows = from_store(OrdinaryRows, content)
        if (rows.model.marks[:, 1] <= 0).any() or rows.model.law[1] <= 0:
            raise ValueError("the spread of scores should be above 0")
        self._rows, self._stale = rows, False

    def _validated(self, X: Any, *, reset: bool) -> Array:
        raise NotImplementedError

    def _project(self, X: Array) -> tuple[Array, Array]:
        raise NotImplementedError

    def _atoms(self, dtype: Any) -> Array:
        raise NotImplementedError
