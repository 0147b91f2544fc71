import numpy as np
import pytest

from unmingle import metrics, synth
from unmingle.apps import audio
from unmingle.apps.audio.masks import Ideal
from unmingle.apps.audio.stft import magnitudes


@pytest.fixture(scope="module")
def song():
    return synth.song(4.0, 16000, random_state=2)


def nsdr(song, stems):
    return metrics.nsdr(np.stack([song.voice, song.music]), np.stack(stems), song.mixture)[0]


@pytest.mark.parametrize("low_latency", [False, True])
def test_an_oracle_is_better_than_every_method(song, low_latency):
    oracle = Ideal.of(song.voice, song.music, song.rate, low_latency=low_latency)
    ideal = audio.split(song.mixture, song.rate, method=oracle, low_latency=low_latency)
    np.testing.assert_allclose(ideal.voice + ideal.music, song.mixture, atol=1e-6)
    found = audio.split(song.mixture, song.rate, method="pcp", low_latency=low_latency)
    assert nsdr(song, ideal) > nsdr(song, found) + 3


def test_an_oracle_begins_anew_with_each_sound(song):
    oracle = Ideal.of(song.voice, song.music, song.rate)
    first, second = (audio.split(song.mixture, song.rate, method=oracle).voice for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_magnitudes_scale_with_the_sound_and_have_the_bins_up_to_8_khz(song):
    heard = magnitudes(song.mixture, song.rate)
    assert heard.shape[1] == 513
    assert heard.dtype == np.float32
    np.testing.assert_allclose(magnitudes(4 * song.mixture, song.rate), 4 * heard, rtol=1e-5, atol=1e-6)
    stereo = np.stack([song.mixture, song.mixture], axis=1)
    np.testing.assert_allclose(magnitudes(stereo, song.rate), heard, rtol=1e-5, atol=1e-6)
