"""Networks of fixed depth: every layer of an encoder for a block of samples, before the next block is touched.

With few atoms a pass over the features makes a layer: d, the threshold and the sums of the next code never leave the
registers, and two samples share each number that is read. With many atoms BLAS multiplies groups of rows.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numba.cpython.unsafe.tuple import tuple_setitem
from numpy.typing import NDArray

from ._compile import announced, compiled

_FEW_ATOMS = 7
"""Up to so many, their loop is unrolled; for more the compiler gives up on two samples at once, and BLAS is as fast."""
_GROUP = 256
_FEW_ROWS = 24
"""Fewer go one by one: BLAS is then faster with vectors than with such slim matrices."""

Array = NDArray[np.floating[Any]]
_put: Any = tuple_setitem


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
    """Codes s and outliers o of samples, as `unmingle.encoder.propagate` finds them.

    From r = x, with r = d where x is missing::

        c <- G c + H' r,   d = A c,   r <- d + clip(x - d, -t, t)        in each layer
        s = G c + H r,   o = x - r                                       in the end

    Cost: 4 m q flops for each sample and layer. Memory: that of the answer.
    """
    if not X.size:
        return
    decoder, encoder, threshold, feedback, readout, readout_feedback = layers
    q = len(components)
    zeros, no_codes = _constants(q, X.dtype)
    shared = (X, no_codes if init is None else init, components, decoder, encoder, threshold, readout)
    frozen = [part if not part.flags.writeable else _read_only(part) for part in shared]
    below = X.dtype.type(np.inf if nonnegative_outliers else 0)
    if 0 < q <= _FEW_ATOMS and encoder.shape[1] and not nonnegative_codes:
        _encode_pairs(*frozen, n_layers, below, codes, outliers, zeros)
    else:
        gains = _read_only(feedback), _read_only(readout_feedback)
        _encode_groups(*frozen, *gains, n_layers, nonnegative_codes, below, codes, outliers)


def _read_only(part: Array) -> Array:
    """The same numbers; a kernel is compiled once for what it only reads, and not for each mixture of flags."""
    view = part.view()
    view.flags.writeable = False
    return view


@lru_cache
def _constants(q: int, dtype: Any) -> tuple[tuple[Any, ...], Array]:
    """A zero for each atom, their number part of the type and so known to the compiler; and no codes at all."""
    return (dtype.type(0),) * q, _read_only(np.empty((0, q), dtype))


@compiled
def _clip(x, d, t, below):  # type: ignore[no-untyped-def]
    """What d leaves, e = x - d, 0 where x is missing, and clip(e, -t - below, t); on one side below is infinite."""
    e = x - d
    e = d - d if e != e else e
    low = -t - below
    clipped = e if e > low else low
    return e, (clipped if clipped < t else t)


@compiled
def _images(code, other, atoms, j):  # type: ignore[no-untyped-def]
    """Feature j of A c for two codes."""
    atom = atoms[0, j]
    d, e = code[0] * atom, other[0] * atom
    for a in range(1, len(code)):
        atom = atoms[a, j]
        d += code[a] * atom
        e += other[a] * atom
    return d, e


@compiled
def _add(sums, rows, j, r):  # type: ignore[no-untyped-def]
    """Sums of H r with the share of feature j."""
    for a in range(len(sums)):
        sums = _put(sums, a, sums[a] + rows[a, j] * r)
    return sums


@compiled
def _add_both(sums, others, rows, j, r, s):  # type: ignore[no-untyped-def]
    """Sums of H r and H s with the shares of feature j."""
    for a in range(len(sums)):
        row = rows[a, j]
        sums = _put(sums, a, sums[a] + row * r)
        others = _put(others, a, others[a] + row * s)
    return sums, others


@compiled
def _product(x, rows, zeros):  # type: ignore[no-untyped-def]
    """H x, missing entries left out."""
    sums = zeros
    for j in range(x.size):
        known = x[j]
        known = zeros[0] if known != known else known
        sums = _add(sums, rows, j, known)
    return sums


@compiled
def _layer(x, code, atoms, rows, t, below, zeros, o):  # type: ignore[no-untyped-def]
    """H r of a sample, with d = A c and r = d + clip(x - d, -t, t); o = x - r unless o is None."""
    sums = zeros
    for j in range(x.size):
        d = code[0] * atoms[0, j]
        for a in range(1, len(code)):
            d += code[a] * atoms[a, j]
        e, clipped = _clip(x[j], d, t[j], below)
        sums = _add(sums, rows, j, d + clipped)
        if o is not None:
            o[j] = e - clipped
    return sums


@compiled
def _layer_of_two(x, y, code, other, atoms, rows, t, below, zeros, o, p):  # type: ignore[no-untyped-def]
    """The same for two samples."""
    sums, others = zeros, zeros
    for j in range(x.size):
        dx, dy = _images(code, other, atoms, j)
        ex, clipped_x = _clip(x[j], dx, t[j], below)
        ey, clipped_y = _clip(y[j], dy, t[j], below)
        sums, others = _add_both(sums, others, rows, j, dx + clipped_x, dy + clipped_y)
        if o is not None:
            o[j] = ex - clipped_x
            p[j] = ey - clipped_y
    return sums, others


@compiled
def _read(row, zeros):  # type: ignore[no-untyped-def]
    """The numbers of a short row."""
    values = zeros
    for a in range(len(zeros)):
        values = _put(values, a, row[a])
    return values


@compiled
def _write(values, row):  # type: ignore[no-untyped-def]
    for a in range(len(values)):
        row[a] = values[a]


@compiled
def _encode_one(x, code, atoms, decoder, encoder, t, readout, n_layers, below, codes, outliers, zeros):  # type: ignore[no-untyped-def]
    """All layers of a sample, from the first code and with the first atoms."""
    last = t.shape[0] - 1
    for k in range(n_layers - 1):
        following = min(k + 1, last)
        code = _layer(x, code, atoms, encoder[following], t[min(k, last)], below, zeros, None)
        atoms = decoder[following]
    _write(_layer(x, code, atoms, readout, t[last], below, zeros, outliers), codes)


@compiled
def _encode_two(X, code, other, atoms, decoder, encoder, t, readout, n_layers, below, codes, outliers, zeros):  # type: ignore[no-untyped-def]
    """The same for two samples."""
    x, y = X[0], X[1]
    last = t.shape[0] - 1
    for k in range(n_layers - 1):
        rows, following = encoder[min(k + 1, last)], decoder[min(k + 1, last)]
        code, other = _layer_of_two(x, y, code, other, atoms, rows, t[min(k, last)], below, zeros, None, None)
        atoms = following
    code, other = _layer_of_two(x, y, code, other, atoms, readout, t[last], below, zeros, outliers[0], outliers[1])
    _write(code, codes[0])
    _write(other, codes[1])


@announced
@compiled
def _encode_pairs(  # type: ignore[no-untyped-def]
    X, init, components, decoder, encoder, t, readout, n_layers, below, codes, outliers, zeros
):
    """Signed codes of few atoms: two rows at a time, a last one alone."""
    n = X.shape[0]
    warm = init.shape[0] > 0
    atoms = components if warm else decoder[0]
    for i in range(0, n, 2):
        code = _read(init[i], zeros) if warm else _product(X[i], encoder[0], zeros)
        if i + 1 == n:
            _encode_one(X[i], code, atoms, decoder, encoder, t, readout, n_layers, below, codes[i], outliers[i], zeros)
            break
        other = _read(init[i + 1], zeros) if warm else _product(X[i + 1], encoder[0], zeros)
        _encode_two(
            X[i : i + 2], code, other, atoms, decoder, encoder, t, readout, n_layers, below,
            codes[i : i + 2], outliers[i : i + 2], zeros,
        )  # fmt: skip


@compiled
def _begin_group(x, c, r):  # type: ignore[no-untyped-def]
    """Start: c <- 0, r <- x, 0 where x is missing."""
    nothing = x.dtype.type(0)
    c[:] = nothing
    for i in range(x.shape[0]):
        xi, ri = x[i], r[i]
        for j in range(xi.size):
            ri[j] = nothing if xi[j] != xi[j] else xi[j]


@compiled
def _threshold_group(x, d, t, below):  # type: ignore[no-untyped-def]
    """Threshold: d <- d + clip(x - d, -t, t)."""
    for i in range(x.shape[0]):
        xi, di = x[i], d[i]
        for j in range(t.size):
            di[j] += _clip(xi[j], di[j], t[j], below)[1]


@compiled
def _threshold_last(x, d, t, below):  # type: ignore[no-untyped-def]
    """Last threshold: d <- clip(x, d - t, d + t), the same, but x to the last bit where nothing is clipped."""
    for i in range(x.shape[0]):
        xi, di = x[i], d[i]
        for j in range(t.size):
            high, low = di[j] + t[j], di[j] - t[j] - below
            r = xi[j] if xi[j] < high else high
            r = r if r > low else low
            di[j] = di[j] if xi[j] != xi[j] else r


@compiled
def _code_group(r, rows, code, gain, back, positive):  # type: ignore[no-untyped-def]
    """Code: c <- H' r, or max(0, G c + H' r)."""
    if not positive:
        np.dot(r, rows.T, code)
        return
    np.dot(code, gain, back)
    np.dot(r, rows.T, code)
    for i in range(code.shape[0]):
        for a in range(code.shape[1]):
            code[i, a] = max(code[i, a] + back[i, a], code.dtype.type(0))


@compiled
def _end_group(x, r):  # type: ignore[no-untyped-def]
    """End: r <- x - r, 0 where x is missing."""
    nothing = x.dtype.type(0)
    for i in range(x.shape[0]):
        xi, ri = x[i], r[i]
        for j in range(xi.size):
            ri[j] = nothing if xi[j] != xi[j] else xi[j] - ri[j]


@announced
@compiled
def _encode_groups(  # type: ignore[no-untyped-def]
    X, init, components, decoder, encoder, threshold, readout, feedback, readout_feedback,
    n_layers, positive, below, codes, outliers,
):  # fmt: skip
    """Any network: groups of rows, multiplied by BLAS. The outputs hold c and r until they are done."""
    n, m = X.shape
    last = threshold.shape[0] - 1
    full = encoder.shape[1] == 0 < decoder.shape[1]
    back = np.empty((_GROUP, codes.shape[1] if positive else 0), X.dtype)
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
                c[:] = init[i : i + size]
                np.dot(c, components, r)
            elif full:
                np.dot(r, decoder[own], image[:size])
                r[:] = image[:size]
            else:
                _code_group(r, encoder[own], c, feedback[own], back[:size], positive)
                np.dot(c, decoder[own], r)
            if k + 1 < n_layers:
                _threshold_group(x, r, threshold[own], below)
        _threshold_last(x, r, threshold[last], below)
        _code_group(r, readout, c, readout_feedback, back[:size], positive)
        _end_group(x, r)
        i += size
