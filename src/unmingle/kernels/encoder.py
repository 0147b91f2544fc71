"""Networks of fixed depth: every layer of an encoder for a block of samples, before the next block is touched.

With few atoms a pass over the features makes a layer: d, the threshold and the sums of the next code never leave the
registers, and two samples share each number that is read. With many atoms BLAS multiplies groups of rows.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from .._threads import limit_blas_threads
from .._types import Array
from .compile import announced, compiled, piece
from .small import add, add_both, copy_rows, fed_back, read, read_only, write

_FEW_ATOMS = 7
"""Up to this number of atoms their loop is unrolled. With more the compiler gives up on two samples at once, and BLAS
is as fast."""
_GROUP = 256
"""Rows that BLAS multiplies at once."""
_FEW_ROWS = 24
"""Fewer rows go one by one: BLAS is then faster with vectors than with such slim matrices."""


def encode_layers(
    X: Array,
    layers: Any,
    components: Array,
    n_layers: int,
    nonnegative_codes: bool,
    nonnegative_outliers: bool,
    init: Array | None,
    codes: Array,
    outliers: Array,
) -> None:
    """Codes s and outliers o of samples, as `unmingle.core.encoder.layers.propagate` finds them.

    From c = 0 and r = x, with r = d where x is missing::

        c <- G c + H' r,   d = A c,   r <- d + clip(x - d, -t, t)        in each layer
        s = G c + H r,   o = x - r                                       in the end

    With signed codes G = 0; c and s are cut at 0 where codes are nonnegative, and the clipping has no lower bound where
    outliers are. Cost: 4 m q flops for each sample and layer, 2 q^2 more where codes are nonnegative. Memory: that of
    the answer.
    """
    if not X.size:
        return
    decoder, encoder, threshold, feedback, readout, readout_feedback = layers
    q = len(components)
    zeros, no_codes = _constants(q, X.dtype)
    shared = (X, no_codes if init is None else init, components, decoder, encoder, threshold, readout)
    frozen = [part if not part.flags.writeable else read_only(part) for part in shared]
    below = X.dtype.type(np.inf if nonnegative_outliers else 0)
    gains = read_only(np.concatenate([feedback, readout_feedback[None]])) if nonnegative_codes else None
    if 0 < q <= _FEW_ATOMS and encoder.shape[1]:
        _encode_pairs(*frozen, gains, n_layers, below, codes, outliers, zeros)
    else:
        with limit_blas_threads(X.size, q):
            _encode_groups(*frozen, gains, n_layers, below, codes, outliers)


@lru_cache
def _constants(q: int, dtype: Any) -> tuple[tuple[Any, ...], Array]:
    """A zero for each atom, their number part of the type and so known to the compiler; and no codes at all."""
    return (dtype.type(0),) * q, read_only(np.empty((0, q), dtype))


@piece
def _clip(x, d, t, below):
    """What d leaves, e = x - d, 0 where x is missing, and clip(e, -t - below, t); on one side below is infinite."""
    e = x - d
    e = d - d if e != e else e
    low = -t - below
    clipped = e if e > low else low
    return e, (clipped if clipped < t else t)


@piece
def _images(code, other, atoms, j):
    """Feature j of A c for two codes."""
    atom = atoms[0, j]
    d, e = code[0] * atom, other[0] * atom
    for a in range(1, len(code)):
        atom = atoms[a, j]
        d += code[a] * atom
        e += other[a] * atom
    return d, e


@piece
def _product(x, rows, zeros):
    """H x, missing entries left out."""
    sums = zeros
    for j in range(x.size):
        known = x[j]
        known = zeros[0] if known != known else known
        sums = add(sums, rows, j, known)
    return sums


@piece
def _layer(x, code, atoms, rows, t, below, zeros, o):
    """H r of a sample, with d = A c and r = d + clip(x - d, -t, t); o = x - r unless o is None."""
    sums = zeros
    for j in range(x.size):
        d = code[0] * atoms[0, j]
        for a in range(1, len(code)):
            d += code[a] * atoms[a, j]
        e, clipped = _clip(x[j], d, t[j], below)
        sums = add(sums, rows, j, d + clipped)
        if o is not None:
            o[j] = e - clipped
    return sums


@piece
def _layer_of_two(x, y, code, other, atoms, rows, t, below, zeros, o, p):
    """The same for two samples."""
    sums, others = zeros, zeros
    for j in range(x.size):
        dx, dy = _images(code, other, atoms, j)
        ex, clipped_x = _clip(x[j], dx, t[j], below)
        ey, clipped_y = _clip(y[j], dy, t[j], below)
        sums, others = add_both(sums, others, rows, j, dx + clipped_x, dy + clipped_y)
        if o is not None:
            o[j] = ex - clipped_x
            p[j] = ey - clipped_y
    return sums, others


@piece
def _encode_one(x, code, atoms, decoder, encoder, t, readout, gains, n_layers, below, answer, zeros):
    """All layers of a sample, from the first code and with the first atoms."""
    codes, outliers = answer
    last = t.shape[0] - 1
    for k in range(n_layers - 1):
        following = min(k + 1, last)
        sums = _layer(x, code, atoms, encoder[following], t[min(k, last)], below, zeros, None)
        code = fed_back(sums, code, gains, following)
        atoms = decoder[following]
    sums = _layer(x, code, atoms, readout, t[last], below, zeros, outliers)
    write(fed_back(sums, code, gains, last + 1), codes)


@piece
def _encode_two(X, both, atoms, decoder, encoder, t, readout, gains, n_layers, below, answer, zeros):
    """The same for two samples."""
    x, y = X[0], X[1]
    code, other = both
    codes, outliers = answer
    last = t.shape[0] - 1
    for k in range(n_layers - 1):
        following = min(k + 1, last)
        rows = encoder[following]
        sums, others = _layer_of_two(x, y, code, other, atoms, rows, t[min(k, last)], below, zeros, None, None)
        code, other = fed_back(sums, code, gains, following), fed_back(others, other, gains, following)
        atoms = decoder[following]
    sums, others = _layer_of_two(x, y, code, other, atoms, readout, t[last], below, zeros, outliers[0], outliers[1])
    write(fed_back(sums, code, gains, last + 1), codes[0])
    write(fed_back(others, other, gains, last + 1), codes[1])


@announced
@compiled
def _encode_pairs(X, init, components, decoder, encoder, t, readout, gains, n_layers, below, codes, outliers, zeros):
    """Codes of few atoms: two rows at a time, a last one alone."""
    n = X.shape[0]
    warm = init.shape[0] > 0
    atoms = components if warm else decoder[0]
    for i in range(0, n, 2):
        code = read(init[i], zeros) if warm else fed_back(_product(X[i], encoder[0], zeros), zeros, gains, 0)
        if i + 1 == n:
            answer = codes[i], outliers[i]
            _encode_one(X[i], code, atoms, decoder, encoder, t, readout, gains, n_layers, below, answer, zeros)
            break
        j = i + 1
        other = read(init[j], zeros) if warm else fed_back(_product(X[j], encoder[0], zeros), zeros, gains, 0)
        pair = codes[i : i + 2], outliers[i : i + 2]
        _encode_two(
            X[i : i + 2], (code, other), atoms, decoder, encoder, t, readout, gains, n_layers, below, pair, zeros
        )


@piece
def _begin_group(x, c, r):
    """Start: c <- 0, r <- x, 0 where x is missing."""
    nothing = x.dtype.type(0)
    c[:] = nothing
    for i in range(x.shape[0]):
        xi, ri = x[i], r[i]
        for j in range(xi.size):
            ri[j] = nothing if xi[j] != xi[j] else xi[j]


@piece
def _threshold_group(x, d, t, below):
    """Threshold: d <- d + clip(x - d, -t, t)."""
    for i in range(x.shape[0]):
        xi, di = x[i], d[i]
        for j in range(t.size):
            di[j] += _clip(xi[j], di[j], t[j], below)[1]


@piece
def _threshold_last(x, d, t, below):
    """Last threshold: d <- clip(x, d - t, d + t), the same, but x to the last bit where nothing is clipped."""
    for i in range(x.shape[0]):
        xi, di = x[i], d[i]
        for j in range(t.size):
            high, low = di[j] + t[j], di[j] - t[j] - below
            r = xi[j] if xi[j] < high else high
            r = r if r > low else low
            di[j] = di[j] if xi[j] != xi[j] else r


@piece
def _code_group(r, rows, code, gains, k, back):
    """Code: c <- H' r, or max(0, G c + H' r)."""
    if gains is not None:
        np.dot(code, gains[k], back)
    np.dot(r, rows.T, code)
    if gains is not None:
        nothing = code.dtype.type(0)
        for i in range(code.shape[0]):
            own, old = code[i], back[i]
            for a in range(own.size):
                total = own[a] + old[a]
                own[a] = nothing if total < nothing else total


@piece
def _end_group(x, r):
    """End: r <- x - r, 0 where x is missing."""
    nothing = x.dtype.type(0)
    for i in range(x.shape[0]):
        xi, ri = x[i], r[i]
        for j in range(xi.size):
            ri[j] = nothing if xi[j] != xi[j] else xi[j] - ri[j]


@announced
@compiled
def _encode_groups(X, init, components, decoder, encoder, threshold, readout, gains, n_layers, below, codes, outliers):
    """Any network: groups of rows, multiplied by BLAS. The outputs hold c and r until they are done."""
    n, m = X.shape
    last = threshold.shape[0] - 1
    full = encoder.shape[1] == 0 < decoder.shape[1]
    back = np.empty((_GROUP, codes.shape[1]), X.dtype)
    image = np.empty((_GROUP if full else 0, m), X.dtype)
    i = 0
    while i < n:
        size = min(n - i, _GROUP)
        size = size if size >= _FEW_ROWS else 1
        x, c, r = X[i : i + size], codes[i : i + size], outliers[i : i + size]
        _begin_group(x, c, r)
        for k in range(n_layers):
            own = min(k, last)
            if k == 0 and init.shape[0]:
                copy_rows(init[i : i + size], c)
                np.dot(c, components, r)
            elif full:
                np.dot(r, decoder[own], image[:size])
                copy_rows(image[:size], r)
            else:
                _code_group(r, encoder[own], c, gains, own, back[:size])
                np.dot(c, decoder[own], r)
            if k + 1 < n_layers:
                _threshold_group(x, r, threshold[own], below)
        _threshold_last(x, r, threshold[last], below)
        _code_group(r, readout, c, gains, last + 1, back[:size])
        _end_group(x, r)
        i += size
