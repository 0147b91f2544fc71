"""Where nonnegative factorisation starts from."""

import numpy as np

from ..._types import Array
from ..linalg.thresholding import WarmSubspace

_USUAL = 5.0
"""Entries beyond so many times the median of their feature are cut for the start: they may be outliers."""
_ROWS = 1000
"""Rows, spread over the data, that this median is taken of."""


def starting_components(X: Array, n_components: int, init: str | Array, rng: np.random.Generator) -> Array:
    """First components (q, m), nonnegative, of the scale that ||u_k|| = ||s_k|| asks for.

    "random" is uniform; "nndsvd" takes from each singular triplet of the data, cut at what is usual for each feature,
    the nonnegative parts of its vectors that weigh more, and chance where there is no such.
    """
    if not isinstance(init, str):
        return np.ascontiguousarray(init, X.dtype)
    (n, m), q = X.shape, n_components
    known = np.nan_to_num(X, nan=0.0)
    limits = _limits(X)
    np.clip(known, 0, limits, out=known)
    size = np.sqrt(4 * float(np.mean(known, dtype=np.float64)) / q) * (n / m) ** 0.25
    components = (size * rng.random((q, m))).astype(X.dtype)
    if init == "random":
        return components
    subspace = WarmSubspace(known, min(q, n, m), 8, rng)
    low_rank = subspace.threshold(known, known @ subspace.basis, 0.0, degree=2, at_most=min(q, n, m))
    for k, (left, value, right) in enumerate(zip(low_rank.left.T, low_rank.values, low_rank.right, strict=True)):
        weight, part = max(_part(left, right), _part(-left, -right), key=lambda found: found[0])
        if weight > 0:
            components[k] = part * X.dtype.type(np.sqrt(value * weight))
    return components


def _part(left: Array, right: Array) -> tuple[float, Array]:
    """The positive part of a right singular vector, of length one, and what it weighs beside that of the left one."""
    part = np.maximum(right, 0)
    length = float(np.linalg.norm(part))
    return length * float(np.linalg.norm(np.maximum(left, 0))), part / part.dtype.type(length or 1.0)


def _limits(X: Array) -> Array:
    """What is usual for each feature: a few times the median of its positive entries."""
    some = X[:: -(-len(X) // _ROWS)]
    positive = np.where(some > 0, some, np.nan)
    empty = np.isnan(positive).all(axis=0)
    positive[:, empty] = 0
    return (_USUAL * np.nanmedian(positive, axis=0)).astype(X.dtype)
