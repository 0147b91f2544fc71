"""Arrays that compiled loops write to."""

from math import prod

import numpy as np
from numpy.typing import DTypeLike

from ..._types import Array

_ROOM = 512
"""Bytes between two arrays: more than the longest vectors hold that a compiled loop takes at once, four of 64."""


def empty_unaliased(shape: tuple[int, ...], dtype: DTypeLike) -> Array:
    """An array to be written by a compiled loop that also adds up, whose rows start far behind all others.

    Where a row that is written starts a few numbers behind one that is read, such a loop does not dare to take many
    numbers at once. It adds up in another order then: the last digit would depend on where memory was free. Long rows
    are apart by themselves.
    """
    dtype = np.dtype(dtype)
    if shape[-1] * dtype.itemsize >= _ROOM:
        return np.empty(shape, dtype)
    return np.ndarray(shape, dtype, np.empty(_ROOM + prod(shape) * dtype.itemsize, np.uint8).data, _ROOM)
