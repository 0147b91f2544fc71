"""Learning from sums: statistics of encoded samples, and the dictionary that is best for them.

Samples x_j with codes s_j and outliers o_j enter through two sums, whose size does not depend on their number::

    A = sum_j w_j s_j s_j'          (q, q)
    B = sum_j w_j s_j (x_j - o_j)'  (q, m)

The dictionary that minimises (4) for them solves (A + lam_* I) U' = B, equation (9). Sums add up: over time, with the
past fading by ``forgetting`` at every sample, and over machines.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..._types import Array, BoolArray, Float64Array
from ..linalg.systems import solve_positive
from ..linalg.units import Units

Matrix = Float64Array

_LOST = 1e-9
"""Directions below this share of the strongest are rounding."""
_LOST_IN_SQUARES = 1e-13
"""So are squares below this share of the largest: their sums carry an error of a few hundred times 1e-16 of it."""


class Statistics(NamedTuple):
    """Sums over samples in the order of their arrival, the last one with weight 1.

    Examples
    --------
    Blocks may be summed up in any grouping, as long as they keep their order:

    >>> codes, cleaned = np.array([[1.0], [2.0], [3.0]]), np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 1.0]])
    >>> first, second = (Statistics.of(codes[i], cleaned[i], forgetting=0.5) for i in (slice(2), slice(2, 3)))
    >>> first.merge(second).A, Statistics.of(codes, cleaned, forgetting=0.5).A
    (array([[11.25]]), array([[11.25]]))
    """

    A: Matrix
    """(q, q): sum of w s s'."""
    B: Array
    """(q, m): sum of w s (x - o)'."""
    weight: float
    """Sum of the weights: the effective number of samples."""
    decay: float
    """What the weight of everything earlier is multiplied by: the product of the forgetting of all samples."""

    @classmethod
    def empty(cls, q: int, m: int) -> "Statistics":
        """Sums over no samples: the neutral element of `merge`."""
        return cls(np.zeros((q, q)), np.zeros((q, m)), 0.0, 1.0)

    @classmethod
    def of(cls, codes: Array, cleaned: Array, forgetting: ArrayLike = 1.0) -> "Statistics":
        """Sums over a block of samples. Cost: 2 n m q flops.

        Parameters
        ----------
        codes : array of shape (n, q)
            s of each sample.
        cleaned : array of shape (n, m)
            x - o of each sample, and its imputation where x is missing.
        forgetting : float or array of shape (n,)
            What each sample multiplies the weight of all earlier ones by.
        """
        fading = np.broadcast_to(np.asarray(forgetting, dtype=np.float64), len(codes))
        products = np.cumprod(fading[::-1])
        weights = np.concatenate([products[-2::-1], [1.0]]) if len(codes) else np.zeros(0)
        wide = codes.astype(np.float64)
        weighted = wide * weights[:, None]
        decay = float(products[-1]) if len(codes) else 1.0
        return cls(weighted.T @ wide, weighted.astype(cleaned.dtype).T @ cleaned, float(weights.sum()), decay)

    def update(self, codes: Array, cleaned: Array, forgetting: ArrayLike = 1.0) -> "Statistics":
        """Sums with a block of later samples added."""
        return self.merge(Statistics.of(codes, cleaned, forgetting))

    def merge(self, later: "Statistics") -> "Statistics":
        """Sums over both, where all samples of ``later`` came after: A = decay_2 A_1 + A_2. Associative."""
        faded = self.forget(later.decay)
        return Statistics(faded.A + later.A, faded.B + later.B, faded.weight + later.weight, faded.decay)

    def forget(self, factor: float) -> "Statistics":
        """Sums in which all weights are multiplied by a factor."""
        return Statistics(factor * self.A, factor * self.B, factor * self.weight, factor * self.decay)

    def in_coordinates(self, change: Matrix) -> "Statistics":
        """Sums for the codes ``s @ change`` instead of s."""
        return self._replace(A=change.T @ self.A @ change, B=change.T @ self.B)

    def select(self, kept: BoolArray) -> "Statistics":
        """Sums for some of the codes."""
        return self._replace(A=self.A[np.ix_(kept, kept)], B=self.B[kept])

    def to_units(self, units: Units) -> "Statistics":
        """Sums of codes and samples measured in other units."""
        return self._replace(A=units.to_units(self.A), B=units.factors_to_units(units.to_units(self.B)))

    def system(self, lam_star: float) -> Matrix:
        """A + lam_* I, the matrix of (9)."""
        return self.A + lam_star * np.eye(len(self.A))

    def stationarity(self, components: Array, lam_star: float) -> float:
        """How far (4) is from stationary in U, relative to the regulariser: ||B - (A + lam_*) U'|| / ||lam_* (S, U)||.

        With codes that solve (5) for U, (4) is stationary in all variables where this is 0.
        """
        slope = np.linalg.norm(self.B - self.system(lam_star) @ components)
        size = lam_star * np.sqrt(np.trace(self.A) + np.sum(components.astype(np.float64) ** 2))
        return float(slope / size) if size > 0 else 0.0


def direct_step(statistics: Statistics, lam_star: float) -> Array:
    """The dictionary of (9): solve (A + lam_* I) U' = B. Cost: 2 m q^2 flops.

    Returns
    -------
    array of shape (q, m)
    """
    return solve_positive(statistics.system(lam_star), statistics.B)


def block_coordinate_step(statistics: Statistics, components: Array, lam_star: float, passes: int = 1) -> Array:
    """Minimise over one atom after the other, starting from the last dictionary.

    ::

        u_k <- (b_k - sum_{i != k} a_ki u_i) / (a_kk + lam_*)

    Repeated passes converge to the dictionary of (9); where A is nearly diagonal, as after `balance`, the first is
    close to it. Cost of a pass: 2 m q^2 flops.

    Returns
    -------
    array of shape (q, m)
    """
    A, B = statistics.A, statistics.B
    components = components.astype(B.dtype)
    for _ in range(passes):
        for k in range(len(A)):
            others = A[k].copy()
            others[k] = 0.0
            components[k] = (B[k] - others @ components) / (A[k, k] + lam_star)
    return components


def recursive_step(
    before: Statistics, block: Statistics, components: Array, lam_star: float, last_lam_star: float | None = None
) -> Array:
    """Recursive least squares: correct U by what a block of samples says that is new. It needs no sum B of the past.

    If U solved (9) for the statistics ``before``, then for M = decay A + A_block + lam_* I ::

        U' <- U' + M^-1 (B_block - A_block U' - (lam_* - decay lam_*,before) U')

    solves it for ``before.merge(block)``. The last term puts back what the regulariser lost by fading, so that it keeps
    its full weight for ever. Cost: 4 m q^2 flops.

    Parameters
    ----------
    before, block : Statistics
        Of the past, where B is not used, and of the block.
    components : array of shape (q, m)
        The dictionary for the past.
    lam_star : float
        The rank penalty now.
    last_lam_star : float, optional
        The rank penalty for which ``components`` was found, if it was another.

    Returns
    -------
    array of shape (q, m)
    """
    past = lam_star if last_lam_star is None else last_lam_star
    system = block.decay * before.A + block.A
    system[np.diag_indices_from(system)] += lam_star
    pull = block.A.copy()
    pull[np.diag_indices_from(pull)] += lam_star - block.decay * past
    news = block.B - pull @ components
    return components + solve_positive(system, news)


class Balanced(NamedTuple):
    """Factors of equal weight for the same low-rank part."""

    statistics: Statistics
    components: Array
    """(r, m): orthogonal, of falling norm, the largest entry of each positive."""
    singular_values: Matrix
    """Of the low-rank part of the weighted samples."""
    change: Matrix
    """(q, r): codes s become ``s @ change``."""


def balance(statistics: Statistics, components: Array) -> Balanced:
    """The factors of L = S U' that attain the minimum in (3), S'S = U'U = diag(singular values), from the sums alone.

    (4) sees L only through the least ||S||^2 + ||U||^2 of its factors. Alternation finds their balance but slowly; the
    singular value decomposition of L has it at once. With S'S = C'C = A and U = QR, that of the small C R' has all of
    it::

        C R' = V diag(sigma) W',   S <- S R' W / sqrt(sigma),   U' <- V' C U' / sqrt(sigma)

    Directions that vanished are left out. Cost: 6 m q^2 flops.
    """
    wide = components.astype(np.float64, copy=False)
    triangle = np.asarray(np.linalg.qr(wide.T, mode="r"))
    root = _root(statistics.A)
    left, values, right = np.linalg.svd(root @ triangle.T, full_matrices=False)
    present = values > _LOST * values.max(initial=0.0)
    values, halves = values[present], np.sqrt(values[present])
    turned = (left[:, present].T @ root / halves[:, None]) @ wide
    change = triangle.T @ right[present].T / halves
    sign = np.where(turned[np.arange(len(turned)), np.argmax(np.abs(turned), axis=1)] < 0, -1.0, 1.0)
    turned, change = sign[:, None] * turned, change * sign
    return Balanced(statistics.in_coordinates(change), turned.astype(components.dtype), values, change)


def _root(A: Matrix) -> Matrix:
    """C with C'C = A, without the directions of which a sum of squares says nothing; codes of any scales."""
    sizes = np.sqrt(np.maximum(A.diagonal(), 0.0))
    scale = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    squares, axes = np.linalg.eigh(scale[:, None] * A * scale)
    known = squares > _LOST_IN_SQUARES * squares.max(initial=0.0)
    return np.sqrt(squares[known])[:, None] * axes[:, known].T * sizes
