"""`separate`: songs from files, folders or samples, as one call, and what it says of them."""

import json

import numpy as np
import pytest
from sounds import RATE, Upper, stem, tones, untrained, write_sound

from unmingle import Encoder, store
from unmingle.apps.audio import Outputs, Settings, Stream, separate, split
from unmingle.apps.audio.methods import as_method, load_method
from unmingle.media import MediaError


@pytest.fixture
def album(tmp_path):
    folder = tmp_path / "album"
    folder.mkdir()
    for name, seconds in (("a", 1.0), ("b", 2.0)):
        write_sound(folder / f"{name}.wav", tones(seconds, channels=2))
    return folder


def test_a_folder_is_separated_song_by_song(album, tmp_path):
    seen, finished = [], []
    result = separate(
        album, Outputs(tmp_path / "out", "wav"), Settings(Upper()), progress=seen.append, finished=finished.append
    )
    assert [song.seconds for song in result.songs] == [1.0, 2.0]
    assert finished == list(result.songs)
    assert [(one.source.name, one.number, one.n_songs) for one in seen if one.done == 0] == [
        ("a.wav", 1, 2),
        ("b.wav", 2, 2),
    ]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(
        path.name for path in result.written.values()
    )
    assert result.written["b.wav: voice"] == tmp_path / "out" / "b.voice.wav"
    told = json.loads(json.dumps(result.summary()))
    assert [song["source"] for song in told["songs"]] == [str(album / "a.wav"), str(album / "b.wav")]
    assert told["failures"] == result.warnings == []


def test_a_song_that_fails_keeps_none_of_the_others(album, tmp_path):
    (album / "a.wav").write_bytes(b"no sound at all")
    result = separate([album, tmp_path / "missing.wav"], Outputs(tmp_path / "out"), Settings(Upper()))
    assert [song.source.name for song in result.songs] == ["b.wav"]
    assert result.warnings == [str(failure) for failure in result.failures]
    assert "missing.wav does not exist" in result.warnings[1]
    with pytest.raises(MediaError, match=r"missing\.wav does not exist"):
        separate(tmp_path / "missing.wav", Outputs(tmp_path / "out"))


def test_samples_become_files_named_song(tmp_path):
    samples = tones(1.5)[:, 0]
    result = separate((samples, RATE), Outputs(tmp_path, report=True), Settings(Upper()))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["song.html", "song.music.flac", "song.voice.flac"]
    assert result.stems is None
    assert np.abs(stem(result.written["voice"])[:, 0] - split(samples, RATE, method=Upper()).voice).max() < 1e-6


@pytest.mark.parametrize("channels", [None, 2])
def test_without_a_folder_the_stems_stay_in_memory(album, channels):
    samples = tones(1.5)[:, 0] if channels is None else tones(1.5, channels=2).astype(np.float64)
    stems, expected = separate((samples, RATE), settings=Settings(Upper())).stems, split(samples, RATE, method=Upper())
    np.testing.assert_array_equal(stems.voice, expected.voice)
    np.testing.assert_array_equal(stems.music, expected.music)
    result = separate(album, settings=Settings(Upper()))
    assert (result.stems, result.written) == (None, {})
    assert result.songs[1].stems.voice.shape == (2 * RATE, 2)


def test_a_passage_without_voice_of_samples_is_learnt_from(tmp_path):
    samples = tones(3.0)[:, 0]
    found = separate((samples, RATE), settings=Settings(no_voice=(0.0, 1.5)))
    assert found.songs[0].method.name == "adapt"
    np.testing.assert_array_equal(found.stems.voice, split(samples, RATE, no_voice=(0.0, 1.5)).voice)


def test_models_are_methods_too(tmp_path):
    network = untrained()
    network.encoder.save(tmp_path / "net.safetensors")
    Stream(RATE, method=network).save(tmp_path / "stream.safetensors")
    samples = tones(1.0)[:, 0]
    expected = split(samples, RATE, method=network).voice
    for method in (network.encoder, *map(load_method, sorted(tmp_path.glob("*.safetensors")))):
        np.testing.assert_array_equal(split(samples, RATE, method=method).voice, expected)
    with pytest.raises(ValueError, match=r"method must be one of 'voice', .* a Method or a model, got 3"):
        as_method(3)
    store.save(tmp_path / "six.safetensors", "Encoder", Encoder.from_components(
        np.ones((1, 6)), rank_penalty=0.1, outlier_penalty=0.1, n_layers=1)._to_store())  # fmt: skip
    with pytest.raises(ValueError, match="must have 513 features"):
        load_method(tmp_path / "six.safetensors")
