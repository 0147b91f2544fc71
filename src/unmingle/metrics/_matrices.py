"""How far a matrix, or a space, is from the true one."""

import numpy as np
from numpy.typing import ArrayLike

from .._types import AnyArray, Float64Array
from .masks import check_same_shape


def relative_error(estimate: ArrayLike, truth: ArrayLike) -> float:
    """Return `||estimate - truth||_F / ||truth||_F`; for a truth of zeros 0 if the estimate is zero too, else inf.

    Examples
    --------
    >>> relative_error([3.0, 4.4], [3.0, 4.0])  # doctest: +ELLIPSIS
    0.08...
    """
    estimate, truth = np.asarray(estimate, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    check_same_shape("estimate", estimate.shape, truth.shape)
    error, size = float(np.linalg.norm(estimate - truth)), float(np.linalg.norm(truth))
    if size == 0.0:
        return 0.0 if error == 0.0 else float("inf")
    return error / size


def subspace_angle(A: ArrayLike, B: ArrayLike) -> float:
    """Return the largest principal angle, in degrees, between the row spaces of `A` and `B`.

    If the dimensions differ, it tells how far the smaller space sticks out of the larger one; the space of no
    dimension lies in every other, at angle 0.

    Parameters
    ----------
    A, B : array_like of shape (p, m) and (q, m)
        Rows that span the two spaces; they need not be independent.

    Returns
    -------
    float
        Angle in [0, 90].

    Examples
    --------
    >>> round(subspace_angle([[1.0, 0.0, 0.0]], [[1.0, 1.0, 0.0], [0.0, 0.0, 2.0]]), 6)
    45.0
    """
    from scipy.linalg import subspace_angles

    A, B = np.asarray(A), np.asarray(B)
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[1]:
        raise ValueError(
            f"A and B must be matrices with the same number of columns; got shapes {A.shape} and {B.shape}."
        )
    bases = _basis_of_rows(A), _basis_of_rows(B)
    if min(basis.shape[1] for basis in bases) == 0:
        return 0.0
    return float(np.degrees(np.max(subspace_angles(*bases))))


def _basis_of_rows(rows: AnyArray) -> Float64Array:
    """Return orthonormal columns that span the rows, up to the rounding of the type they came in."""
    from scipy.linalg import orth

    if rows.size == 0:
        return np.zeros((rows.shape[1], 0))
    precision = np.finfo(rows.dtype if rows.dtype.kind == "f" else np.float64).eps
    return np.asarray(orth(rows.T.astype(np.float64), rcond=max(rows.shape) * precision))
