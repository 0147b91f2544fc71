"""Solver of the factored problem (4)."""

from collections.abc import Iterator

import numpy as np

from ..._types import Array
from ..linalg.low_rank import LowRank
from .sweeps import Sweep, sweeps


def alternating_iterates(
    X: Array,
    lam_star: float,
    lam: Array,
    *,
    n_components: int | None = None,
    rng: np.random.Generator,
    start: LowRank | None = None,
) -> Iterator[Sweep]:
    """Iterates of alternating minimisation on (4): outliers, then codes, then components.

    min 1/2 ||X - US - O||_F^2 + lam_*/2 (||U||_F^2 + ||S||_F^2) + lam ||O||_1 with at most q atoms. A sweep takes
    the outliers off, finds the best codes on the span of the components, then the best components on the span of those
    codes. On a span the best factors are known in closed form, (3): the singular values of the projected data, shrunk
    by lam_*. Atoms that fall below are dropped, so the rank is revealed from above; a few spare directions are carried
    along and take part as soon as the data ask for them. While not all q atoms are in use, a sweep alternates codes and
    components twice more, in the manner of Chebyshev, to tell the last atoms from noise.

    Cost of a sweep: 6 to 14 n m q flops. Memory: one copy of X.

    Parameters
    ----------
    X : array of shape (n, m)
        Data, NaN where missing.
    lam_star : float
        Rank penalty.
    lam : array of shape (m,)
        Outlier penalty of each feature, of the dtype of X.
    n_components : int, optional
        q; None for as many as the data ask for.
    rng : Generator
        Starts the first span.
    start : LowRank, optional
        A low-rank part not far from the answer.

    Yields
    ------
    Sweep
        `low_rank`, the last `step`, and whether the penalties have `settled`.
    """
    spare = 16 if n_components is None else 8
    return sweeps(X, lam_star, lam, at_most=n_components, degree=2, oversampling=spare, rng=rng, start=start)
