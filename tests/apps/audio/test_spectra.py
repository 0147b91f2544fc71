import numpy as np
import pytest

import unmingle
from unmingle import synth
from unmingle.apps import audio
from unmingle.apps.audio.nonnegative import LESSONS, Adaptive, Spectra, penalties_at_level_one

BINS, BATCH, SOUNDS = 200, LESSONS.frames, 4
START = LESSONS.start


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def made(rng, *lengths):
    """Music of level one, of other sounds in each passage, and a voice in some bins."""
    passages = [rng.gamma(1.0, 1.0, (n, SOUNDS)) @ rng.gamma(0.5, 1.0, (SOUNDS, BINS)) for n in lengths]
    music = np.concatenate([part / np.sqrt(np.mean(part**2)) for part in passages]).astype(np.float32)
    return music, np.where(rng.random(music.shape) < 0.05, 5.0, 0.0).astype(np.float32)


def off(found, truth):
    """How far an answer is from the truth, relative."""
    return np.linalg.norm(found - truth) / np.linalg.norm(truth)


def test_music_and_voice_are_told_from_the_start_on_and_after_a_change(rng):
    lengths = (300, 600)
    music, voice = made(rng, *lengths)
    parts = Adaptive(10).parts(music + voice)
    for last in (START, sum(lengths[:1]), sum(lengths)):
        some = slice(last - 3 * BATCH, last)
        assert off(parts.music[some], music[some]) < 0.3
        assert off(parts.voice[some], voice[some]) < 0.3


def test_there_are_never_more_spectra_than_wanted_and_the_start_is_forgotten(rng):
    frames, spectra = sum(made(rng, 2 * START)), Spectra.none(BINS)
    penalties = penalties_at_level_one(LESSONS.sigma, LESSONS.window)
    for i in range(0, len(frames), BATCH):
        spectra = spectra.learn(frames[i : i + BATCH], 5, penalties)
        assert len(spectra.components) == min(i // 2 + BATCH // 2, 5)
        assert len(spectra.first) == (i + BATCH if i + BATCH < START else 0)


def test_frames_that_are_silent_or_nearly_so_do_no_harm(rng):
    music, voice = made(rng, 4 * START)
    frames = music + voice
    frames[1::2] = 0
    frames[: 2 * BATCH] *= np.float32(1e-38)
    music[1::2] = 0
    found = Adaptive(10).parts(frames).music[-6 * BATCH :]
    assert off(found, music[-6 * BATCH :]) < 0.3


def test_a_voice_is_heard_after_eight_frames():
    song = synth.song(4.0, random_state=0)
    voice = audio.split(song.mixture, song.rate, method="adapt", high_pass=None).voice
    hop = audio.Stream(song.rate).frames.hop
    assert not voice[: 4 * hop].any()
    assert np.abs(voice[8 * hop : 30 * hop]).max() > 0.01


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda content: content["memory"]["spectra"].update(weight=START - 1.0), "frames of the start"),
        (lambda content: content["network"].update(n_components=1), "at most 1 spectra"),
    ],
)
def test_spectra_that_do_not_fit_are_refused(tmp_path, spoil, message):
    song = synth.song(4.0, random_state=0)
    stream = audio.Stream(song.rate, method=Adaptive(3))
    stream.push(song.mixture)
    content = stream._to_store()
    spoil(content)
    unmingle.store.save(tmp_path / "bad.safetensors", "AudioStream", content)
    with pytest.raises(unmingle.store.StoreError, match=message):
        unmingle.load(tmp_path / "bad.safetensors")
