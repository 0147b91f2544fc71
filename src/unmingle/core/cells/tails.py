"""Which deviations are more than noise, when noise has heavier tails than the normal law."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, stdtr, stdtrit

from ..._types import Array, BoolArray

_DEGREES = np.array([7.0, 8.5, 11.0, 16.0, 30.0, 100.0, 1e6])
"""Degrees of freedom of the laws that are tried: from rather heavy tails to those of the normal law."""


@dataclass(frozen=True)
class _LawFit:
    """How the law of the deviations in a column is chosen."""

    central: float = 5.0
    """A law is fitted to deviations within this many standard deviations: those beyond may be anything."""
    cells_of_table: int = 200
    """The whole table counts as much as this many cells of the column itself."""
    fewest: int = 5
    """Columns with fewer central cells than this take the law of the whole table."""
    narrowest: float = 0.7
    """A law is at least this wide: where most of a column is one value, the median deviation says nothing of the
    others."""


_FIT = _LawFit()


class TailLaws(NamedTuple):
    """Student's laws of the deviations in each column."""

    degrees: Array
    """(m,): of freedom."""
    widths: Array
    """(m,): scales, in standard deviations."""

    @classmethod
    def of(cls, deviations: Array, known: BoolArray) -> "TailLaws":
        """Fit the laws.

        The width of a law is that of the median deviation. Its degrees of freedom make the deviations below 5 most
        probable, those of the column and, with the weight of 200 cells, those of the whole table.

        Parameters
        ----------
        deviations : array of shape (n, m)
            In standard deviations.
        known : boolean array of shape (n, m)
            Which of them are known.
        """
        sizes = np.abs(deviations)
        table, _ = _likelihoods(sizes[known])
        found = []
        for size, there in zip(sizes.T, known.T, strict=True):
            own, widths = _likelihoods(size[there])
            best = int(np.argmax(np.count_nonzero(size[there] < _FIT.central) * own + _FIT.cells_of_table * table))
            found.append((_DEGREES[best], widths[best]))
        return cls(*np.array(found, np.float64).reshape(-1, 2).T)

    def probabilities(self, deviations: Array, known: BoolArray, *, one_sided: bool = False) -> Array:
        """How probable it is that noise alone deviates as far, or as far upwards; 1 where nothing is known.

        Parameters
        ----------
        deviations : array of shape (n, m)
            In standard deviations.
        known : boolean array of shape (n, m)
            Which of them are known.
        one_sided : bool
            Whether only what is larger than expected can stand out.
        """
        z = deviations / self.widths
        p = stdtr(self.degrees, -z) if one_sided else 2 * stdtr(self.degrees, -np.abs(z))
        return np.where(known, p, 1.0)


def _likelihoods(sizes: Array) -> tuple[Array, Array]:
    """Mean log-likelihood of central deviations by each law, cut off at 5, and the scales of the laws."""
    central = sizes[sizes < _FIT.central]
    middle = float(np.median(central)) if len(central) >= _FIT.fewest else 0.0
    if middle == 0.0:
        return np.zeros(len(_DEGREES)), np.ones(len(_DEGREES))
    scales = np.maximum(middle / stdtrit(_DEGREES, 0.75), _FIT.narrowest)
    inside = 1 - 2 * stdtr(_DEGREES, -_FIT.central / scales)
    half = (_DEGREES + 1) / 2
    constant = gammaln(half) - gammaln(_DEGREES / 2) - 0.5 * np.log(np.pi * _DEGREES) - np.log(scales * inside)
    powers = np.log1p((central[:, None] / scales) ** 2 / _DEGREES).mean(axis=0)
    return constant - half * powers, scales


def flag_cells(probabilities: Array, known: BoolArray, false_share: float) -> BoolArray:
    """Cells that stand out: as many as keep the share of noise among them at this level (Benjamini and Hochberg).

    Parameters
    ----------
    probabilities : array of shape (n, m)
        From `TailLaws.probabilities`.
    known : boolean array of shape (n, m)
        Which cells there are.
    false_share : float
        Expected share of false ones among the flagged.
    """
    ordered = np.sort(probabilities[known])
    below = np.flatnonzero(ordered <= false_share * np.arange(1, ordered.size + 1) / max(ordered.size, 1))
    if below.size == 0:
        return np.zeros_like(known)
    return known & (probabilities <= ordered[below[-1]])
