"""The toy song is what it says: stems that add up, a band that repeats, a voice on its pitch, with pauses."""

import numpy as np
import pytest
from scipy.signal import istft, stft

import unmingle
from unmingle.metrics import nsdr
from unmingle.synth import song

SEEDS = range(4)


@pytest.fixture(scope="module", params=SEEDS)
def made(request):
    return song(16.0, random_state=request.param)


def test_stems_add_up_at_equal_energy(made):
    np.testing.assert_array_equal(made.mixture, made.voice + made.music)
    assert made.mixture.dtype == made.voice.dtype == made.music.dtype == made.pitch.dtype == np.float32
    assert made.mixture.shape == made.pitch.shape == (16 * 16000,)
    assert np.sum(made.voice**2.0) == pytest.approx(np.sum(made.music**2.0), rel=1e-5)
    assert 0.85 < np.abs(made.mixture).max() < 1


def test_a_seed_is_a_song():
    first, again, other = (song(5.0, random_state=seed).mixture for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert np.abs(np.corrcoef(first, other)[0, 1]) < 0.5


@pytest.mark.parametrize("rate", [8000, 22050, 44100, 48000])
@pytest.mark.parametrize("seconds", [4.0, 7.77])
def test_any_rate_and_length(rate, seconds):
    made = song(seconds, rate, random_state=1)
    assert made.rate == rate
    assert made.mixture.shape == (round(seconds * rate),)
    assert np.isfinite(made.mixture).all()
    assert made.voice.any()


def test_the_first_bar_has_no_voice_and_phrases_have_pauses(made):
    bar = round(4 * made.beat * made.rate)
    assert not made.voice[:bar].any()
    assert not made.pitch[:bar].any()
    assert made.pitch[bar : bar + made.rate // 4].any()
    silent = np.convolve(made.voice[bar:] != 0, np.ones(int(0.4 * made.rate)), "valid") == 0
    assert silent.any()
    assert 0.5 < np.mean(made.pitch > 0) < 0.9


def test_the_band_never_pauses(made):
    loud = np.abs(made.music[: -made.rate // 4])
    assert loud[: loud.size // 4000 * 4000].reshape(-1, 4000).max(axis=1).min() > 0.02


def test_the_voice_sings_the_harmonics_of_its_pitch(made):
    """Nearly all energy of a frame with a steady pitch lies near multiples of it."""
    size, shares = 2048, []
    for start in range(0, made.voice.size - size, size):
        pitch = made.pitch[start : start + size]
        if pitch.min() > 0 and np.ptp(pitch) < 0.01 * pitch.mean():
            power = np.abs(np.fft.rfft(np.hanning(size) * made.voice[start : start + size])) ** 2
            hertz = np.fft.rfftfreq(size, 1 / made.rate)
            heard = (hertz > 100) & (hertz < 3000)  # above it hisses
            near = np.abs(hertz / pitch.mean() - np.rint(hertz / pitch.mean())) < 0.15
            shares.append(power[heard & near].sum() / power[heard].sum())
    assert len(shares) > 10
    assert np.median(shares) > 0.98


def test_the_voice_swings_and_slides(made):
    sung = made.pitch[made.pitch > 0]
    semitones = 12 * np.log2(sung / sung.min())
    assert 3 < np.ptp(semitones) < 20
    assert np.mean(np.abs(semitones - np.rint(semitones)) > 0.15) > 0.1


def test_the_music_repeats_with_its_beat(made):
    """Its strength, in steps of 10 ms, is like itself a bar later, and unlike itself a little before and after that."""
    step = made.rate // 100
    strength = np.abs(made.music[: made.music.size // step * step]).reshape(-1, step).mean(axis=1)
    strength = np.convolve(strength, np.hanning(9), "valid")

    def likeness(beats):
        lag = round(100 * beats * made.beat)
        return np.corrcoef(strength[lag:], strength[:-lag])[0, 1]

    assert likeness(4) > 0.6
    assert likeness(4) > 0.4 + max(likeness(3.75), likeness(4.25))


@pytest.mark.parametrize("seed", range(3))
def test_it_can_be_taken_apart_but_not_easily(seed):
    """By plain robust PCA of the spectrogram, a Wiener mask and a high-pass at 100 Hz."""
    made = song(8.0, random_state=seed)
    hertz, _, spectra = stft(made.mixture, made.rate, nperseg=1024, noverlap=768)
    X = np.abs(spectra).T
    part = unmingle.pursue(X, outlier_penalty=1 / np.sqrt(max(X.shape)), tol=1e-3)
    mask = part.outliers**2 / (part.outliers**2 + part.low_rank**2 + 1e-12)
    voice = istft(spectra * mask.T * (hertz >= 100)[:, None], made.rate, nperseg=1024, noverlap=768)[1]
    found = np.stack([voice[: made.voice.size], made.mixture - voice[: made.voice.size]])
    gain = nsdr([made.voice, made.music], found, made.mixture)
    assert gain.min() > 2
    assert gain.max() < 8.5


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((3.9,), "seconds must be a number of at least 4; got 3.9"),
        ((np.nan,), "seconds must be a number of at least 4; got nan"),
        ((8.0, 4000), "rate must be a whole number of at least 8000; got 4000"),
        ((8.0, 16000.5), "rate must be a whole number of at least 8000; got 16000.5"),
    ],
)
def test_what_is_no_song_is_told(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        song(*arguments)
