"""`decompose`: one matrix into a low-rank part and sparse outliers, with a certificate."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..._frames import is_frame
from ..._threads import suited_to
from ..._types import Array
from ..._validation import (
    as_floats,
    check_choice,
    check_count,
    check_mask,
    check_matrix,
    check_optional_count,
    check_positive,
    generator,
    given_penalties,
    warn_of_rounding,
)
from ..cells.columns import column_scales
from ..iterate import Callback
from ..linalg.units import Units
from ..penalties import Penalties, penalty_limits
from .parts import Decomposition, in_units, without_bias
from .problem import ITERATES, Problem


def decompose(
    X: ArrayLike,
    *,
    n_components: int | None = None,
    rank_penalty: float | str = "auto",
    outlier_penalty: ArrayLike | str = "auto",
    solver: str = "proximal",
    eps: float = 0.0,
    mask: ArrayLike | None = None,
    scale: str | None = None,
    debias: bool = False,
    tol: float = 1e-4,
    max_iter: int = 500,
    callback: Callback | None = None,
    random_state: Any = None,
) -> Decomposition:
    r"""Split a matrix into a low-rank part and sparse outliers.

    Solvers "proximal" and "alternating" minimise (2), the latter in its factored form (4) with at most
    ``n_components`` atoms; "pcp" minimises (1)::

        (2)  1/2 ||X - L - O||_F^2 + rank_penalty ||L||_* + outlier_penalty ||O||_1
        (1)  ||L||_* + outlier_penalty ||O||_1   subject to   ||X - L - O||_F <= eps

    Data are not centred: a mean is one more component. Scaling X by c > 0 scales both parts by c.

    Parameters
    ----------
    X : array or DataFrame of shape (n_samples, n_features)
        Data; NaN means missing. float32 stays float32, integers and booleans become float64.
    n_components : int, optional
        At most so many components; None for as many as the data ask for. Not for "pcp".
    rank_penalty : float or "auto"
        Larger: lower rank. "auto" is the spectral norm of the noise that the outlier penalty leaves, about
        sigma (sqrt m + sqrt n) with sigma the noise level found in the data.
    outlier_penalty : float, array of shape (n_features,), or "auto"
        Larger: fewer outliers. "auto" is 2 sigma where what a first fit leaves looks like noise, as in most tables, and
        ``rank_penalty / sqrt(max(m, n))`` where it has a structure, as in films, or where the rank penalty is given;
        see `unmingle.core.penalties.from_residual`. For "pcp", where the symbol means this over the rank penalty,
        1 / sqrt(max(m, n)).
    solver : {"proximal", "alternating", "pcp"}
        "proximal" for a certified answer of (2), "alternating" for a given number of components, "pcp" for clean data.
    eps : float
        Frobenius norm of the noise that "pcp" allows for.
    mask : boolean array of shape (n_samples, n_features), optional
        True where an entry is observed.
    scale : "columns", optional
        Divide each column by a robust scale of its own first, for columns in different units; parts come back in the
        units of X. Penalties, objective and gap are those of the problem with columns so divided.
    debias : bool
        Fit the low-rank part anew without penalties, which shrink it, leaving out the cells that stand out; see
        `Decomposition`.
    tol : float
        Stop at this relative duality gap, or stationarity residual of (4) if all ``n_components`` are in use. "pcp"
        also wants L + O to be near X: within this, and a hundredth of it where the rank is low. float32 stops at 1e-4
        at the least.
    max_iter : int
        Stop after so many iterations, with a ConvergenceWarning.
    callback : callable, optional
        Called with an `unmingle.core.iterate.Progress` after each iteration; a true answer stops.
    random_state : int, Generator or None
        Starts the partial SVD; the same seed gives the same numbers, and None is the seed 0.

    Returns
    -------
    Decomposition
        ``low_rank``, ``outliers``, ``residual``, ``codes``, ``components``, ``objective``, ``gap``, ...

    Examples
    --------
    >>> import numpy as np, unmingle
    >>> rng = np.random.default_rng(0)
    >>> X = np.outer(rng.standard_normal(60), rng.standard_normal(40)) + 0.01 * rng.standard_normal((60, 40))
    >>> X[3, 7] += 5
    >>> part = unmingle.decompose(X, random_state=0)
    >>> part.rank, bool(part.gap <= 1e-4), int(np.argmax(np.abs(part.outliers)))  # 3 * 40 + 7
    (1, True, 127)
    """
    data = check_matrix(X) if mask is None else check_matrix(_masked(X, mask))
    warn_of_rounding(data)
    solved = solve(
        data,
        n_components=n_components,
        rank_penalty=rank_penalty,
        outlier_penalty=outlier_penalty,
        solver=solver,
        eps=eps,
        scale=scale,
        debias=debias,
        tol=tol,
        max_iter=max_iter,
        callback=callback,
        random_state=random_state,
    )
    return replace(solved, _frame=X) if is_frame(X) else solved


def solve(
    data: Array,
    *,
    n_components: int | None = None,
    rank_penalty: float | str = "auto",
    outlier_penalty: ArrayLike | str = "auto",
    solver: str = "proximal",
    eps: float = 0.0,
    scale: str | None = None,
    debias: bool = False,
    tol: float = 1e-4,
    max_iter: int = 500,
    callback: Callback | None = None,
    random_state: Any = None,
) -> Decomposition:
    """`decompose` a matrix that was checked, without a word on what it holds."""
    choice = check_choice(solver, "solver", (*ITERATES, "pcp"))
    tol, max_iter = check_positive(tol, "tol"), check_count(max_iter, "max_iter")
    eps = check_positive(eps, "eps", zero=True)
    if eps and choice != "pcp":
        raise ValueError(f"eps belongs to solver='pcp', got eps={eps} with solver={choice!r}.")
    if choice == "pcp" and rank_penalty != "auto":
        raise ValueError("rank_penalty does not go with solver='pcp': the problem (1) has none.")
    n_components = check_optional_count(n_components, "n_components")
    if choice == "pcp" and n_components is not None:
        raise ValueError("n_components does not go with solver='pcp', which finds the rank; use 'alternating'.")
    if scale is not None:
        check_choice(scale, "scale", ("columns",))
        scales = column_scales(data)
        given, data = data, data / scales
    problem = Problem(data, n_components, tol, max_iter, callback, generator(random_state))
    penalties = given_penalties(rank_penalty, outlier_penalty, data.shape[1])
    with suited_to(data.size):
        solved = problem.pursue(penalties[1], eps) if choice == "pcp" else problem.minimise(penalties, choice)
    if scale is not None:
        solved = in_units(solved, given, scales)
    return without_bias(solved) if debias else solved


def penalty_max(X: ArrayLike) -> Penalties:
    """Penalties of (2) from which on, taken together, the answer is all zero.

    These are ``||X||_2`` and ``max |x_ij|``: the scale on which to choose both.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Data; NaN means missing.

    Returns
    -------
    Penalties
        ``rank_penalty`` and ``outlier_penalty``.

    Examples
    --------
    >>> import numpy as np, unmingle
    >>> unmingle.penalty_max(np.diag([3.0, 4.0])).outlier_penalty
    4.0
    """
    data = check_matrix(X)
    units = Units.of(data)
    with suited_to(data.size):
        limits = penalty_limits(units.to_units(data))
    return Penalties(*map(units.from_units, limits))


def _masked(X: ArrayLike, mask: ArrayLike) -> Array:
    """X with NaN wherever the mask is False, whatever was there."""
    data = as_floats(X)
    return np.where(check_mask(mask, data.shape), data, data.dtype.type(np.nan))
