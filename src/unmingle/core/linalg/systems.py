"""Small symmetric systems that rounding may have made singular."""

import numpy as np
from scipy import linalg

from ..._types import Array

_SMALLEST = 1e-12
"""Eigenvalues at least, as a share of their sum."""


def regularised(systems: Array) -> Array:
    """A + 1e-12 trace(A) I for each positive semidefinite A: the same to twelve digits, and never singular.

    Parameters
    ----------
    systems : array of shape (..., q, q)
        Symmetric matrices without negative eigenvalues, but for rounding.
    """
    trace = np.trace(systems, axis1=-2, axis2=-1)[..., None, None]
    return systems + (_SMALLEST * trace + np.finfo(np.float64).tiny) * np.eye(systems.shape[-1])


def solve_positive(system: Array, right: Array) -> Array:
    """Solve A x = b for one positive definite A, by Cholesky; where rounding made A singular, for `regularised` (A).

    Parameters
    ----------
    system : array of shape (q, q)
        A, symmetric.
    right : array of shape (q, ...)
        b.

    Raises
    ------
    ValueError
        The numbers in A are beyond the range of float64, or A is not positive semidefinite.
    """
    if not len(system):
        return np.zeros_like(right)
    try:
        factor = linalg.cholesky(system, check_finite=False)
        regular = np.ptp(np.log(np.diag(factor))) <= -0.5 * np.log(_SMALLEST)
    except linalg.LinAlgError:
        regular = False
    if not regular:  # some libraries take NaN for a number, too
        try:
            factor = linalg.cholesky(regularised(system))
        except ValueError:  # beyond all measure, or sums of a file that no samples have
            raise ValueError(
                "The numbers in the data, the penalties or the model are too large to learn from."
            ) from None
    return linalg.cho_solve((factor, False), right, check_finite=False)
