"""Which deviations are more than noise, when noise has heavier tails than the normal law."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, stdtr, stdtrit

Array = NDArray[np.floating[Any]]

_DEGREES = np.array([6.0, 8.0, 11.0, 16.0, 30.0, 100.0, 1e6])
"""Of freedom, of the laws that are tried: from rather heavy tails to those of the normal law."""
_CENTRAL = 5.0
"""Deviations within which a law is fitted: those beyond may be anything."""
_PULL = 200
"""So many cells of the whole table count beside those of a column."""
_FEW = 5
_NARROWEST = 0.7
"""Scale of a law at least: where most of a column is one value, the median deviation says nothing of the others."""


def tail_probabilities(deviations: Array, known: NDArray[np.bool_]) -> Array:
    """How probable it is that noise alone deviates as far: from Student's law, fitted to each column.

    The scale of a law is that of the median deviation. Its degrees of freedom make the deviations below 5 most
    probable, those of the column and, with the weight of 200 cells, those of the whole table.

    Parameters
    ----------
    deviations : array of shape (n, m)
        In standard deviations.
    known : boolean array of shape (n, m)
        Which of them are known; others have the probability 1.
    """
    sizes, found = np.abs(deviations), np.ones(deviations.shape)
    table, _ = _likelihoods(sizes[known])
    for size, there, p in zip(sizes.T, known.T, found.T, strict=True):
        central = size[there]
        central = central[central < _CENTRAL]
        own, scales = _likelihoods(central)
        best = int(np.argmax(len(central) * own + _PULL * table))
        p[there] = 2 * stdtr(_DEGREES[best], -size[there] / scales[best])
    return found


def _likelihoods(sizes: Array) -> tuple[Array, Array]:
    """Mean log-likelihood of central deviations by each law, cut off at 5, and the scales of the laws."""
    central = sizes[sizes < _CENTRAL]
    middle = float(np.median(central)) if len(central) >= _FEW else 0.0
    if middle == 0.0:
        return np.zeros(len(_DEGREES)), np.ones(len(_DEGREES))
    scales = np.maximum(middle / stdtrit(_DEGREES, 0.75), _NARROWEST)
    inside = 1 - 2 * stdtr(_DEGREES, -_CENTRAL / scales)
    half = (_DEGREES + 1) / 2
    constant = gammaln(half) - gammaln(_DEGREES / 2) - 0.5 * np.log(np.pi * _DEGREES) - np.log(scales * inside)
    powers = np.log1p((central[:, None] / scales) ** 2 / _DEGREES).mean(axis=0)
    return constant - half * powers, scales


def flagged(probabilities: Array, known: NDArray[np.bool_], false_share: float) -> NDArray[np.bool_]:
    """Cells that stand out, so many that about this share of them is noise (Benjamini and Hochberg).

    Parameters
    ----------
    probabilities : array of shape (n, m)
        From `tail_probabilities`.
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
