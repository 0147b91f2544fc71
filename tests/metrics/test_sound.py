"""Ratios of sound agree with mir_eval, with the published definitions written plainly, and with each other."""

import warnings

import mir_eval
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

from unmingle.metrics import bss_eval, nsdr, si_sdr, snr
from unmingle.metrics.sound import weighted_mean


def coloured(rng, n_sources, n):
    """Noise of uneven spectra, each of its own."""
    white = rng.standard_normal((n_sources, n + 63))
    return np.stack([np.convolve(x, rng.standard_normal(64) * 0.9 ** np.arange(64), "valid") for x in white])


def mingled(rng, sources, leak=0.3, noise=0.1):
    """Estimates with some of the others, a short echo and noise."""
    others = leak * (sources.sum(axis=0) - sources) + 0.4 * np.roll(sources, 3, axis=1)
    return sources + others + noise * sources.std() * rng.standard_normal(sources.shape)


def by_definition(references, estimates, taps):
    """SDR, SIR and SAR by projections onto written-out delayed signals."""

    def delayed(signals):
        padded = np.pad(signals, ((0, 0), (taps - 1, taps - 1)))
        return sliding_window_view(padded, taps, axis=1).transpose(0, 2, 1).reshape(-1, signals.shape[1] + taps - 1)

    def onto(rows, x):
        return np.linalg.lstsq(rows.T, x, rcond=1e-10)[0] @ rows

    found = []
    for j, estimate in enumerate(np.pad(estimates, ((0, 0), (0, taps - 1)))):
        target, explained = onto(delayed(references[j : j + 1]), estimate), onto(delayed(references), estimate)
        parts = (target, estimate - target), (target, explained - target), (explained, estimate - explained)
        found.append([10 * np.log10(np.sum(signal**2) / np.sum(noise**2)) for signal, noise in parts])
    return np.transpose(found)


@pytest.mark.parametrize("n_sources", [1, 2, 3])
def test_512_taps_agree_with_mir_eval(rng, n_sources):
    truth = coloured(rng, n_sources, 9000)
    found = mingled(rng, truth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # mir_eval is about to drop this module
        expected = mir_eval.separation.bss_eval_sources(truth, found, compute_permutation=False)
    scores = bss_eval(truth, found, taps=512)
    compared = range(3) if n_sources > 1 else (0, 2)  # without others there is no interference but rounding
    for k in compared:
        np.testing.assert_allclose(scores[k], expected[k], atol=1e-6)


@pytest.mark.parametrize("taps", [1, 2, 7, 40])
@pytest.mark.parametrize("n", [120, 1000])
def test_scores_are_those_of_the_definition(rng, taps, n):
    truth = coloured(rng, 2, n)
    found = mingled(rng, truth)
    np.testing.assert_allclose(bss_eval(truth, found, taps=taps), by_definition(truth, found, taps), atol=1e-8)


def test_the_two_versions_are_not_the_same(rng):
    truth = coloured(rng, 2, 4000)
    found = mingled(rng, truth)
    assert np.abs(bss_eval(truth, found).sdr - bss_eval(truth, found, taps=512).sdr).min() > 1


def test_several_methods_score_as_one_by_one(rng):
    truth = coloured(rng, 2, 1000)
    methods = np.stack([mingled(rng, truth, leak) for leak in (0.1, 0.5, 0.9)]).reshape(3, 1, 2, -1)
    scores = bss_eval(truth, methods, taps=20)
    assert scores.sdr.shape == (3, 1, 2)
    for k in range(3):
        one = bss_eval(truth, methods[k, 0], taps=20)
        np.testing.assert_allclose([score[k, 0] for score in scores], one, rtol=1e-10)
        gain = one.sdr - bss_eval(truth, np.stack([truth.sum(axis=0)] * 2), taps=20).sdr
        np.testing.assert_allclose(nsdr(truth, methods, truth.sum(axis=0), taps=20)[k, 0], gain, rtol=1e-9)


@given(st.integers(0, 99), st.floats(-150, 150), st.floats(-150, 150), st.sampled_from([1, 30]))
def test_neither_gain_nor_sign_matters(seed, up, down, taps):
    rng = np.random.default_rng(seed)
    truth = coloured(rng, 2, 300)
    found = mingled(rng, truth)
    scaled = bss_eval(truth * [[10.0**up], [1.0]], found * [[-(10.0**down)], [1.0]], taps=taps)
    np.testing.assert_allclose(scaled, bss_eval(truth, found, taps=taps), atol=1e-7)
    np.testing.assert_allclose(si_sdr(truth * 10.0**up, found * -(10.0**down)), si_sdr(truth, found), atol=1e-9)


@given(st.integers(0, 99), st.floats(0.0, 100.0))
def test_ratios_of_orthogonal_noise_are_those_it_was_made_with(seed, decibels):
    rng = np.random.default_rng(seed)
    s, noise = np.linalg.qr(rng.standard_normal((200, 2)))[0].T
    estimate = s + 10.0 ** (-decibels / 20) * noise
    assert si_sdr(s, estimate) == pytest.approx(decibels, abs=1e-3)
    assert snr(s, estimate) == pytest.approx(decibels, abs=1e-6)
    assert snr(s, 2 * s) == pytest.approx(0.0, abs=1e-9)
    assert bss_eval([s], [estimate]).sdr[0] == pytest.approx(si_sdr(s, estimate), abs=1e-3)
    assert bss_eval([s, noise], [estimate, s]).sir[0] == pytest.approx(decibels, abs=1e-3)


def test_a_filter_of_the_source_is_no_distortion_if_it_is_short_enough(rng):
    truth = coloured(rng, 2, 2000)
    truth[:, -9:] = 0
    echo = truth + 0.8 * np.roll(truth, 9, axis=1)
    assert bss_eval(truth, echo, taps=9).sdr.max() < 10
    assert bss_eval(truth, echo, taps=10).sdr.min() == np.inf


@pytest.mark.parametrize("taps", [1, 64])
def test_identical_signals_are_beyond_measure(rng, taps):
    truth = coloured(rng, 2, 1000)
    for found in (truth, -3 * truth, truth.astype(np.float32)):
        np.testing.assert_array_equal(bss_eval(truth, found, taps=taps), np.full((3, 2), np.inf))
    assert si_sdr(truth[0], 0.3 * truth[0]) == snr(truth[0], truth[0]) == np.inf


@pytest.mark.parametrize("taps", [1, 64])
def test_a_silent_reference_has_no_score_and_is_no_source(rng, taps):
    truth = coloured(rng, 2, 1000)
    found = mingled(rng, truth)
    quiet = bss_eval([truth[0], 0 * truth[1]], found, taps=taps)
    alone = bss_eval(truth[:1], found[:1], taps=taps)
    assert all(np.isnan(score[1]) for score in quiet)
    np.testing.assert_allclose([score[0] for score in quiet], [score[0] for score in alone])
    assert alone.sir == np.inf
    assert np.isnan(
        [si_sdr(np.zeros(5), np.ones(5)), snr(np.zeros(5), np.ones(5)), snr(np.zeros(5), np.zeros(5))]
    ).all()
    assert np.isnan(nsdr(np.zeros((1, 5)), np.ones((1, 5)), np.ones(5))).all()


@pytest.mark.parametrize("taps", [1, 64])
def test_a_silent_estimate_found_nothing(rng, taps):
    truth = coloured(rng, 2, 1000)
    found = mingled(rng, truth)
    scores = bss_eval(truth, [found[0], 0 * found[1]], taps=taps)
    assert scores.sdr[1] == -np.inf
    assert np.isnan(scores.sir[1])
    assert np.isnan(scores.sar[1])
    np.testing.assert_array_equal(scores.sdr[0], bss_eval(truth, found, taps=taps).sdr[0])
    assert si_sdr(truth[0], 0 * truth[0]) == -np.inf
    assert snr(truth[0], 0 * truth[0]) == 0.0
    np.testing.assert_array_equal(nsdr(truth, 0 * truth, truth.sum(axis=0)), [-np.inf, -np.inf])
    np.testing.assert_array_equal(nsdr(truth, found, 0 * truth[0]), [np.inf, np.inf])


@pytest.mark.parametrize("taps", [1, 64])
def test_equal_references_cannot_interfere(rng, taps):
    truth = coloured(rng, 1, 1000)
    found = mingled(rng, truth)
    scores = bss_eval(np.vstack([truth, 2 * truth]), np.vstack([found, found]), taps=taps)
    alone = bss_eval(truth, found, taps=taps)
    np.testing.assert_array_equal(scores.sir, [np.inf, np.inf])
    np.testing.assert_allclose(scores.sdr, alone.sdr.repeat(2))
    np.testing.assert_allclose(scores.sar, alone.sar.repeat(2))


def test_tones_have_few_independent_delays(rng):
    """Delays of two tones span four dimensions, whatever their number."""
    turns = np.arange(4000) / 40
    tones = np.stack([np.sin(2 * np.pi * k * turns) for k in (3, 5)])
    noise = 0.05 * rng.standard_normal(tones.shape)
    np.testing.assert_allclose(
        bss_eval(tones, tones + noise, taps=40), by_definition(tones, tones + noise, 40), atol=1e-5
    )


@pytest.mark.parametrize("n", [1, 2, 30])
def test_clips_shorter_than_the_filters_are_explained_wholly(rng, n):
    truth = coloured(rng, 2, n)
    scores = bss_eval(truth, mingled(rng, truth), taps=100)
    np.testing.assert_array_equal(scores.sar, [np.inf, np.inf])
    assert not np.isnan(scores).any()


def test_measures_broadcast_and_leave_their_input_alone(rng):
    truth = coloured(rng, 2, 100).astype(np.float32)
    kept = truth.copy()
    assert si_sdr(truth[0], truth).shape == snr(truth, truth[0]).shape == (2,)
    bss_eval(truth, truth, taps=3)
    np.testing.assert_array_equal(truth, kept)


def test_means_are_weighted_by_length():
    np.testing.assert_array_equal(weighted_mean([[1.0, np.nan], [4.0, 2.0]], [2, 1]), [2.0, 2.0])
    assert weighted_mean([np.inf, 1.0], [0, 1]) == 1.0
    assert weighted_mean([-np.inf, 1.0], [1, 1]) == -np.inf
    assert np.isnan(
        [weighted_mean([np.nan], [1.0]), weighted_mean([], []), weighted_mean([np.inf, -np.inf], [1, 1])]
    ).all()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda x: bss_eval(x[0], x), r"references must have the shape \(n_sources, n_samples\), none 0; got \(9,\)"),
        (lambda x: bss_eval(x[:, :0], x), r"none 0; got \(2, 0\)"),
        (lambda x: bss_eval(x, x[:1]), r"estimates must end in the shape of references, \(2, 9\); got \(1, 9\)"),
        (lambda x: bss_eval(x, x, taps=0), "taps must be a whole number of at least 1, got 0"),
        (lambda x: bss_eval(x, x * np.nan), "estimates must hold finite numbers; found NaN"),
        (lambda x: nsdr(x, x, x[0, 1:]), r"mixture must have the 9 samples of references; got shape \(8,\)"),
        (lambda x: snr(x, x[:, 1:]), "estimate must have as many samples as reference"),
        (lambda x: weighted_mean(x, [1.0]), r"lengths must be one number for each of the values; got shapes \(1,\)"),
        (lambda x: weighted_mean(x, [1.0, -1.0]), "lengths must be finite and not below 0"),
    ],
)
def test_what_cannot_be_scored_is_told(call, sentence, rng):
    with pytest.raises(ValueError, match=sentence):
        call(rng.standard_normal((2, 9)))
