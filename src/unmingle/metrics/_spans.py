"""Energies of projections onto delayed signals, from correlations alone."""

import numpy as np

from .._types import Float64Array

_TRANSFORM_PER_DELAY = 8
"""A transform is this many times as long as the delays that are asked for."""


def correlate(X: Float64Array, Y: Float64Array, taps: int) -> Float64Array:
    """Return r_ij[k] = sum_n x_i[n] y_j[n + k] for the lags k = 1 - taps, ..., taps - 1, along the last axis.

    Blocks of x are multiplied with what lies around them in y, in the frequency domain, where the products add up
    before one transform back. The cost is O(n log taps) for each signal, the memory that of a few blocks.
    """
    if taps == 1:
        return np.asarray(X @ Y.T)[..., None]
    from scipy.fft import irfft, next_fast_len, rfft

    around = taps - 1
    size = next_fast_len(_TRANSFORM_PER_DELAY * taps, real=True)
    step = size - 2 * around
    spectrum = np.zeros((len(X), len(Y), size // 2 + 1), dtype=complex)
    for start in range(0, X.shape[1], step):
        before = max(around - start, 0)
        wide = Y[:, max(start - around, 0) : start + step + around]
        wide = np.pad(wide, ((0, 0), (before, 0)))
        spectrum += np.conj(rfft(X[:, start : start + step], size))[:, None] * rfft(wide, size)
    return np.asarray(irfft(spectrum, size)[..., : 2 * taps - 1])


class Span:
    """The space of some signals and their delays by less than `taps` samples.

    The Gram matrix G of all delayed signals is block-Toeplitz. With its Cholesky factor L the energy of the projection
    of e, whose inner products with them are b, is b' G^-1 b = ||L^-1 b||^2. Pivots leave out delayed signals that, up
    to rounding, are combinations of others, so that any signals have a span. The cost is O((p taps)^3) for p signals.

    Parameters
    ----------
    lags : array of shape (p, p, 2 * taps - 1)
        Correlations of the signals, each of energy 1, as `correlate` gives them.
    """

    def __init__(self, lags: Float64Array) -> None:
        from scipy.linalg.lapack import dpstrf

        taps = (lags.shape[-1] + 1) // 2
        toeplitz = np.lib.stride_tricks.sliding_window_view(lags[..., ::-1], taps, axis=-1)[..., ::-1, :]
        gram = np.swapaxes(toeplitz, 1, 2).reshape(len(lags) * taps, len(lags) * taps)
        factor, pivots, rank, _ = dpstrf(gram.T, lower=1, overwrite_a=1)
        self._factor, self._kept = factor[:rank, :rank], pivots[:rank] - 1

    def energy(self, products: Float64Array) -> Float64Array:
        """Energies of the projections of signals with these inner products, of shape (k, p, taps)."""
        from scipy.linalg import solve_triangular

        chosen = products.reshape(len(products), -1)[:, self._kept]
        weights = solve_triangular(self._factor, chosen.T, lower=True, check_finite=False)
        return np.asarray(np.sum(weights**2, axis=0))
