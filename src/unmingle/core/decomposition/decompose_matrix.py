"""`decompose` and `pursue`: one matrix into a low-rank part and sparse outliers, with a certificate."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..._frames import is_frame
from ..._threads import limit_blas_threads
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
from .problem import Problem
from .result import Decomposition, rescale_columns, without_bias


def decompose(
    X: ArrayLike,
    *,
    n_components: int | None = None,
    rank_penalty: float | str = "auto",
    outlier_penalty: ArrayLike | str = "auto",
    mask: ArrayLike | None = None,
    scale: str | None = None,
    debias: bool = False,
    tol: float = 1e-4,
    max_iter: int = 500,
    callback: Callback | None = None,
    random_state: Any = None,
) -> Decomposition:
    r"""Split a matrix into a low-rank part and sparse outliers.

    It minimises (2), or, where ``n_components`` is given, its factored form (4) with at most that many atoms::

        (2)  1/2 ||X - L - O||_F^2 + rank_penalty ||L||_* + outlier_penalty ||O||_1
        (4)  (2) with L = US, and (||U||_F^2 + ||S||_F^2) / 2 for ||L||_*

    Data are not centred: a mean is one more component. Scaling X by c > 0 scales both parts by c.

    Parameters
    ----------
    X : array or DataFrame of shape (n_samples, n_features)
        Data; NaN means missing. float32 stays float32, integers and booleans become float64.
    n_components : int, optional
        The largest number of components; None for as many as the data ask for. Problem (2) is convex, and its gap is
        certified by proximal steps. Problem (4) is solved by alternating between codes and components.
    rank_penalty : float or "auto"
        Larger: lower rank. "auto" is the spectral norm of the noise that the outlier penalty leaves, about
        sigma (sqrt m + sqrt n) with sigma the noise level found in the data.
    outlier_penalty : float, array of shape (n_features,), or "auto"
        Larger: fewer outliers. "auto" is 2 sigma where what a first fit leaves looks like noise, as in most tables, and
        ``rank_penalty / sqrt(max(m, n))`` where it has a structure, as in films, or where the rank penalty is given;
        see `unmingle.core.penalties.from_residual`.
    mask : boolean array of shape (n_samples, n_features), optional
        True where an entry is observed.
    scale : "columns", optional
        Divide each column by a robust scale of its own first, for columns in different units; parts come back in the
        units of X. Penalties, objective and gap are those of the problem with columns so divided.
    debias : bool
        Fit the low-rank part again without penalties, which shrink it, leaving out the cells that stand out; see
        `Decomposition`.
    tol : float
        Stop at this relative duality gap, or stationarity residual of (4) if all ``n_components`` are in use. float32
        stops at 1e-4 at the least.
    max_iter : int
        Stop after this many iterations, with a ConvergenceWarning.
    callback : callable, optional
        Called with an `unmingle.core.iterate.Progress` after each iteration; a true answer stops.
    random_state : int, Generator or None
        Starts the partial SVD; the same seed gives the same numbers, and None is the seed 0.

    Returns
    -------
    Decomposition
        ``low_rank``, ``outliers``, ``residual``, ``codes``, ``components``, ``objective``, ``gap``, ...

    See Also
    --------
    pursue : problem (1), for data that are low rank plus sparse, exactly or within a known noise.

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
    data = _checked(X, mask)
    warn_of_rounding(data)
    solved = solve(
        data,
        n_components=n_components,
        rank_penalty=rank_penalty,
        outlier_penalty=outlier_penalty,
        scale=scale,
        debias=debias,
        tol=tol,
        max_iter=max_iter,
        callback=callback,
        random_state=random_state,
    )
    return replace(solved, _frame=X) if is_frame(X) else solved


def pursue(
    X: ArrayLike,
    *,
    outlier_penalty: ArrayLike | str = "auto",
    eps: float = 0.0,
    mask: ArrayLike | None = None,
    scale: str | None = None,
    tol: float = 1e-4,
    max_iter: int = 500,
    callback: Callback | None = None,
    random_state: Any = None,
) -> Decomposition:
    """Split a matrix into exactly low-rank plus sparse parts: principal component pursuit, problem (1).

    It minimises::

        (1)  ||L||_* + outlier_penalty ||O||_1   subject to   ||X - L - O||_F <= eps

    For data without noise, or with noise of known size; for noise of unknown size take `decompose`. Data are not
    centred.

    Parameters
    ----------
    X : array or DataFrame of shape (n_samples, n_features)
        Data; NaN means missing. float32 stays float32, integers and booleans become float64.
    outlier_penalty : float, array of shape (n_features,), or "auto"
        Larger: fewer outliers, and a higher rank. "auto" is 1 / sqrt(max(m, n)). It has no unit: in terms of (2) it is
        the outlier penalty divided by the rank penalty.
    eps : float
        Frobenius norm of the noise; 0 for X = L + O.
    mask : boolean array of shape (n_samples, n_features), optional
        True where an entry is observed.
    scale : "columns", optional
        Divide each column by a robust scale of its own first; see `decompose`. ``eps`` is then that of the divided
        columns.
    tol : float
        Stop at this relative duality gap, with L + O as near to X: within this, and a hundredth of it where the rank
        is low. float32 stops at 1e-4 at the least.
    max_iter : int
        Stop after this many iterations, with a ConvergenceWarning.
    callback : callable, optional
        Called with an `unmingle.core.iterate.Progress` after each iteration; a true answer stops.
    random_state : int, Generator or None
        Starts the partial SVD; the same seed gives the same numbers, and None is the seed 0.

    Returns
    -------
    Decomposition
        ``low_rank``, ``outliers``, ``residual``, ``codes``, ``components``, ``objective``, ``gap``, ... Its
        ``rank_penalty`` is 1.

    Examples
    --------
    >>> import numpy as np, unmingle
    >>> rng = np.random.default_rng(0)
    >>> low_rank = np.outer(rng.standard_normal(60), rng.standard_normal(40))
    >>> part = unmingle.pursue(low_rank + np.where(rng.random((60, 40)) < 0.05, 5.0, 0.0))
    >>> part.rank, bool(np.abs(part.low_rank - low_rank).max() < 1e-3)
    (1, True)
    """
    data = _checked(X, mask)
    warn_of_rounding(data)
    tol, max_iter = check_positive(tol, "tol"), check_count(max_iter, "max_iter")
    eps = check_positive(eps, "eps", zero=True)
    divided, scales = _in_scales(data, scale)
    problem = Problem(divided, None, tol, max_iter, callback, generator(random_state))
    penalty = given_penalties("auto", outlier_penalty, data.shape[1])[1]
    with limit_blas_threads(data.size):
        solved = problem.pursue(penalty, eps)
    solved = solved if scales is None else rescale_columns(solved, data, scales)
    return replace(solved, _frame=X) if is_frame(X) else solved


def solve(
    data: Array,
    *,
    n_components: int | None = None,
    rank_penalty: float | str = "auto",
    outlier_penalty: ArrayLike | str = "auto",
    method: Literal["proximal", "alternating"] | None = None,
    scale: str | None = None,
    debias: bool = False,
    tol: float = 1e-4,
    max_iter: int = 500,
    callback: Callback | None = None,
    random_state: Any = None,
) -> Decomposition:
    """`decompose` a matrix that was checked, without a word on what it holds; models choose the method themselves.

    With ``method=None`` a given number of components is found by alternating, and (2) by proximal steps.
    """
    tol, max_iter = check_positive(tol, "tol"), check_count(max_iter, "max_iter")
    n_components = check_optional_count(n_components, "n_components")
    divided, scales = _in_scales(data, scale)
    problem = Problem(divided, n_components, tol, max_iter, callback, generator(random_state))
    penalties = given_penalties(rank_penalty, outlier_penalty, data.shape[1])
    with limit_blas_threads(data.size):
        solved = problem.minimise(penalties, method or ("proximal" if n_components is None else "alternating"))
    solved = solved if scales is None else rescale_columns(solved, data, scales)
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
    with limit_blas_threads(data.size):
        limits = penalty_limits(units.to_units(data))
    return Penalties(*map(units.from_units, limits))


def _checked(X: ArrayLike, mask: ArrayLike | None) -> Array:
    """X as floats, NaN wherever the mask is False, whatever was there."""
    if mask is None:
        return check_matrix(X)
    data = as_floats(X)
    return check_matrix(np.where(check_mask(mask, data.shape), data, data.dtype.type(np.nan)))


def _in_scales(data: Array, scale: str | None) -> tuple[Array, Array | None]:
    """Columns divided by scales of their own, and these scales; the data themselves and None where nobody asked."""
    if scale is None:
        return data, None
    check_choice(scale, "scale", ("columns",))
    scales = column_scales(data)
    return data / scales, scales
