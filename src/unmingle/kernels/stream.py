"""What learning from a stream takes from each sample."""

import numpy as np

from .compile import announced, compiled

_BLOCK = 32
"""Rows that stay in the cache while they are worked on."""


@announced
@compiled
def cleaning_pass(X, codes, components, bound, below, limit, cleaned, beyond):
    """Samples freed of what leaves the model, and how often each feature left it.

    With r = x - Us::

        cleaned = Us + clip(r, -below, bound)
        beyond  = for each feature, the number of samples with r > limit or -r > max(limit, below)

    ``below`` is the bound for outliers of any sign, and infinite where they are nonnegative. A missing entry is imputed
    by Us and never beyond. Cost: 2 m q flops per row.
    """
    n, m = X.shape
    low_rank = np.empty((_BLOCK, m), X.dtype)
    beyond[:] = 0
    for i in range(0, n, _BLOCK):
        j = min(i + _BLOCK, n)
        np.dot(codes[i:j], components, low_rank[: j - i])
        for a in range(j - i):
            x, d, c = X[i + a], low_rank[a], cleaned[i + a]
            for b in range(m):
                r = x[b] - d[b]
                r = X.dtype.type(0) if r != r else r
                beyond[b] += (r > limit[b]) | (-r > max(limit[b], below[b]))
                r = r if r > -below[b] else -below[b]
                c[b] = d[b] + (r if r < bound[b] else bound[b])
