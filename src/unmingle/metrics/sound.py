"""How well sounds were separated, in decibels."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._threads import limit_blas_threads
from .._types import Float64Array
from .._validation import check_count
from ._spans import Span, correlate

_ROUNDING = 1e-12
"""A smaller share of a signal's energy, 120 dB below it, may be rounding and counts as nothing."""


class SeparationScores(NamedTuple):
    """Ratios in decibels, the last axis for the sources; more is better."""

    sdr: Float64Array
    """Source to distortion: to everything else that is in the estimate."""
    sir: Float64Array
    """Source to interference: to the other sources in it."""
    sar: Float64Array
    """Sources to artefacts: of all sources to what is none of them."""


def bss_eval(references: ArrayLike, estimates: ArrayLike, *, taps: int = 1) -> SeparationScores:
    r"""Score estimates of sources as BSS-EVAL does.

    Let `P_j` project onto the true source j and its delays by less than `taps` samples, and `P` onto all sources and
    their delays. An estimate e of source j is split into

        target P_j e,  interference P e - P_j e,  artefacts e - P e,

    which are orthogonal. With t = ||P_j e||^2 / ||e||^2 and p = ||P e||^2 / ||e||^2 the ratios of their energies are

        SDR = 10 log10 t / (1 - t),  SIR = 10 log10 t / (p - t),  SAR = 10 log10 p / (1 - p).

    With one tap, which allows a gain, it is BSS-EVAL 2.1 (``bss_decomp_gain``); with 512 taps, which allow a filter, it
    is BSS-EVAL 3.0 (``bss_eval_sources``). The two differ by decibels and must not be mixed. Estimates are never
    permuted: the k-th is one of the k-th source.

    The references are correlated and factorised once for all estimates. The cost is O(n log taps) for each signal of n
    samples and O((p taps)^3) for p sources; all signals are held in float64.

    Parameters
    ----------
    references : array_like of shape (n_sources, n_samples)
        The true sources.
    estimates : array_like of shape (..., n_sources, n_samples)
        An estimate of each source; axes in front are for several methods.
    taps : int, default=1
        Length of the filters that count as no distortion.

    Returns
    -------
    SeparationScores
        `(sdr, sir, sar)`, each of shape (..., n_sources).

    Notes
    -----
    Neither silence nor rank is an error. Shares of less than 1e-12 are rounding and count as nothing: ratios above
    120 dB are inf, and an estimate that holds nothing of its source has an sdr of -inf. For a silent reference all
    three are nan, as there is nothing to find; it is no source for the others. A silent estimate has an sdr of -inf,
    and sir and sar of nan, 0 to 0. Where the other sources are filtered copies of one, such as equal ones, they cannot
    interfere with it, and sir is inf. In clips hardly longer than the filters these explain nearly anything, so that
    sar, at last, is inf.

    References
    ----------
    E. Vincent, R. Gribonval, C. Févotte, "Performance measurement in blind audio source separation", IEEE
    Transactions on Audio, Speech, and Language Processing 14(4), 2006.

    Examples
    --------
    >>> voice, music = np.array([1.0, -1.0, 1.0, -1.0]), np.array([1.0, 1.0, 1.0, 1.0])
    >>> scores = bss_eval([voice, music], [voice + 0.1 * music, music])
    >>> scores.sdr.round(2), scores.sir.round(2), scores.sar
    (array([20., inf]), array([20., inf]), array([inf, inf]))
    """
    truth, found, shape = _check_sources(references, estimates)
    with limit_blas_threads(truth.size):
        lags, products = _correlate_sources(truth, found, check_count(taps, "taps"))
        target = _target_shares(lags, products)
        explained = Span(lags).energy(products.reshape(-1, *products.shape[2:])).reshape(target.shape)
    silent = ~found.any(axis=-1)
    scores = (
        np.where(silent, -np.inf, _to_decibels(target, 1.0 - target)),
        np.where(silent, np.nan, _to_decibels(target, explained - target)),
        np.where(silent, np.nan, _to_decibels(explained, 1.0 - explained)),
    )
    heard = truth.any(axis=-1)
    return SeparationScores(*(np.where(heard, score, np.nan).reshape(shape) for score in scores))


def nsdr(references: ArrayLike, estimates: ArrayLike, mixture: ArrayLike, *, taps: int = 1) -> Float64Array:
    """Return by how much estimates are better than the mixture itself: their SDR less that of the mixture, in decibels.

    Parameters
    ----------
    references, estimates, taps
        As `bss_eval` has them.
    mixture : array_like of shape (n_samples,)
        The sound that the sources were separated from.

    Returns
    -------
    array of shape (..., n_sources)

    Examples
    --------
    >>> voice, music = np.array([1.0, -1.0, 1.0, -1.0]), np.array([1.0, 1.0, 1.0, 1.0])
    >>> nsdr([voice], [voice + 0.1 * music], voice + music).round(2)
    array([20.])
    """
    truth, found, shape = _check_sources(references, estimates)
    mixed = _check_signals(mixture, "mixture")
    if mixed.shape != truth.shape[1:]:
        raise ValueError(f"mixture must have the {truth.shape[1]} samples of references; got shape {mixed.shape}.")
    signals = np.concatenate([np.broadcast_to(mixed, (1, *truth.shape)), found])
    with limit_blas_threads(truth.size):
        target = _target_shares(*_correlate_sources(truth, signals, check_count(taps, "taps")))
    sdr = np.where(signals.any(axis=-1), _to_decibels(target, 1.0 - target), -np.inf)
    with np.errstate(invalid="ignore"):
        gain = np.where(truth.any(axis=-1), sdr[1:] - sdr[0], np.nan)
    return gain.reshape(shape)


def si_sdr(reference: ArrayLike, estimate: ArrayLike) -> Float64Array:
    """Return the scale-invariant ratio of source to distortion along the last axis, in decibels.

    10 log10 ||a s||^2 / ||e - a s||^2  with  a = <e, s> / ||s||^2,

    the SDR of `bss_eval` with one tap: inf above 120 dB, -inf below -120 dB and for a silent estimate, nan for a silent
    reference.

    Parameters
    ----------
    reference, estimate : array_like of shape (..., n_samples)
        Signals, of shapes that can be broadcast.

    Returns
    -------
    array of shape (...)

    Examples
    --------
    >>> float(si_sdr([3.0, 4.0], [6.0, 8.0])), float(si_sdr([1.0, 0.0], [5.0, 5.0]))
    (inf, 0.0)
    """
    s, e = (_to_unit_energy(signals) for signals in _check_pair(reference, estimate))
    along = np.sum(s * e, axis=-1)
    across = np.sum((e - along[..., None] * s) ** 2, axis=-1)
    silent = ~e.any(axis=-1)
    ratio = np.where(silent, -np.inf, _to_decibels(along**2, across))
    return np.where(s.any(axis=-1), ratio, np.nan)


def snr(reference: ArrayLike, estimate: ArrayLike) -> Float64Array:
    """Return the plain ratio of signal to noise along the last axis, 10 log10 ||s||^2 / ||e - s||^2, in decibels.

    It is nan for a silent reference, and 0 for a silent estimate of one that is not.

    Parameters
    ----------
    reference, estimate : array_like of shape (..., n_samples)
        Signals, of shapes that can be broadcast.

    Returns
    -------
    array of shape (...)

    Examples
    --------
    >>> float(snr([3.0, 4.0], [3.3, 4.4]).round(6))
    20.0
    """
    s, e = _check_pair(reference, estimate)
    unit = np.maximum(_peak(s), _peak(e))
    s, e = s / unit, e / unit
    energy = np.sum(s**2, axis=-1)
    return np.where(energy > 0, _log_ratio(energy, np.sum((e - s) ** 2, axis=-1)), np.nan)


def weighted_mean(values: ArrayLike, lengths: ArrayLike) -> Float64Array:
    """Return sum_k w_k v_k / sum_k w_k along the first axis: the "global" mean of clips, weighted by their lengths.

    GNSDR, GSIR and the like are such means of decibels. A clip whose value is nan, as it has no such ratio, is left
    out with its weight; if none is left, the mean is nan.

    Parameters
    ----------
    values : array_like of shape (n_clips, ...)
        A measure of each clip.
    lengths : array_like of shape (n_clips,)
        The lengths of the clips, in any unit.

    Returns
    -------
    array of shape (...)

    Examples
    --------
    >>> float(weighted_mean([6.0, 3.0, np.nan], [1, 2, 7]))
    4.0
    """
    v, w = np.asarray(values, dtype=np.float64), np.asarray(lengths, dtype=np.float64)
    if v.ndim == 0 or w.shape != v.shape[:1]:
        raise ValueError(f"lengths must be one number for each of the values; got shapes {w.shape} and {v.shape}.")
    if not (np.isfinite(w).all() and (w >= 0).all()):
        raise ValueError("lengths must be finite and not below 0.")
    w = w.reshape(-1, *[1] * (v.ndim - 1))
    counts = ~np.isnan(v) & (w > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.sum(w * v, axis=0, where=counts) / np.sum(w * counts, axis=0))


def _correlate_sources(truth: Float64Array, found: Float64Array, taps: int) -> tuple[Float64Array, Float64Array]:
    """Correlations of the sources, and inner products (methods, estimates, sources, taps) with the delayed sources."""
    n, sources, signals = len(truth), _to_unit_energy(truth), _to_unit_energy(found)
    lags = correlate(sources, np.concatenate([sources, signals.reshape(-1, truth.shape[1])]), taps)
    products = lags[:, n:, taps - 1 :].reshape(n, len(found), n, taps)
    return lags[:, :n], products.transpose(1, 2, 0, 3)


def _target_shares(lags: Float64Array, products: Float64Array) -> Float64Array:
    """Shares (methods, sources) of the energy of estimates that lie in the span of their own source."""
    one = [slice(j, j + 1) for j in range(len(lags))]
    return np.stack([Span(lags[j, j]).energy(products[:, j.start, j]) for j in one], axis=1)


def _to_decibels(signal: Float64Array, noise: Float64Array) -> Float64Array:
    """Ratios of shares of an energy; those that may be rounding are nothing."""
    return _log_ratio(np.where(signal > _ROUNDING, signal, 0.0), np.where(noise > _ROUNDING, noise, 0.0))


def _log_ratio(signal: Float64Array, noise: Float64Array) -> Float64Array:
    """10 log10 of a ratio: inf without noise, -inf without a signal, nan without both."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(10.0 * np.log10(signal / noise))


def _check_sources(references: ArrayLike, estimates: ArrayLike) -> tuple[Float64Array, Float64Array, tuple[int, ...]]:
    """References, estimates with one axis for the methods, and the shape of the scores."""
    truth, found = _check_signals(references, "references"), _check_signals(estimates, "estimates")
    if truth.ndim != 2 or 0 in truth.shape:
        raise ValueError(f"references must have the shape (n_sources, n_samples), none 0; got {truth.shape}.")
    if found.shape[-2:] != truth.shape:
        raise ValueError(f"estimates must end in the shape of references, {truth.shape}; got {found.shape}.")
    return truth, found.reshape(-1, *truth.shape), found.shape[:-1]


def _check_pair(reference: ArrayLike, estimate: ArrayLike) -> tuple[Float64Array, Float64Array]:
    s, e = _check_signals(reference, "reference"), _check_signals(estimate, "estimate")
    if s.ndim == 0 or e.ndim == 0 or s.shape[-1] != e.shape[-1]:
        raise ValueError(f"estimate must have as many samples as reference; got shapes {e.shape} and {s.shape}.")
    return s, e


def _check_signals(given: ArrayLike, name: str) -> Float64Array:
    signals = np.asarray(given, dtype=np.float64)
    if not np.isfinite(signals).all():
        raise ValueError(f"{name} must hold finite numbers; found NaN or infinity.")
    return signals


def _peak(signals: Float64Array) -> Float64Array:
    """The largest absolute values along the last axis, 1 where all are 0."""
    peak = np.max(np.abs(signals), axis=-1, keepdims=True, initial=0.0)
    return np.where(peak > 0, peak, 1.0)


def _to_unit_energy(signals: Float64Array) -> Float64Array:
    """Signals over the roots of their energies; silence stays."""
    scaled = signals / _peak(signals)
    energy = np.sum(scaled**2, axis=-1, keepdims=True)
    return np.asarray(scaled / np.sqrt(np.where(energy > 0, energy, 1.0)))
