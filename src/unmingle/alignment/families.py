"""Families of transformations: groups of 3x3 matrices, each with the generators of its small members.

A matrix maps pixels (x, y, 1) of the aligned frame into the given image. Small members are exp(sum p_k G_k), in
coordinates whose origin is the middle of the frame and whose unit is half its diagonal, so that a unit of any parameter
moves a corner of the frame by about as much.
"""

from dataclasses import dataclass
from functools import cached_property
from math import hypot
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._rules import Count
from .._types import Float64Array

Matrix = Float64Array

_ENTRIES: dict[str, tuple[dict[tuple[int, int], float], ...]] = {
    "translation": ({(0, 2): 1.0}, {(1, 2): 1.0}),
    "euclidean": ({(0, 1): -1.0, (1, 0): 1.0}, {(0, 2): 1.0}, {(1, 2): 1.0}),
    "similarity": ({(0, 0): 1.0, (1, 1): 1.0}, {(0, 1): -1.0, (1, 0): 1.0}, {(0, 2): 1.0}, {(1, 2): 1.0}),
    "affine": tuple({(a, b): 1.0} for b in range(3) for a in range(2)),
    "projective": (*({(a, b): 1.0} for b in range(3) for a in range(2)), {(2, 0): 1.0}, {(2, 1): 1.0}),
}
FAMILIES = tuple(_ENTRIES)
"""From the fewest parameters to the most: 2, 3, 4, 6 and 8."""
SCALING = frozenset({"similarity", "affine", "projective"})
"""Those that change sizes."""
LONGEST = 2**15
"""A frame that a file holds has at most this number of pixels along an axis."""
_TERMS = 40
"""Terms of the series of a logarithm."""
_ROUNDS = 20
"""Rounds that the search for the mean of a group may take."""


def generators(family: str) -> Matrix:
    """The matrices G_k of a family, (p, 3, 3)."""
    found = np.zeros((len(_ENTRIES[family]), 3, 3))
    for number, entries in enumerate(_ENTRIES[family]):
        for place, value in entries.items():
            found[number][place] = value
    return found


@dataclass(frozen=True)
class AlignedFrame:
    """The aligned frame: h x w pixels.

    Examples
    --------
    >>> frame = AlignedFrame(3, 5)
    >>> frame.to_matrix("similarity", [0.0, 0.0, 2.0, -1.0])
    array([[ 1.,  0.,  2.],
           [ 0.,  1., -1.],
           [ 0.,  0.,  1.]])
    """

    height: Annotated[int, Count(1, LONGEST)]
    width: Annotated[int, Count(1, LONGEST)]

    @property
    def unit(self) -> float:
        """Half the diagonal, in pixels; at least 1."""
        return max(0.5 * hypot(self.height - 1, self.width - 1), 1.0)

    @cached_property
    def from_pixels(self) -> Matrix:
        """The map from pixels to centred and scaled coordinates."""
        x, y = 0.5 * (self.width - 1), 0.5 * (self.height - 1)
        return np.array([[1.0, 0.0, -x], [0.0, 1.0, -y], [0.0, 0.0, self.unit]]) / self.unit

    @cached_property
    def to_pixels(self) -> Matrix:
        """Its inverse."""
        return inverse(self.from_pixels)

    @cached_property
    def corners(self) -> Matrix:
        """The four corners, (3, 4), in pixels."""
        right, bottom = self.width - 1.0, self.height - 1.0
        return np.array([[0.0, right, 0.0, right], [0.0, 0.0, bottom, bottom], [1.0, 1.0, 1.0, 1.0]])

    def to_matrix(self, family: str, parameters: ArrayLike) -> Matrix:
        """The member exp(sum p_k G_k / unit) of a family, in pixels; each parameter moves a corner by about as many.

        Parameters
        ----------
        family : str
            One of `FAMILIES`.
        parameters : array of shape (..., p)
            p_k.

        Returns
        -------
        array of shape (..., 3, 3)
        """
        small = np.tensordot(np.asarray(parameters, dtype=np.float64) / self.unit, generators(family), axes=1)
        return normalized(self.to_pixels @ exponential(small) @ self.from_pixels)

    def to_parameters(self, family: str, matrices: ArrayLike) -> Matrix:
        """The inverse of `to_matrix`; what a matrix has beyond the family is left out.

        Parameters
        ----------
        family : str
            One of `FAMILIES`.
        matrices : array of shape (..., 3, 3)
            Not too far from the identity: by half the frame, say.

        Returns
        -------
        array of shape (..., p)
        """
        small = logarithm(self.from_pixels @ np.asarray(matrices, dtype=np.float64) @ self.to_pixels)
        small = small - small[..., 2:, 2:] * np.eye(3)
        basis = generators(family).reshape(-1, 9)
        flat = small.reshape(*small.shape[:-2], 9)
        return self.unit * (flat @ basis.T) / np.sum(basis**2, axis=1)

    def moves(self, matrices: ArrayLike, others: ArrayLike | None = None) -> Matrix:
        """How far matrices put the corners of the frame from where others put them: the largest distance in pixels.

        Parameters
        ----------
        matrices, others : array of shape (..., 3, 3)
            The identity if there are no others.
        """
        places = [
            _places(np.asarray(m, np.float64) @ self.corners)
            for m in (matrices, np.eye(3) if others is None else others)
        ]
        return np.sqrt(np.sum((places[0] - places[1]) ** 2, axis=-2).max(axis=-1))

    def mean(self, family: str, matrices: ArrayLike) -> Matrix:
        """The mean of members of a family on the group: the M for which the logarithms of M^-1 M_i add up to 0.

        Parameters
        ----------
        family : str
            One of `FAMILIES`.
        matrices : array of shape (n, 3, 3)
            Members of it.

        Returns
        -------
        array of shape (3, 3)

        Examples
        --------
        >>> frame = AlignedFrame(11, 11)
        >>> turns = frame.to_matrix("euclidean", [[-1.0, 0.0, 0.0], [3.0, 2.0, 0.0]])
        >>> rest = inverse(frame.mean("euclidean", turns)) @ turns
        >>> np.abs(frame.to_parameters("euclidean", rest).sum(axis=0)).round(9)
        array([0., 0., 0.])
        """
        members = np.asarray(matrices, dtype=np.float64)
        mean = np.eye(3)
        for _ in range(_ROUNDS):
            step = self.to_parameters(family, inverse(mean) @ members).mean(axis=0)
            mean = normalized(mean @ self.to_matrix(family, step))
            if np.abs(step).max(initial=0.0) < 1e-12 * self.unit:
                break
        return mean


def _places(points: Matrix) -> Matrix:
    return points[..., :2, :] / points[..., 2:, :]


def normalized(matrices: Matrix) -> Matrix:
    """The same maps, with 1 as the last entry of their matrices."""
    return matrices / matrices[..., 2:, 2:]


def compose(*matrices: ArrayLike) -> Matrix:
    """The map that applies the last matrix first.

    Parameters
    ----------
    *matrices : array of shape (..., 3, 3)
        Maps of points.
    """
    product = np.eye(3)
    for matrix in matrices:
        product = product @ np.asarray(matrix, dtype=np.float64)
    return normalized(product)


def inverse(matrices: ArrayLike) -> Matrix:
    """The map back.

    Parameters
    ----------
    matrices : array of shape (..., 3, 3)
        Maps of points.
    """
    return normalized(np.linalg.inv(np.asarray(matrices, dtype=np.float64)))


def exponential(matrices: Matrix) -> Matrix:
    """The exponential of each matrix, by its series for a part of it that is small, and squaring."""
    halvings = max(0, int(np.ceil(np.log2(max(float(np.abs(matrices).max(initial=0.0)), 1e-9)))) + 3)
    small = matrices / 2.0**halvings
    total = power = np.broadcast_to(np.eye(3), small.shape)
    for order in range(1, 14):
        power = power @ small / order
        total = total + power
    for _ in range(halvings):
        total = total @ total
    return total


def logarithm(matrices: Matrix) -> Matrix:
    """The logarithm of each matrix A / det(A)^(1/3), of eigenvalues not far from 1.

    2 (Z + Z^3/3 + Z^5/5 + ...) with Z = (A - I)(A + I)^-1.
    """
    A = matrices / np.cbrt(np.linalg.det(matrices))[..., None, None]
    Z = (A - np.eye(3)) @ np.linalg.inv(A + np.eye(3))
    total, power, square = np.zeros_like(Z), Z, Z @ Z
    for order in range(1, 2 * _TERMS, 2):
        total = total + power / order
        power = power @ square
    return 2 * total
