"""`LearnedRobustNMF`: a trained encoder of nonnegative data."""

from typing import Any, ClassVar

import numpy as np

from .._types import Array
from .._validation import check_choice, check_optional_count, given_penalties
from ..core.encoder.encoder import STRUCTURES
from ..core.iterate import run
from ..core.linalg.units import Units
from ..core.objective import nonnegative_stationarity
from ..core.online.start import robust_start
from ..core.solvers.nmf import Factors, nmf_iterates
from .distributed_protocol import PassRequest
from .learned import LearnedRobustPCA, ProjectionProblem

_SOLVED = 1e-3
"""Stationarity of the dictionary that training starts from."""
_SWEEPS = 500
"""Sweeps at most."""
_EVERY = 10
"""Stationarity is measured once in this number of sweeps."""


class LearnedRobustNMF(LearnedRobustPCA):
    r"""Robust nonnegative factors with an encoder that was trained: parts and outliers found in a fixed, short time.

    As `LearnedRobustPCA`, with components U, codes s and outliers o that are not negative: for spectrograms, counts and
    images. ``fit`` first factorises the data (4), then trains a network whose layers have the form of a projected
    gradient step for the robust projection (5)::

        c <- max(0, G c + H' (x - o)),   d = A c,   o <- max(x - d - t, 0);     in the end s = max(0, G c + H (x - o))

    4 m q + 2 q^2 flops for each sample and layer. Untrained, with G = I - (U'U + lam_* I) / Lip and H' = H = U' / Lip,
    it is that method, cut off. Factorisation is not convex: the components are one of several answers, are never
    rotated, and are not certified; ``sample_gap`` of `decompose` tells how good codes and outliers are for them.

    Layers with numbers of their own, ``tied=False``, come much nearer to the exact answer here than tied ones. Where a
    penalty is "auto" or ``n_components`` is None, a robust PCA of the data tells. Negative data are refused.

    All parameters, attributes and methods are those of `LearnedRobustPCA`; ``structure="full"`` is not possible.

    See Also
    --------
    unmingle.LearnedRobustPCA : for data of any sign.

    Examples
    --------
    >>> import numpy as np, unmingle
    >>> rng = np.random.default_rng(0)
    >>> X = rng.exponential(size=(400, 2)) @ rng.exponential(size=(2, 30))
    >>> X[rng.random(X.shape) < 0.05] += 20.0
    >>> training = unmingle.learn.Training(max_steps=100)
    >>> model = unmingle.LearnedRobustNMF(2, n_layers=3, tied=False, training=training, random_state=0).fit(X[:300])
    >>> part = model.decompose(X[300:])
    >>> bool(min(model.components_.min(), part.codes.min(), part.outliers.min()) >= 0)
    True
    """

    nonnegative: ClassVar = True

    def begin_passes(self, rows: Any) -> PassRequest:
        """Refuse: passes over all rows find dictionaries of any sign."""
        raise ValueError(
            "distributed.fit finds no nonnegative dictionary for LearnedRobustNMF yet; call fit on some rows."
        )

    def _solve(self, X: Array, seed: int) -> ProjectionProblem:
        """The dictionary of (4) with signs, and the penalties."""
        if check_choice(self.structure, "structure", STRUCTURES) == "full":
            raise ValueError("structure='full' has no inner code that could be nonnegative; use 'low_rank'.")
        q = check_optional_count(self.n_components, "n_components")
        lam_star, lam = given_penalties(self.rank_penalty, self.outlier_penalty, X.shape[1])
        if q is None or lam_star is None or lam is None:
            part = robust_start(X, q, lam_star, lam, tol=_SOLVED, random_state=seed)
            lam_star, lam = part.rank_penalty, part.outlier_penalty
            q = len(part.components) if q is None else q
        return ProjectionProblem(_factorised(X, min(q, *X.shape), lam_star, lam, seed), lam_star, lam)


def _factorised(X: Array, n_components: int, lam_star: float, lam: Any, seed: int) -> Array:
    """Components of (4) with signs, in units in which the largest entry is about one while they are sought."""
    units = Units.of(X)
    scaled, penalty = units.to_units(X), units.to_units(lam_star)
    limits = np.broadcast_to(units.to_units(np.asarray(lam)), X.shape[1:]).astype(X.dtype)
    sweeps_done = iter(range(_SWEEPS))

    def measure(found: Factors) -> float:
        if next(sweeps_done) % _EVERY:
            return np.nan
        return nonnegative_stationarity(scaled, found.components, found.codes, penalty, limits)

    if not n_components:
        return np.zeros((0, X.shape[1]), X.dtype)
    sweeps = nmf_iterates(scaled, penalty, limits, n_components=n_components, rng=np.random.default_rng(seed))
    components = run(sweeps, measure, tol=_SOLVED, max_iter=_SWEEPS).state.components
    return units.factors_from_units(components[np.any(components > 0, axis=1)])
