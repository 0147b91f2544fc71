import numpy as np
import pytest

from unmingle import metrics, synth
from unmingle.apps import audio
from unmingle.apps.audio import _engine, masks
from unmingle.apps.audio.exact import ExactPursuit

METHODS = ("pcp", "proximal", "nmf", "adapt")


@pytest.fixture(scope="module")
def song():
    return synth.song(5.0, 16000, random_state=1)


def gained(song, stems):
    return metrics.nsdr(np.stack([song.voice, song.music]), np.stack(stems), song.mixture)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_something_of_the_voice(song, method):
    stems = audio.split(song.mixture, song.rate, method=method)
    np.testing.assert_allclose(stems.voice + stems.music, song.mixture, atol=1e-6)
    assert stems.voice.dtype == np.float32
    assert gained(song, stems)[0] > 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("gain", [0.1, 10.0])
def test_loudness_does_not_matter(song, method, gain):
    quiet = audio.split(song.mixture, song.rate, method=method)
    loud = audio.split(np.float32(gain) * song.mixture, song.rate, method=method)
    assert gained(song, loud)[0] == pytest.approx(gained(song, quiet)[0], abs=0.1)


@pytest.mark.parametrize("rate", [8000, 22050, 44100, 96000])
def test_rates_channels_and_length_are_kept(rate):
    song = synth.song(4.0, rate, random_state=0)
    stereo = np.stack([song.mixture, song.voice], axis=1)[: 2 * rate + 17]
    stems = audio.split(stereo, rate, method="adapt")
    assert stems.voice.shape == stems.music.shape == stereo.shape
    np.testing.assert_allclose(stems.voice + stems.music, stereo, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("length", [0, 1, 300])
def test_short_and_silent_sounds(method, length):
    for sound in (np.zeros(length), np.zeros((length, 6), np.float32)):
        stems = audio.split(sound, 16000, method=method)
        assert stems.voice.shape == sound.shape
        assert not stems.voice.any()
        assert not stems.music.any()


@pytest.mark.parametrize("method", METHODS)
def test_a_single_click_is_kept(method):
    sound = np.array([0.5])
    stems = audio.split(sound, 16000, method=method)
    np.testing.assert_allclose(stems.voice + stems.music, sound)


def test_whole_numbers_are_samples_too(song):
    whole = np.round(song.mixture[:32000] * 20000).astype(np.int16)
    stems = audio.split(whole, song.rate, method="adapt")
    np.testing.assert_allclose(stems.voice + stems.music, whole, atol=1e-6 * 20000)


@pytest.mark.parametrize(
    ("samples", "match"),
    [
        (np.zeros((2, 16000)), "transpose"),
        (np.zeros((2, 3, 4)), "shape"),
        (np.array([0.0, np.inf]), "finite.*sample 1"),
    ],
)
def test_what_is_no_sound_is_refused(samples, match):
    with pytest.raises(ValueError, match=match):
        audio.split(samples, 16000)


def test_unknown_methods_are_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="'voice', 'phone', 'pcp', 'proximal', 'nmf', 'adapt'"):
        audio.split(np.zeros(10), 16000, method="magic")


def test_long_songs_are_solved_passage_by_passage(song, monkeypatch):
    monkeypatch.setattr(_engine, "PASSAGES", masks.Passages(200))
    lengths = []

    class Told(ExactPursuit):
        def parts(self, magnitudes):
            lengths.append(len(magnitudes))
            return super().parts(magnitudes)

    stems = audio.split(song.mixture, song.rate, method=Told())
    np.testing.assert_allclose(stems.voice + stems.music, song.mixture, atol=1e-6)
    assert set(lengths) == {200}
    assert gained(song, stems)[0] > 1


def test_high_pass_can_be_chosen(song):
    plain, filtered = (audio.split(song.mixture, song.rate, method="adapt", high_pass=h) for h in (None, 300.0))
    spectra = [np.abs(np.fft.rfft(stems.voice))[: (200 * 8)] for stems in (plain, filtered)]
    assert np.linalg.norm(spectra[1]) < 0.2 * np.linalg.norm(spectra[0])


def test_a_passage_without_voice_teaches_the_music(song):
    bar = 4 * song.beat
    assert not song.voice[: int(bar * song.rate)].any()
    taught = audio.split(song.mixture, song.rate, method="adapt", no_voice=(0.0, bar))
    plain = audio.split(song.mixture, song.rate, method="adapt")
    silent = slice(2048, int(bar * song.rate) - 2048)
    assert np.linalg.norm(taught.voice[silent]) < 0.2 * np.linalg.norm(song.mixture[silent])
    assert gained(song, taught)[0] > 1
    assert not np.allclose(taught.voice, plain.voice)


def test_only_adapt_learns_and_only_from_a_passage_of_the_song(song):
    with pytest.raises(ValueError, match="'pcp' cannot learn from a passage without voice; use 'adapt'"):
        audio.split(song.mixture, song.rate, method="pcp", no_voice=(0, 1))
    for passage in ((2.0, 1.0), (0.0, 99.0), (-1.0, 1.0)):
        with pytest.raises(ValueError, match="no_voice"):
            audio.split(song.mixture, song.rate, method="adapt", no_voice=passage)
    with pytest.raises(ValueError, match="silent"):
        audio.split(np.zeros(16000), 16000, method="adapt", no_voice=(0, 1))
