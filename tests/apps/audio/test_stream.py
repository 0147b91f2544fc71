import numpy as np
import pytest

import unmingle
from unmingle import Encoder, synth
from unmingle._fields import to_store
from unmingle.apps import audio
from unmingle.apps.audio._engine import Engine
from unmingle.apps.audio._stream import start, step
from unmingle.apps.audio.networks import Encoded
from unmingle.apps.audio.nonnegative import Adaptive

RATE = 16000


class Everything(audio.Method):
    """All is voice."""

    name, summary, streams, high_pass = "everything", "a test", True, None

    def parts(self, magnitudes):
        return audio.Parts(np.ones_like(magnitudes), np.zeros_like(magnitudes))


@pytest.fixture(scope="module")
def song():
    return synth.song(5.0, RATE, random_state=0).mixture


@pytest.fixture(scope="module")
def encoder():
    rng = np.random.default_rng(0)
    return Encoder.from_components(
        0.2 * rng.random((6, 513)), rank_penalty=0.1, outlier_penalty=0.3, n_layers=5,
        nonnegative_codes=True, nonnegative_outliers=True,
    )  # fmt: skip


@pytest.fixture(params=["adapt", "encoder"])
def make(request, encoder):
    return lambda: Encoded(encoder) if request.param == "encoder" else Adaptive(n_components=5)


def played(stream, sound, block):
    found = [stream.push(sound[i : i + block]) for i in range(0, len(sound), block)]
    latency = stream.latency
    found.append(stream.flush())
    return audio.Stems(*(np.concatenate(parts)[latency:] for parts in zip(*found, strict=True)))


@pytest.mark.parametrize("low_latency", [False, True])
@pytest.mark.parametrize("block", [1, 100, 256, 4096])
def test_a_stream_is_the_same_as_offline(song, make, block, low_latency):
    sound = song[: 2 * RATE] if block == 1 else song
    whole = audio.split(sound, RATE, method=make(), low_latency=low_latency)
    stems = played(audio.Stream(RATE, method=make(), low_latency=low_latency), sound, block)
    np.testing.assert_allclose(stems.voice, whole.voice, atol=1e-6)
    np.testing.assert_allclose(stems.voice + stems.music, sound, atol=1e-6)
    assert np.abs(whole.voice).max() > 0.01


@pytest.mark.parametrize("rate", [8000, 16000, 44100])
@pytest.mark.parametrize("low_latency", [False, True])
def test_an_impulse_comes_after_the_latency(rate, low_latency):
    stream = audio.Stream(rate, method=Everything(), low_latency=low_latency)
    assert stream.latency <= (0.0321 if low_latency else 0.08) * rate
    sound = np.zeros(6 * stream.latency, np.float32)
    sound[1234] = 1.0
    out = np.concatenate([stream.push(sound[i : i + 97]).voice for i in range(0, len(sound), 97)])
    expected = np.zeros_like(sound)
    expected[1234 + stream.latency] = 1.0
    np.testing.assert_allclose(out, expected, atol=1e-6)


def test_only_the_past_counts(song, make):
    changed = song.copy()
    changed[3 * RATE :] = song[: len(song) - 3 * RATE]
    one, other = (played(audio.Stream(RATE, method=make()), sound, 1000).voice for sound in (song, changed))
    known = 3 * RATE - 1024
    np.testing.assert_array_equal(one[:known], other[:known])
    assert not np.allclose(one[known + 2048 :], other[known + 2048 :])


@pytest.mark.parametrize("after", [1, 20])
def test_a_saved_stream_goes_on_as_if_unbroken(song, make, tmp_path, after):
    def run(interrupted):
        stream, found = audio.Stream(RATE, method=make()), []
        for count, i in enumerate(range(0, len(song), 1500)):
            found.append(stream.push(song[i : i + 1500]).voice)
            if interrupted and count == after:
                stream.save(tmp_path / "stream.safetensors")
                stream = unmingle.load(tmp_path / "stream.safetensors")
        return np.concatenate([*found, stream.flush().voice])

    np.testing.assert_array_equal(run(False), run(True))


def test_after_a_flush_everything_begins_anew(song, make):
    stream = audio.Stream(RATE, method=make())
    np.testing.assert_array_equal(played(stream, song, 700).voice, played(stream, song, 700).voice)


def test_channels_share_one_mask(song, make):
    stereo = np.stack([song, 0.25 * song[::-1]], axis=1)
    stems = audio.split(stereo, RATE, method=make())
    swapped = audio.split(stereo[:, ::-1], RATE, method=make())
    np.testing.assert_allclose(stems.voice, swapped.voice[:, ::-1], atol=1e-6)
    twice = audio.split(np.stack([song, song], axis=1), RATE, method=make())
    np.testing.assert_allclose(twice.voice[:, 0], audio.split(song, RATE, method=make()).voice, atol=1e-5)


@pytest.mark.parametrize("method", ["pcp", "proximal", "nmf"])
def test_methods_of_passages_do_not_stream(method):
    with pytest.raises(ValueError, match=rf"{method}.*cannot stream; take 'voice' or 'adapt'"):
        audio.Stream(RATE, method=method)


def test_a_block_of_other_channels_or_with_nan_is_refused():
    stream = audio.Stream(RATE, channels=2)
    with pytest.raises(ValueError, match="2 channels, got block with 1"):
        stream.push(np.zeros(10))
    with pytest.raises(ValueError, match=r"finite.*sample 3"):
        stream.push(np.array([[0.0, 0.0]] * 3 + [[np.nan, 0.0]]))


def test_a_stream_whose_buffers_do_not_fit_is_refused(song, tmp_path):
    stream = audio.Stream(RATE, method=Adaptive(n_components=3))
    stream.push(song[:5000])
    content = stream._to_store()
    content["state"]["engine"]["held"] = content["state"]["engine"]["held"][:10]
    unmingle.store.save(tmp_path / "bad.safetensors", "AudioStream", content)
    with pytest.raises(unmingle.store.StoreError, match="does not hold"):
        unmingle.load(tmp_path / "bad.safetensors")


class Fragile(Everything):
    """Fails when it is told to, in the middle of its work."""

    fails = False

    def parts(self, magnitudes):
        if self.fails:
            raise RuntimeError("no more")
        return super().parts(magnitudes)


def test_a_block_that_fails_leaves_the_stream_as_it_was(song):
    method = Fragile()
    stream, other = (audio.Stream(RATE, method=method) for _ in range(2))
    for each in (stream, other):
        each.push(song[:5000])
    method.fails = True
    with pytest.raises(RuntimeError, match="no more"):
        stream.push(song[5000:9000])
    method.fails = False
    np.testing.assert_array_equal(stream.push(song[5000:]).voice, other.push(song[5000:]).voice)


def test_a_state_is_a_value_from_which_a_stream_goes_on_again_and_again(song, make):
    engine = Engine.of(make(), RATE, 1, np.float32, "auto")
    samples = song[:, None].astype(np.float32)
    state, _ = step(engine, start(engine), samples[: 2 * RATE])
    (once, first), (twice, second) = (step(engine, state, samples[2 * RATE : 3 * RATE]) for _ in range(2))
    np.testing.assert_array_equal(first.voice, second.voice)
    for one, other in zip(to_store(once).values(), to_store(twice).values(), strict=True):
        np.testing.assert_equal(one, other)


def test_music_that_was_learnt_stays_known_and_the_method_given_stays_as_it_was(song):
    method = Adaptive(n_components=3)
    stream = audio.Stream(RATE, method=method)
    stream.learn_music(song[:RATE])
    learnt = stream.method.music
    played(stream, song, 4000)
    assert stream.method.music is learnt
    assert len(learnt) == 3
    assert method.music is None
