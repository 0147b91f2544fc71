"""How well did it go: measures that compare an answer with a known truth."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["FMeasure", "f_measure", "relative_error", "subspace_angle"]


class FMeasure(NamedTuple):
    """Precision, recall and their harmonic mean, each in [0, 1]."""

    precision: float
    recall: float
    f: float


def f_measure(mask: ArrayLike, truth: ArrayLike) -> FMeasure:
    """Compare a mask with the true one, counted over all entries.

    precision = hits / claimed,  recall = hits / true,  f = 2 hits / (claimed + true).

    A ratio without a denominator is 1 if both masks are empty (nothing to find, nothing claimed) and 0 otherwise.

    Parameters
    ----------
    mask, truth : array_like of bool, of the same shape
        What was claimed, and what is so; non-zero means True.

    Returns
    -------
    FMeasure
        `(precision, recall, f)`.

    Examples
    --------
    >>> f_measure([1, 1, 0, 0], [1, 0, 1, 0])
    FMeasure(precision=0.5, recall=0.5, f=0.5)
    """
    mask, truth = np.asarray(mask, dtype=bool), np.asarray(truth, dtype=bool)
    _check_same_shape("mask", mask.shape, truth.shape)
    claimed, true = int(np.count_nonzero(mask)), int(np.count_nonzero(truth))
    hits = int(np.count_nonzero(mask & truth))
    undefined = float(claimed == true == 0)
    return FMeasure(
        precision=hits / claimed if claimed else undefined,
        recall=hits / true if true else undefined,
        f=2 * hits / (claimed + true) if claimed + true else undefined,
    )


def relative_error(estimate: ArrayLike, truth: ArrayLike) -> float:
    """Return `||estimate - truth||_F / ||truth||_F`; for a truth of zeros 0 if the estimate is zero too, else inf.

    Examples
    --------
    >>> relative_error([3.0, 4.4], [3.0, 4.0])  # doctest: +ELLIPSIS
    0.08...
    """
    estimate, truth = np.asarray(estimate, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    _check_same_shape("estimate", estimate.shape, truth.shape)
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


def _basis_of_rows(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return orthonormal columns that span the rows, up to the rounding of the type they came in."""
    from scipy.linalg import orth

    if rows.size == 0:
        return np.zeros((rows.shape[1], 0))
    precision = np.finfo(rows.dtype if rows.dtype.kind == "f" else np.float64).eps
    return np.asarray(orth(rows.T.astype(np.float64), rcond=max(rows.shape) * precision))


def _check_same_shape(name: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    if shape != expected:
        raise ValueError(f"{name} must have the shape of truth, {expected}; got {shape}.")
