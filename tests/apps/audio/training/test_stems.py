"""Folders of songs with known voice and music: what is found, read and refused; what is left out."""

import numpy as np
import pytest
import soundfile
from stems import RATE, write_stems

from unmingle.apps.audio.training.judging import folds
from unmingle.apps.audio.training.stems import find_stems, read_music
from unmingle.media import MediaError


def test_channels_and_pairs_of_files_are_found(tmp_path):
    write_stems(tmp_path, ["anna_1_01"])
    rng = np.random.default_rng(0)
    voice, music = rng.uniform(-0.5, 0.5, (2, 3000))
    soundfile.write(tmp_path / "bert_2_01.voice.wav", voice, 8000, "FLOAT")
    soundfile.write(tmp_path / "bert_2_01.music.flac", np.stack([music, music], axis=1)[:2000], 8000)
    one, two = find_stems(tmp_path)
    assert (one.name, one.singer, one.song) == ("anna_1_01", "anna", "anna_1")
    assert (two.name, two.singer, two.song) == ("bert_2_01", "bert", "bert_2")
    pair = two.read()
    assert len(pair.voice) == len(pair.music) == 4000  # at 16 kHz, as long as the shorter one
    for part in (one.read().voice, one.read().music, pair.voice):
        assert part.dtype == np.float32
        assert np.mean(part.astype(np.float64) ** 2) == pytest.approx(1, rel=0.02)


def test_the_left_channel_is_music(tmp_path):
    sound = np.zeros((1600, 2))
    sound[:, 0], sound[:, 1] = np.sin(np.arange(1600)), 0.1 * np.sign(np.sin(np.arange(1600) / 9 + 1))
    soundfile.write(tmp_path / "a_1_1.wav", sound, RATE, "FLOAT")
    (pair,) = (source.read() for source in find_stems(tmp_path))
    assert np.allclose(pair.music, sound[:, 0] / np.sqrt(np.mean(sound[:, 0] ** 2)), atol=1e-6)
    assert np.allclose(pair.voice, np.sign(sound[:, 1]), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "sound", "words"),
    [
        ("a.voice.wav", np.ones(10), r"a.voice.wav has no music beside it; expected a.music.wav"),
        ("a.music.wav", np.ones(10), r"a.music.wav has no voice beside it"),
        ("a.wav", np.ones(10), r"should have two channels, music to the left and voice to the right, not 1"),
        ("a.wav", np.zeros((10, 2)), r"is silent in one of its parts"),
        ("a.wav", np.zeros((0, 2)), r"is silent|is empty|no samples|contains no sound"),
    ],
)
def test_what_is_no_pair_is_told(tmp_path, name, sound, words):
    soundfile.write(tmp_path / name, sound, RATE)
    with pytest.raises(MediaError, match=words):
        [source.read() for source in find_stems(tmp_path)]


def test_folders_that_are_none_are_told(tmp_path):
    with pytest.raises(MediaError, match="is not a folder"):
        find_stems(tmp_path / "nowhere")


def test_further_music_has_power_one_and_silence_is_left_out(tmp_path):
    soundfile.write(tmp_path / "loud.wav", np.random.default_rng(0).uniform(-1, 1, (4800, 2)), 48000, "FLOAT")
    soundfile.write(tmp_path / "silent.wav", np.zeros(100), RATE)
    (piece,) = read_music([tmp_path])
    assert len(piece) == 1600
    assert np.mean(piece**2) == pytest.approx(1, rel=1e-5)


def test_songs_and_singers_are_left_out_whole(tmp_path):
    names = [f"{singer}_{song}_{clip}" for singer in ("anna", "bert") for song in range(5) for clip in range(2)]
    pairs = [source.read() for source in find_stems(write_stems(tmp_path, names, 1))]
    (fold,) = folds(pairs, "songs", seed=3)
    assert (len(fold.judged), len(fold.kept)) == (4, 16)
    out, kept = ({pair.source.song for pair in part} for part in (fold.judged, fold.kept))
    assert len(out) == 2
    assert not out & kept
    assert folds(pairs, "songs", seed=3)[0].judged[0].source == fold.judged[0].source
    assert {pair.source.song for pair in folds(pairs, "songs", seed=4)[0].judged} != out
    assert [(fold.name, len(fold.judged)) for fold in folds(pairs, "singers")] == [("anna", 10), ("bert", 10)]
    (named,) = folds(pairs, "anna_1,bert_4")
    assert (named.name, len(named.judged)) == ("anna_1+bert_4", 4)
    with pytest.raises(ValueError, match="No song or singer is called carl; there are anna, bert"):
        folds(pairs, "carl,anna_1")
    with pytest.raises(ValueError, match="nothing to learn from"):
        folds(pairs, "anna,bert")
