"""Songs made of known ones: parts that add up, by their number alone, louder, higher and through equalisers."""

import numpy as np
import pytest
from stems import RATE, write_stems

from unmingle.apps.audio.networks import Front
from unmingle.apps.audio.stft import Level
from unmingle.apps.audio.training.mixing import Mixer, Mixing
from unmingle.apps.audio.training.stems import StemFiles, StemPair, find_stems
from unmingle.kernels.resampling import read_at_speed

SMALL = {"sequences": 4, "frames": 20}
PLAIN = {"voice_tone": 0.0, "music_tone": 0.0, "music_pitch": 0.0, "gain": 0.0, "silent": 0.0}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    return [source.read() for source in find_stems(write_stems(tmp_path_factory.mktemp("songs")))]


def test_a_number_makes_a_batch(pairs):
    one, same, other = (Mixer(pairs, seed=1, mixing=Mixing(**SMALL)).songs(number) for number in (5, 5, 6))
    assert one.voice.shape == one.music.shape == (4, 20, 513)
    assert np.array_equal(one.voice, same.voice)
    assert not np.array_equal(one.voice, other.voice)
    assert not np.array_equal(one.voice, Mixer(pairs, seed=2, mixing=Mixing(**SMALL)).songs(5).voice)


def test_true_pairs_are_passages_of_the_songs(pairs):
    """Nothing is changed: the spectra of each are those of the song at some place."""
    songs = Mixer(pairs[:1], mixing=Mixing(**SMALL, **PLAIN, true_pairs=1.0)).songs(0)
    pair, window = pairs[0], np.hanning(1025)[:-1]
    for made, part in ((songs.voice, pair.voice), (songs.music, pair.music)):
        frames = np.lib.stride_tricks.sliding_window_view(np.concatenate([part, part[:1024]]), 1024)[: len(part)]
        heard = np.abs(np.fft.rfft(frames[::8] * window))[:, :512]  # places are between samples: compare magnitudes
        ours = np.abs(made[0, 3, :512])
        near = np.linalg.norm(heard - ours, axis=1).min() / np.linalg.norm(ours)
        assert near < 0.05


def test_gains_and_equalisers_change_what_they_should(pairs):
    loud = Mixer(pairs, mixing=Mixing(**SMALL, **(PLAIN | {"gain": 20.0}), true_pairs=1.0)).songs(0)
    powers = np.square(np.abs(loud.voice)).sum((1, 2))
    assert powers.max() > 10 * powers.min()
    plain, toned = (
        Mixer(pairs, mixing=Mixing(**SMALL, **(PLAIN | {"voice_tone": tone}), true_pairs=1.0)).songs(0).voice
        for tone in (0.0, 9.0)
    )
    ratio = np.abs(toned).sum(1) / np.maximum(np.abs(plain).sum(1), 1e-9)
    assert np.allclose(np.square(np.abs(toned)).sum((1, 2)), np.square(np.abs(plain)).sum((1, 2)), rtol=1e-3)
    assert np.std(np.log(ratio[:, 5:400]), axis=1).min() > 0.2


def test_further_music_is_taken(pairs):
    tone = np.sqrt(2) * np.sin(2 * np.pi * 3000 * np.arange(RATE) / RATE).astype(np.float32)
    how = Mixing(**SMALL, **PLAIN, true_pairs=0.0, shifted_pairs=0.0, other_music=1.0, doubled=0.0)
    songs = Mixer(pairs, [tone], mixing=how).songs(0)
    assert (np.abs(songs.music).sum(1).argmax(1) == 192).all()  # 3 kHz


def test_singers_come_equally_often_however_many_songs_they_have():
    tones = {name: np.sin(2 * np.pi * hertz * np.arange(RATE) / RATE) for name, hertz in (("a", 1000), ("b", 2000))}
    pairs = [
        StemPair(StemFiles(f"{name}_{number}", None, None), tones[name].astype(np.float32), np.ones(RATE, np.float32))
        for name, count in (("a", 9), ("b", 1))
        for number in range(count)
    ]
    mixer = Mixer(pairs, mixing=Mixing(sequences=40, frames=3, **PLAIN, true_pairs=1.0, balanced=True))
    heard = np.abs(mixer.songs(0).voice).sum(1).argmax(1)
    assert set(heard) == {64, 128}
    assert 10 <= np.count_nonzero(heard == 64) <= 30


def test_what_training_sees_tells_the_distance_of_a_masked_mixture(pairs):
    songs = Mixer(pairs, mixing=Mixing(**SMALL)).songs(2)
    x, power, common, voice, total = songs.arrays(Front.neutral())
    mask = np.random.default_rng(0).random((20, 4, 240)).astype(np.float32)
    X, M = songs.voice + songs.music, Front.spread(mask, 513).swapaxes(0, 1)
    error = np.square(np.abs(M * X - songs.voice)).sum((1, 2))
    assert np.allclose((mask * (mask * power - 2 * common)).sum((0, 2)) + voice, error, rtol=1e-4)
    assert np.allclose(total - voice, np.square(np.abs(songs.music)).sum((1, 2)), rtol=1e-5)
    heard = np.abs(X[1])
    assert np.allclose(x[:, 1], Front.neutral().features(heard / Level().step(heard)[1]), rtol=1e-4)


def test_no_songs_are_refused():
    with pytest.raises(ValueError, match="at least one song"):
        Mixer([])


@pytest.mark.parametrize("ratio", [0.7, 1.0, 1.3])
def test_sound_at_another_speed_is_a_tone_of_another_pitch(ratio):
    n, tone = 4000, 0.11
    samples, out = np.sin(tone * np.arange(n)).astype(np.float32), np.empty(800, np.float32)
    read_at_speed(samples, 0.25, ratio, out)
    expected = np.sin(tone * (0.25 * n + ratio * np.arange(800)))
    assert np.abs(out - expected).max() < 0.01


def test_sound_that_ends_begins_again():
    samples, out = np.arange(40, dtype=np.float32), np.empty(100, np.float32)
    read_at_speed(np.ones(40, np.float32), 0.9, 1.0, out)
    assert np.allclose(out, 1, atol=1e-5)
    read_at_speed(samples, 0.5, 1.0, out)
    assert np.allclose(out[25:35], np.arange(5, 15), atol=0.6)
