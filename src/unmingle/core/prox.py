"""Proximal maps and the loss they leave behind, written so that NumPy, torch and Dask arrays can run them.

With ``clip(x, -t, t)`` as the one primitive:

- ``soft(x, t) = x - clip(x, -t, t)`` is the proximal map of ``t |x|``;
- ``huber_t(x) = min over o of 1/2 (x - o)^2 + t |o|`` is reached at ``o = soft(x, t)``.
"""

from typing import Any

__all__ = ["huber", "soft_threshold"]


def soft_threshold(x: Any, threshold: Any) -> Any:
    """Shrink every entry towards zero: ``x - clip(x, -threshold, threshold)``.

    Parameters
    ----------
    x : array
        A NumPy, torch or Dask array.
    threshold : float or array
        What is taken off, at least 0; broadcast against ``x``.

    Returns
    -------
    array
        Of the kind and shape of ``x``.

    Examples
    --------
    >>> import numpy as np
    >>> soft_threshold(np.array([-3.0, 0.5, 2.0]), 1.0).tolist()
    [-2.0, 0.0, 1.0]
    """
    return x - x.clip(-threshold, threshold)


def huber(x: Any, threshold: Any) -> Any:
    """Huber's loss, ``r (x - r/2)`` with ``r = clip(x, -threshold, threshold)``.

    Quadratic within the threshold, linear beyond; its derivative is ``r``.

    Parameters
    ----------
    x : array
        A NumPy, torch or Dask array.
    threshold : float or array
        Where the loss turns linear, at least 0; broadcast against ``x``.

    Returns
    -------
    array
        Of the kind and shape of ``x``.

    Examples
    --------
    >>> import numpy as np
    >>> huber(np.array([-3.0, 0.5]), 1.0).tolist()
    [2.5, 0.125]
    """
    r = x.clip(-threshold, threshold)
    return r * (x - r / 2)
