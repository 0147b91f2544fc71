"""Learning nonnegative components from sums: the step, the scale of atoms, and how far the problem is from solved."""

import numpy as np

from ..._types import Array
from ..solvers.nonnegative import nonnegative_components
from .statistics import Balanced, Statistics


def nonnegative_step(statistics: Statistics, components: Array, lam_star: float, passes: int = 4) -> Array:
    """Minimise over one nonnegative atom after the other, from the last dictionary.

    See `core.solvers.nonnegative.nonnegative_components`::

        u_k <- max(0, (b_k - sum_{i != k} a_ki u_i) / (a_kk + lam_*))

    Nonnegative atoms have much in common, A is far from diagonal: hence more than one pass. Cost of a pass: 2 m q^2
    flops.

    Returns
    -------
    array of shape (q, m)
    """
    return nonnegative_components(statistics.A, statistics.B, components, lam_star, rounds=passes)


def nonnegative_misfit(statistics: Statistics, components: Array, lam_star: float) -> float:
    """How far (4) is from stationary in U >= 0, relative to the regulariser, from the sums alone.

    ||c (U - max(U - g / c, 0))|| / ||lam_* (S, U)|| with the gradient g = (A + lam_*) U' - B and, for atom k, the
    curvature c = a_kk + lam_*: `objective.nonnegative_stationarity` for codes that solve (5), whose share is 0.
    """
    wide = components.astype(np.float64)
    slope = statistics.system(lam_star) @ wide - statistics.B
    curvature = statistics.A.diagonal() + lam_star
    size = lam_star * np.sqrt(np.trace(statistics.A) + np.sum(wide**2))
    return float(np.linalg.norm(np.minimum(curvature[:, None] * wide, slope)) / size) if size > 0 else 0.0


def scale_atoms(statistics: Statistics, components: Array) -> Balanced:
    """The factors of L = S U' with ||u_k|| = ||s_k||, the largest first, which cost least of all scales.

    ::

        S <- S diag(sqrt(||u_k|| / ||s_k||)),   u_k <- u_k sqrt(||s_k|| / ||u_k||)

    What `balance` is for factors of any sign: it would rotate them. Atoms that are zero in one factor are left out.
    Cost: 2 m q^2 flops.
    """
    wide = components.astype(np.float64, copy=False)
    high, long = np.sqrt(np.maximum(statistics.A.diagonal(), 0.0)), np.linalg.norm(wide, axis=1)
    sizes = high * long
    order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes > 0)]
    factors = np.sqrt(long[order] / high[order])
    change = np.zeros((len(wide), len(order)))
    change[order, np.arange(len(order))] = factors
    scaled = (wide[order] / factors[:, None]).astype(components.dtype)
    return Balanced(statistics.in_coordinates(change), scaled, sizes[order], change)


def nonnegative_direction(rest: Array, direction: Array) -> tuple[Array, float]:
    """The part of a direction, of one sign, that explains more of some samples by codes >= 0, and how much: ||s||."""
    found = []
    for part in (np.maximum(direction, 0), np.maximum(-direction, 0)):
        length = float(np.linalg.norm(part))
        unit = part / part.dtype.type(length or 1.0)
        found.append((unit, float(np.linalg.norm(np.maximum(rest @ unit, 0)))))
    return max(found, key=lambda one: one[1])
