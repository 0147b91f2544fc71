"""Trained networks: those that come with unmingle, and how they follow a song."""

import numpy as np
import pytest
from scipy.signal import resample_poly

import unmingle
from unmingle import metrics, synth
from unmingle.apps import audio
from unmingle.apps.audio.networks import EDGES, FEATURES, WIDTHS, Front, load_shipped, path_of_shipped
from unmingle.apps.audio.settings import SHIPPED
from unmingle.apps.audio.stft import BINS
from unmingle.apps.audio.training.stems import RATE, find_stems


def test_features_cover_all_bins_once():
    assert EDGES[0] == 0
    assert WIDTHS.sum() == BINS
    assert (WIDTHS >= 1).all()
    assert FEATURES == 240


def test_sums_over_bands_are_those_of_a_matrix():
    rng = np.random.default_rng(0)
    frames = rng.random((4, 3, BINS))
    matrix = np.zeros((BINS, FEATURES))
    matrix[np.arange(BINS), np.repeat(np.arange(FEATURES), WIDTHS)] = 1
    assert np.allclose(Front.sums(frames), frames @ matrix)
    assert np.array_equal(Front.spread(frames[..., :FEATURES], BINS), frames[..., :FEATURES] @ matrix.T)


def test_features_are_roots_of_means_over_their_usual_size():
    frames = np.full((2, BINS), 9.0, np.float32)
    assert np.allclose(Front(np.full(FEATURES, 2.0)).features(frames), 1.5)
    assert not Front(np.ones(FEATURES)).features(frames[:, :100])[:, 100:].any()


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_networks_separate_people_who_sing(name, data_dir):
    """Clips that they have learnt from, at the rates of telephones and of discs; made voices would prove little."""
    for source in find_stems(data_dir / "audio" / "mir1k" / "train")[::35]:
        pair = source.read()
        for up, down in ((1, 2), (441, 160)):
            truth = np.stack([resample_poly(part, up, down) for part in (pair.voice, pair.music)])
            mixture = truth.sum(axis=0)
            found = audio.split(mixture, RATE * up / down, method=name)
            assert np.abs(found.voice + found.music - mixture).max() < 1e-5 * np.abs(mixture).max()
            assert metrics.nsdr(truth, np.stack(found), mixture).min() > 3


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_networks_are_small_and_tell_where_they_are_from(name):
    limit = {"voice": 5_500_000, "phone": 500_000}[name]
    assert path_of_shipped(name).stat().st_size < limit
    card = load_shipped(name).card_
    assert {"data", "licence", "seed", "steps", "weights", "command", "latency"} <= set(card)
    assert card["network"] == name
    assert len(card["scores"]["singers"]) == 9
    assert card["scores"]["mean"] == pytest.approx(np.mean(list(card["scores"]["singers"].values())), abs=0.5)
    assert {"batched", "stream"} <= set(card["cost"])


def test_the_best_network_is_the_default():
    song = synth.song(4.0, random_state=0)
    default, named = (audio.split(song.mixture, song.rate, **how) for how in ({}, {"method": "voice"}))
    assert np.array_equal(default.voice, named.voice)


@pytest.mark.parametrize("block", [1, 100, 256, 4096])
def test_a_stream_hears_what_is_heard_at_once(block):
    song = synth.song(4.0, random_state=0)
    mixture = song.mixture.astype(np.float32)
    whole = audio.split(mixture, song.rate, method="phone")
    stream = audio.Stream(song.rate, method="phone")
    found = [stream.push(mixture[i : i + block]).voice for i in range(0, len(mixture), block)]
    voice = np.concatenate([*found, stream.flush().voice])[stream.latency :]
    assert np.abs(voice - whole.voice).max() < 1e-6


def test_a_stream_saved_in_the_middle_goes_on_bit_for_bit(tmp_path):
    mixture = synth.song(4.0, random_state=0).mixture.astype(np.float32)
    stream = audio.Stream(16000, method="phone")
    stream.push(mixture[:15000])
    stream.save(tmp_path / "stream.safetensors")
    again = unmingle.load(tmp_path / "stream.safetensors")
    assert np.array_equal(again.push(mixture[15000:]).voice, stream.push(mixture[15000:]).voice)


def test_louder_songs_are_separated_alike():
    song = synth.song(4.0, random_state=0)
    plain, loud = (audio.split(gain * song.mixture, song.rate).voice / gain for gain in (1.0, 10.0))
    assert np.abs(plain - loud).max() < 1e-4 * np.abs(plain).max()


def test_networks_with_other_features_are_refused():
    network = load_shipped("phone").encoder_
    with pytest.raises(ValueError, match="sees 240 features, each with a positive usual size"):
        audio.VoiceModel(network, np.zeros(240))
    with pytest.raises(ValueError, match="with 7 sizes"):
        audio.VoiceModel(network, np.ones(7))
