"""Small symmetric systems that rounding may have made singular."""

import numpy as np

from ..._types import Array

_SMALLEST = 1e-12
"""Eigenvalues at least, as a share of their sum."""


def solvable(systems: Array) -> Array:
    """A + 1e-12 trace(A) I for each positive semidefinite A: the same to twelve digits, and never singular.

    Parameters
    ----------
    systems : array of shape (..., q, q)
        Symmetric matrices without negative eigenvalues, but for rounding.
    """
    trace = np.trace(systems, axis1=-2, axis2=-1)[..., None, None]
    return systems + (_SMALLEST * trace + np.finfo(np.float64).tiny) * np.eye(systems.shape[-1])
