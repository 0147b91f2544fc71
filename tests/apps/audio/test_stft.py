import numpy as np
import pytest
from scipy import signal

from unmingle.apps.audio.stft import BINS, Frames, Transform

RATES = (8000, 11025, 16000, 44100, 96000)


def spectra_of(transform, sound):
    signal = np.concatenate([transform.silence_before(), sound])
    return transform.analyse(signal, transform.count(signal))


@pytest.mark.parametrize("low_latency", [False, True])
@pytest.mark.parametrize("rate", RATES)
def test_frames_add_up_to_the_sound(rate, low_latency, rng):
    frames = Frames.of(rate, low_latency=low_latency)
    sound = rng.standard_normal((5 * frames.window, 2))
    late, transform = frames.span - frames.hop, Transform.of(frames, 2, float)
    _, back = transform.synthesise(transform.silence(late), spectra_of(transform, sound))
    np.testing.assert_allclose(back[late:], sound[: len(back) - late], atol=1e-12)
    assert len(back) >= len(sound) - frames.hop


@pytest.mark.parametrize("low_latency", [False, True])
def test_blocks_of_any_length_make_the_same_frames(low_latency, rng):
    frames = Frames.of(16000, low_latency=low_latency)
    sound = rng.standard_normal((3000, 1))
    transform = Transform.of(frames, 1, float)
    whole, signal, blocks = spectra_of(transform, sound), transform.silence_before(), []
    for i in range(0, 3000, 77):
        signal = np.concatenate([signal, sound[i : i + 77]])
        count = transform.count(signal)
        blocks.append(transform.analyse(signal, count))
        signal = signal[count * frames.hop :]
    np.testing.assert_array_equal(np.concatenate(blocks), whole)
    tail, pieces = transform.silence(frames.span - frames.hop), []
    _, at_once = transform.synthesise(tail, whole)
    for block in blocks:
        tail, piece = transform.synthesise(tail, block)
        pieces.append(piece)
    np.testing.assert_allclose(np.concatenate(pieces), at_once, atol=1e-14)


def test_spectra_are_those_of_scipy(rng):
    frames = Frames.of(16000)
    sound = rng.standard_normal(4096)
    ours = spectra_of(Transform.of(frames, 1, float), sound[:, None])[:, 0]
    padded = np.concatenate([np.zeros(768), sound])
    theirs = signal.ShortTimeFFT(signal.get_window("hann", 1024), 256, 16000).stft(padded, p0=2, p1=2 + len(ours))
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs.T), atol=1e-9)


@pytest.mark.parametrize("rate", RATES)
def test_bins_have_the_same_frequencies_at_every_rate(rate):
    frames = Frames.of(rate)
    here, there = frames.frequencies()[: frames.looked_at], Frames.of(16000).frequencies()
    assert frames.looked_at == min(BINS, frames.bins)
    np.testing.assert_allclose(here, there[: frames.looked_at], rtol=0.003)
    assert frames.span / rate == pytest.approx(0.064, rel=0.01)
    assert Frames.of(rate, low_latency=True).span / rate <= 0.0321


@pytest.mark.parametrize("rate", [0, 100, 1e7, np.nan, "fast"])
def test_a_senseless_rate_is_refused(rate):
    with pytest.raises(ValueError, match="rate must be"):
        Frames.of(rate)
