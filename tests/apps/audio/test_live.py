"""Live sound: what is heard is what the stream gives, gaps are counted, and the latency stays."""

import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sounds import RATE, Upper, tones, untrained, write_sound

from unmingle.apps.audio import Loopback, SoundCard, Stream, listen
from unmingle.apps.audio._live import Ring, Session
from unmingle.apps.audio.sound_devices import list_devices


@given(st.lists(st.tuples(st.sampled_from(["write", "read", "skip"]), st.integers(0, 9)), max_size=40))
def test_a_ring_is_a_queue_of_limited_length(steps):
    ring, queue, number = Ring(7, 2), [], 0
    for step, count in steps:
        if step == "write":
            block = np.arange(number, number + count, dtype=np.float32)
            number += count
            taken = ring.write(np.stack([block, -block], axis=1))
            assert taken == min(count, 7 - len(queue))
            queue += block[:taken].tolist()
        elif step == "read":
            out = np.full((count, 2), np.nan, np.float32)
            given_ = ring.read_into(out)
            assert out[:given_].tolist() == [[value, -value] for value in queue[:count]]
            assert np.isnan(out[given_:]).all()
            queue = queue[count:]
        else:
            assert ring.skip(count) == len(queue[:count])
            queue = queue[count:]
        assert len(ring) == len(queue)


@pytest.mark.parametrize("low_latency", [False, True])
@pytest.mark.parametrize("hear", ["voice", "music"])
def test_what_is_played_is_the_stem_late_by_the_latency(tmp_path, hear, low_latency):
    samples = tones(1.5, 44100, channels=2)
    options = {"channels": 2, "method": untrained(), "low_latency": low_latency}
    driver = Loopback(write_sound(tmp_path / "a.wav", samples, 44100), paced=False, keep=True)
    stream = Stream(44100, **options)
    stats = listen(driver, stream, hear=hear)
    hop = stream.frames.hop
    assert stats.latency == stream.latency + 2 * hop
    reference = Stream(44100, **{**options, "method": untrained()})
    pushed = np.concatenate([getattr(reference.push(samples), hear), getattr(reference.flush(), hear)])
    expected = pushed[stream.latency :]
    played = np.concatenate(driver.played)
    assert not played[: stats.latency - stream.latency].any()
    assert np.abs(played[stats.latency : stats.latency + len(samples)] - expected).max() < 1e-6
    assert (stats.underruns, stats.overruns) == (0, 0)
    assert stats.hops == (len(samples) + stats.latency) // hop
    assert 0 < stats.median <= stats.p99 <= stats.longest


def test_a_file_plays_at_its_own_speed(monkeypatch):
    """The clock of this test moves only when somebody sleeps."""
    now, slept = [100.0], []

    def sleep(seconds):
        slept.append(seconds)
        now[0] += seconds

    from unmingle.apps.audio import sound_devices

    monkeypatch.setattr(sound_devices, "perf_counter", lambda: now[0])
    monkeypatch.setattr(sound_devices, "sleep", sleep)
    stats = listen(Loopback(tones(1.0), RATE), Stream(RATE, method=Upper()))
    assert sum(slept) == pytest.approx(stats.seconds, abs=0.017)
    assert max(slept) < 0.017


class Slow(Upper):
    """Waits before each frame until it is allowed to go on."""

    def __init__(self):
        self.gate = threading.Semaphore(0)

    def parts(self, magnitudes):
        if len(magnitudes):
            self.gate.acquire()
        return super().parts(magnitudes)


def session_of(method):
    stream = Stream(RATE, method=method)
    return Session(stream, stream.frames.hop, 1), stream


def test_a_gap_is_counted_and_the_latency_stays():
    method = Slow()
    session, stream = session_of(method)
    hop, sound = stream.frames.hop, tones(1.0)
    blocks = [sound[i : i + hop] for i in range(0, 40 * hop, hop)]
    played = []

    def exchange(block):
        out = np.full_like(block, np.nan)
        assert session.exchange(block, out)
        played.append(out)

    with session:
        for block in blocks[:10]:
            method.gate.release()
            exchange(block)
            session.settle()
        for block in blocks[10:16]:  # nothing is ready for a while
            exchange(block)
        method.gate.release(6)
        session.settle()
        for block in blocks[16:]:
            method.gate.release()
            exchange(block)
            session.settle()
    stats = session.stats()
    assert stats.underruns == 4  # two hops were in store
    assert stats.overruns == 0
    reference = Stream(RATE, method=Upper()).push(sound[: 40 * hop]).music
    found = np.concatenate(played)
    later = 2 * hop
    assert np.abs(found[later : 12 * hop] - reference[: 10 * hop]).max() < 1e-6
    assert not found[12 * hop : 16 * hop].any()
    assert np.abs(found[16 * hop :] - reference[14 * hop : 38 * hop]).max() < 1e-6


def test_blocks_for_which_there_is_no_room_are_counted():
    method = Slow()
    session, stream = session_of(method)
    hop = stream.frames.hop
    block, out = np.zeros((hop, 1), np.float32), np.empty((hop, 1), np.float32)
    room = (RATE + 2 * hop) // hop
    with session:
        for _ in range(room + 10):
            session.exchange(block, out)
        stats = session.stats()
        method.gate.release(1000)
    assert 8 <= stats.overruns <= 10  # a hop is in hand, perhaps


def test_what_spoils_the_separation_ends_it():
    class Failing(Upper):
        frames = 0

        def parts(self, magnitudes):
            type(self).frames += len(magnitudes)
            if self.frames > 150:  # after the warm-up
                raise RuntimeError("no more")
            return super().parts(magnitudes)

    driver = Loopback(tones(5.0), RATE, paced=False, keep=True)
    with pytest.raises(RuntimeError, match="no more"):
        listen(driver, Stream(RATE, method=Failing()))
    assert len(driver.played) < 100


def test_an_interrupt_ends_with_a_summary():
    class Interrupted(Loopback):
        def run(self, session):
            super().run(session)
            raise KeyboardInterrupt

    stats = listen(Interrupted(tones(0.5), RATE, paced=False), Stream(RATE, method=Upper()))
    assert stats.interrupted
    assert stats.summary()["hops"] == stats.hops > 30
    assert threading.active_count() < 10


def test_a_stream_that_goes_on_is_not_warmed_up_itself():
    sound = tones(1.0)
    stream, other = Stream(RATE, method=untrained()), Stream(RATE, method=untrained())
    for each in (stream, other):
        each.push(sound)
    driver = Loopback(sound, RATE, paced=False, keep=True)
    stats = listen(driver, stream)
    expected = other.push(sound).voice
    played = np.concatenate(driver.played)[stats.latency - stream.latency :]
    assert np.abs(played[: len(sound)] - expected).max() < 1e-6


def test_a_stream_must_fit_to_its_driver():
    with pytest.raises(ValueError, match="must be as the driver, 16000 Hz and 2 channels; it has 44100 Hz and 1"):
        listen(Loopback(tones(1.0, channels=2), RATE), Stream(44100, method=Upper()))
    with pytest.raises(ValueError, match="hear must be one of 'voice', 'music'"):
        listen(Loopback(tones(1.0), RATE), Stream(RATE, method=Upper()), hear="drums")
    with pytest.raises(ValueError, match="rate must be given"):
        Loopback(tones(1.0))


class PortAudioError(Exception):
    pass


def card(monkeypatch, blocks=100, inputs=2, outputs=6):
    """A library that knows a microphone of 48 kHz and loudspeakers, and calls so many times."""
    played = []
    found = [
        {"name": "Mic", "max_input_channels": inputs, "max_output_channels": 0, "default_samplerate": 48000.0},
        {"name": "Speakers", "max_input_channels": 0, "max_output_channels": outputs, "default_samplerate": 44100.0},
    ]

    class CallbackStop(Exception):
        pass

    class CardStream:
        def __init__(self, *, samplerate, blocksize, device, channels, dtype, latency, callback, finished_callback):
            assert (samplerate, blocksize, dtype) == (48000.0, 768, "float32")
            self.callback, self.finished = callback, finished_callback
            self.shape = (blocksize, channels)

        def __enter__(self):
            for number in range(blocks):
                out = np.full(self.shape, np.nan, np.float32)
                try:
                    self.callback(np.full(self.shape, number / blocks, np.float32), out, len(out), None, None)
                except CallbackStop:
                    break
                played.append(out)
            self.finished()

        def __exit__(self, *error):
            pass

    def query(device=None, kind=None):
        if device == "missing":
            raise ValueError("No input device matching 'missing'")
        return found if kind is None else found[kind == "output"]

    library = SimpleNamespace(
        query_devices=query, Stream=CardStream, PortAudioError=PortAudioError, CallbackStop=CallbackStop
    )
    monkeypatch.setitem(sys.modules, "sounddevice", library)
    return played


def test_the_sound_card_is_asked_for_what_it_has(monkeypatch):
    played = card(monkeypatch)
    driver = SoundCard()
    assert (driver.rate, driver.channels, driver.block) == (48000.0, 2, 768)
    stats = listen(driver, Stream(driver.rate, channels=2, method=Upper()))
    assert len(played) == 100
    assert all(np.isfinite(block).all() for block in played)
    assert stats.seconds == pytest.approx(1.6)
    assert [device.name for device in list_devices()] == ["Mic", "Speakers"]


def test_devices_that_cannot_be_used_are_told(monkeypatch):
    card(monkeypatch, outputs=0)
    with pytest.raises(ValueError, match="Mic and Speakers are not an input and an output"):
        SoundCard()
    with pytest.raises(ValueError, match="cannot be used: No input device matching 'missing'; unmingle audio --dev"):
        SoundCard("missing")


def test_a_missing_library_of_the_system_is_told(monkeypatch):
    from unmingle.apps.audio import sound_devices

    def missing(module, extra):
        raise OSError("PortAudio library not found")

    monkeypatch.setattr(sound_devices, "require", missing)
    with pytest.raises(ValueError, match="finds no library PortAudio; install it"):
        list_devices()
