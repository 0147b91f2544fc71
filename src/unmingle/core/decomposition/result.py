"""A matrix taken apart, and what can be asked of it."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan
from typing import Any

import numpy as np

from ..._frames import like_frame
from ..._threads import limit_blas_threads
from ..._types import AnyArray, Array
from ..._validation import check_share
from ..cells.model import CellModel, Refit
from ..cells.refit import refit_cells
from ..cells.tails import flag_cells


@dataclass(frozen=True, eq=False)
class Decomposition:
    """A matrix taken apart: ``X = low_rank + outliers + residual``.

    The parts of a DataFrame are DataFrames. Where X is missing, outliers and residual are 0 and ``low_rank`` is the
    imputation. ``low_rank`` and ``residual`` are computed when asked for, the latter from X as it is then.

    With ``debias=True`` codes, components, ``low_rank`` and rank are those of a fit without penalties, ``residual`` is
    what it leaves of cells that are not flagged, and ``outliers``, ``objective`` and ``gap`` stay those of the
    penalised answer: the certificate is of that one.
    """

    codes: Array
    """(n, q): the coordinates of the samples."""
    components: Array
    """(q, m): the atoms, of falling norm."""
    _X: Array = field(repr=False)
    _outliers: Array = field(repr=False)
    rank_penalty: float
    outlier_penalty: Any
    """A number or an array (m,); an `unmingle.core.OutlierPenalty` in what is put together by hand with one."""
    objective: float = nan
    """Value of the problem solved, at the answer."""
    gap: float = nan
    """Relative duality gap: the objective is at most this fraction above its minimum."""
    n_iter: int = 0
    converged: bool = True
    sample_gap: Array | None = None
    """(n,): gap of each sample's own projection, from `RobustPCA.decompose`."""
    column_scale: Array | None = None
    """(m,): what columns were divided by, for ``scale="columns"``; penalties, objective and gap are of that problem."""
    _frame: Any = field(default=None, repr=False)
    _at_most: int | None = field(default=None, repr=False)
    """Components that a fit without penalties may have."""
    _cells: CellModel | None = field(default=None, repr=False)
    """For new samples, what tells which of their cells stand out."""
    _debiased: Refit | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        n, m = self._X.shape
        ended = "" if self.converged else ", not converged"
        return f"Decomposition({n} x {m}, rank {self.rank}, gap {self.gap:.1e}{ended})"

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
        rest = self._X - self.codes @ self.components
        left_out = np.isnan(self._X)
        if self._debiased is None:
            rest -= self._outliers
        else:
            left_out |= np.asarray(self.flags())
        return self._like_input(np.where(left_out, 0, rest))

    @property
    def significance(self) -> Any:
        """(n, m): deviation of each cell from what the other cells tell of it, in standard deviations of its column.

        Positive where a cell is larger than expected; 0 where it is missing. Found by
        `unmingle.core.refit_cells`.
        """
        return self._like_input(self._refitted.deviations.astype(self._X.dtype))

    def flags(self, false_share: float = 0.03) -> Any:
        """Which cells stand out, tested against the noise of their columns.

        Unlike ``outliers``, which are part of the answer, flags are a test: about a share ``false_share`` of the
        flagged cells is noise. Tails of the noise are those of the data, heavier than normal where they are. Where
        outliers only add, as in `RobustNMF`, only cells that are too large are flagged.

        Parameters
        ----------
        false_share : float
            Expected share of false ones among the flagged, between 0 and 1.

        Returns
        -------
        boolean array or DataFrame of shape (n, m)

        Examples
        --------
        >>> import unmingle
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 10)) + 0.1 * rng.standard_normal((200, 10))
        >>> X[[3, 70], [4, 9]] += 2.0
        >>> np.argwhere(unmingle.decompose(X).flags()).tolist()
        [[3, 4], [70, 9]]
        """
        share = check_share(false_share, "false_share")
        if share == 0:
            raise ValueError("false_share must be above 0: without any false flag there would be no flags.")
        known = ~np.isnan(self._X)
        found = self._refitted
        return self._like_input(flag_cells(found.model.probabilities(found.deviations, known), known, share))

    @cached_property
    def _refitted(self) -> Refit:
        if self._debiased is not None:
            return self._debiased
        if self.sample_gap is not None and self._cells is None:
            raise ValueError(
                "Single cells of new samples need a model fitted with debias=True, as RobustPCA(debias=True); for a "
                "whole table take unmingle.decompose(X)."
            )
        with limit_blas_threads(self._X.size):
            if self._cells is not None:
                return self._cells.refit_rows(self._X, self.codes @ self.components)
            return refit_cells(self._X, self.codes, self.components, at_most=self._at_most)

    def _like_input(self, part: AnyArray) -> Any:
        if self._frame is None:
            return part
        return like_frame(self._frame, part)


def rescale_columns(part: Decomposition, X: Array, scales: Array) -> Decomposition:
    """Parts of the table X from those of the table with columns divided by their scales."""
    return replace(
        part, components=part.components * scales, _X=X, _outliers=part._outliers * scales, column_scale=scales
    )


def without_bias(part: Decomposition) -> Decomposition:
    """The part with the low-rank part fitted again, without penalties."""
    found = part._refitted
    codes, components = fix_signs(found.codes, found.model.components)
    dtype = part._X.dtype
    return replace(part, codes=codes.astype(dtype), components=components.astype(dtype), _debiased=found)


def fix_signs(codes: Array, components: Array) -> tuple[Array, Array]:
    """Fix signs: the largest entry of each component is positive."""
    if len(components) == 0:
        return codes, components
    peak = components[np.arange(len(components)), np.argmax(np.abs(components), axis=1)]
    sign = np.where(peak < 0, -1, 1).astype(components.dtype)
    return codes * sign, components * sign[:, None]
