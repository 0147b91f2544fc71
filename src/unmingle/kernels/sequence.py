"""Networks that carry their code from sample to sample: one sample after the other, each layer a few products."""

from typing import Any

import numpy as np

from .._threads import limit_blas_threads
from .._types import Array
from .compile import announced, compiled
from .small import read_only


def carry_codes(X: Array, cell: Any, state: Array, codes: Array) -> None:
    """Codes of the samples of a sequence, as `unmingle.core.encoder.sequence.carry` finds them one by one.

    Cost: 4 m q + 2 q^2 flops for each sample and layer. Whether samples come together or apart changes no bit.
    """
    if X.size:
        m, q = X.shape[1], codes.shape[1]
        with limit_blas_threads(m * q, 1):
            _carry_codes(X, *map(read_only, (*cell, state)), codes, np.empty(m, X.dtype), np.empty((2, q), X.dtype))


@announced
@compiled
def _carry_codes(X, decoder, encoder, threshold, feedback, bias, state, codes, d, sums):
    """C <- max(0, F c + E min(x, D c + t) + b) in each layer, from the code of the sample before."""
    n, m = X.shape
    q = codes.shape[1]
    depth = threshold.shape[0]
    nothing = X.dtype.type(0)
    for i in range(n):
        x, code = X[i], codes[i]
        for a in range(q):
            code[a] = state[a] if i == 0 else codes[i - 1, a]
        for k in range(depth):
            np.dot(code, decoder[k], d)
            t, b, old, new = threshold[k], bias[k], sums[0], sums[1]
            for j in range(m):
                most = d[j] + t[j]
                d[j] = x[j] if x[j] < most else most
            np.dot(code, feedback[k], old)
            np.dot(encoder[k], d, new)
            for a in range(q):
                total = old[a] + new[a] + b[a]
                code[a] = total if total > nothing else nothing
