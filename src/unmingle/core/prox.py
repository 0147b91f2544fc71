"""Proximal maps and the loss they leave behind, written so that NumPy, torch and Dask arrays can run them.

With ``clip(x, -t, t)`` as the one primitive:

- ``soft(x, t) = x - clip(x, -t, t)`` is the proximal map of ``t |x|``;
- ``huber_t(x) = min over o of 1/2 (x - o)^2 + t |o|`` is reached at ``o = soft(x, t)``.

What outliers cost is an `OutlierPenalty`: its value, its proximal map, and its dual norm, by which certificates are
proven. `EntryPenalty` is the one of `unmingle.decompose`; `unmingle.core.solvers.penalised` solves (2) with any other,
such as `ColumnGroups`.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._types import Array, IndexArray

__all__ = ["ColumnGroups", "EntryPenalty", "OutlierPenalty", "huber", "soft_threshold"]


def soft_threshold(x: Any, threshold: Any) -> Any:
    """Shrink every entry towards zero: ``x - clip(x, -threshold, threshold)``.

    Parameters
    ----------
    x : array
        A NumPy, torch or Dask array.
    threshold : float or array
        What is taken off, at least 0; broadcast against ``x``.

    Returns
    -------
    array
        Of the kind and shape of ``x``.

    Examples
    --------
    >>> import numpy as np
    >>> soft_threshold(np.array([-3.0, 0.5, 2.0]), 1.0).tolist()
    [-2.0, 0.0, 1.0]
    """
    return x - x.clip(-threshold, threshold)


def huber(x: Any, threshold: Any) -> Any:
    """Huber's loss, ``r (x - r/2)`` with ``r = clip(x, -threshold, threshold)``.

    Quadratic within the threshold, linear beyond; its derivative is ``r``.

    Parameters
    ----------
    x : array
        A NumPy, torch or Dask array.
    threshold : float or array
        Where the loss turns linear, at least 0; broadcast against ``x``.

    Returns
    -------
    array
        Of the kind and shape of ``x``.

    Examples
    --------
    >>> import numpy as np
    >>> huber(np.array([-3.0, 0.5]), 1.0).tolist()
    [2.5, 0.125]
    """
    r = x.clip(-threshold, threshold)
    return r * (x - r / 2)


class OutlierPenalty(Protocol):
    """What outliers cost, phi(O): all that must be known of it to solve (2) with phi in place of lam ||O||_1.

    phi must be convex, with phi(c O) = c phi(O) for c > 0 and phi(O) > 0 for O != 0: norms, and sums of norms of parts.
    Missing entries are 0 in what the methods are given, and must stay 0 in what `prox` gives back.
    """

    def value(self, outliers: Array) -> float:
        """phi(O)."""

    def prox(self, misfit: Array) -> Array:
        """The best outliers for what a low-rank part leaves of X: the O with the least phi(O) + ||M - O||_F^2 / 2."""

    def dual_norm(self, y: Array) -> float:
        """The largest <Y, O> over all O with phi(O) <= 1: Y is feasible in the dual problem where this is at most 1."""


@dataclass(frozen=True)
class EntryPenalty:
    """``lam ||O||_1``: each entry stands out by itself; the penalty of `unmingle.decompose`.

    Parameters
    ----------
    lam : array of shape (m,)
        Penalty of the entries of each column, above 0.

    Examples
    --------
    >>> penalty = EntryPenalty(np.array([1.0, 2.0]))
    >>> outliers = penalty.prox(np.array([[3.0, 0.5], [0.0, -5.0]]))
    >>> outliers.tolist()
    [[2.0, 0.0], [0.0, -3.0]]
    >>> penalty.value(outliers), penalty.dual_norm(np.array([[1.0, -2.0]]))
    (8.0, 1.0)
    """

    lam: Array

    def value(self, outliers: Array) -> float:
        """Lam ||O||_1."""
        return float(np.sum(self.lam * np.abs(outliers), dtype=np.float64))

    def prox(self, misfit: Array) -> Array:
        """Every entry, shrunk towards 0 by lam."""
        shrunk: Array = soft_threshold(misfit, self.lam)
        return shrunk

    def dual_norm(self, y: Array) -> float:
        """Largest |y_ij| / lam_j."""
        columns = np.maximum(np.max(y, axis=0), -np.min(y, axis=0))
        return float(np.max(np.divide(columns, self.lam, out=np.zeros_like(columns), where=columns > 0)))


@dataclass(frozen=True)
class ColumnGroups:
    """``lam sum ||o_ig||``, over rows i and groups g of columns: a group stands out in a row as a whole, or not at all.

    For columns that fail together, such as the sensors of one device, whatever the signs of what is wrong in them.

    Parameters
    ----------
    groups : array of int, shape (m,)
        Group of each column, counted from 0.
    lam : float or array of shape (number of groups,)
        Penalty of a group in a row, above 0; of each group its own if an array is given.

    Examples
    --------
    >>> penalty = ColumnGroups(np.array([0, 0, 1]), 1.0)
    >>> misfit = np.array([[3.0, -4.0, 0.5], [0.3, 0.4, 2.0]])
    >>> penalty.lengths(misfit).tolist()
    [[5.0, 0.5], [0.5, 2.0]]
    >>> outliers = penalty.prox(misfit)
    >>> outliers.round(6).tolist()
    [[2.4, -3.2, 0.0], [0.0, 0.0, 1.0]]
    >>> round(penalty.value(outliers), 6), penalty.dual_norm(misfit)
    (5.0, 5.0)
    """

    groups: IndexArray
    lam: float | Array

    def lengths(self, A: Array) -> Array:
        """(n, number of groups): ||a_ig|| of each group in each row."""
        members = np.eye(int(self.groups.max()) + 1, dtype=A.dtype)[self.groups]
        length: Array = np.sqrt(A**2 @ members)
        return length

    def value(self, outliers: Array) -> float:
        """Lam times the lengths of all groups in all rows."""
        return float(np.sum(self.lam * self.lengths(outliers), dtype=np.float64))

    def prox(self, misfit: Array) -> Array:
        """Every group of a row, shrunk towards 0 as a whole: its length by lam."""
        length = self.lengths(misfit)
        left = np.maximum(length - np.asarray(self.lam, misfit.dtype), 0)
        kept: Array = left / np.maximum(length, np.finfo(misfit.dtype).tiny)
        return misfit * kept[:, self.groups]

    def dual_norm(self, y: Array) -> float:
        """Largest ||y_ig|| / lam."""
        return float(np.max(self.lengths(y) / self.lam))
