"""How large the entries of a column are, whatever stands out in it."""

import numpy as np

from ..._types import Array
from ..penalties import NORMAL_MAD


def column_scales(X: Array) -> Array:
    """A scale for each column: 1.4826 times the median distance from its median.

    Where more than half of a column is one value, the standard deviation; where it is constant or missing, 1.

    Parameters
    ----------
    X : array of shape (n, m)
        Data; NaN means missing.

    Examples
    --------
    >>> X = np.column_stack([np.arange(5.0), [0, 0, 0, 0, 10.0], np.full(5, 7.0), np.full(5, np.nan)])
    >>> column_scales(X).round(2).tolist()
    [1.48, 4.0, 1.0, 1.0]
    """
    known = np.where(np.isnan(X).all(axis=0), X.dtype.type(0), X)
    scale = NORMAL_MAD * np.nanmedian(np.abs(known - np.nanmedian(known, axis=0)), axis=0)
    scale = np.where(scale > 0, scale, np.nanstd(known, axis=0))
    return np.where(scale > 0, scale, 1).astype(X.dtype)
