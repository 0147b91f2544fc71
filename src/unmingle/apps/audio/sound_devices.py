"""What brings sound and takes it away: the sound card, or a file in its place."""

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from itertools import chain
from os import PathLike
from threading import Event
from time import perf_counter, sleep
from typing import Any, NamedTuple

import numpy as np

from ..._types import Float32Array
from ..._validation import require
from ...media import open_sound
from ._live import Session
from .stft import Frames, as_samples


class Loopback:
    """A sound in place of a microphone: it comes block by block, and what is played is kept, or goes nowhere.

    Parameters
    ----------
    sound : path, or array of shape (n,) or (n, channels)
        A file, which is read as it plays, or samples.
    rate : float, optional
        Samples a second; a file has its own.
    paced : bool, default=True
        Whether it plays at its own speed, as a microphone does; otherwise a block comes when the last one is separated.
    keep : bool, default=False
        Whether to keep what was played in ``played``.

    Attributes
    ----------
    played : list of arrays
        Blocks that were played.
    """

    def __init__(self, sound: Any, rate: float | None = None, *, paced: bool = True, keep: bool = False) -> None:
        self._paced, self._keep, self.played = paced, keep, list[Float32Array]()
        self._source: Any = nullcontext()
        self._pieces: Iterable[Float32Array]
        if isinstance(sound, str | PathLike):
            self._pieces = self._source = source = open_sound(sound)
            self.rate, self.channels = float(source.rate), source.n_channels
        else:
            if rate is None:
                raise ValueError("rate must be given for samples; only files have one of their own.")
            samples = as_samples(sound, "sound")[0].astype(np.float32, copy=False)
            self._pieces, self.rate, self.channels = [samples], float(rate), samples.shape[1]
        self.block = Frames.of(self.rate).hop

    def run(self, session: Session) -> None:
        """Bring the sound and silence behind it, so that its last sample is heard too."""
        outgoing = np.empty((self.block, self.channels), np.float32)
        begun, number = perf_counter(), 0
        with self._source:
            for incoming in self._blocks(session.latency):
                number += 1
                if self._paced:
                    sleep(max(0.0, begun + number * self.block / self.rate - perf_counter()))
                if not session.exchange(incoming, outgoing[: len(incoming)]):
                    return
                if self._keep:
                    self.played.append(outgoing[: len(incoming)].copy())
                if not self._paced:
                    session.settle()

    def _blocks(self, latency: int) -> Iterator[Float32Array]:
        held = np.zeros((0, self.channels), np.float32)
        silence = np.zeros((latency, self.channels), np.float32)
        for piece in chain(self._pieces, [silence]):
            held = np.concatenate([held, piece])
            while len(held) >= self.block:
                yield held[: self.block]
                held = held[self.block :]
        if len(held):
            yield held


class SoundDevice(NamedTuple):
    """A device for sound."""

    number: int
    name: str
    inputs: int
    """Channels that come from it."""
    outputs: int
    """Channels that go to it."""
    rate: float
    """Samples a second, unless asked otherwise."""


def list_devices() -> list[SoundDevice]:
    """The devices for sound of this computer.

    Returns
    -------
    list of SoundDevice
    """
    return [
        SoundDevice(
            number, str(found["name"]), int(found["max_input_channels"]), int(found["max_output_channels"]),
            float(found["default_samplerate"]),
        )
        for number, found in enumerate(_library().query_devices())
    ]  # fmt: skip


class SoundCard:
    """Microphone or line in, and loudspeakers, by sounddevice; mono or stereo, at the rate of the input.

    Parameters
    ----------
    source, target : int or str, optional
        Numbers or names of devices, as `devices` lists them; those of the system by default.
    """

    def __init__(self, source: int | str | None = None, target: int | str | None = None) -> None:
        self._library = _library()
        self._devices = (source, target)
        try:
            came, goes = (
                self._library.query_devices(device, kind)
                for device, kind in zip(self._devices, ("input", "output"), strict=True)
            )
        except (self._library.PortAudioError, ValueError) as error:
            raise ValueError(_sentence(error)) from error
        self.channels = min(2, came["max_input_channels"], goes["max_output_channels"])
        if self.channels < 1:
            raise ValueError(
                f"{came['name']} and {goes['name']} are not an input and an output; --devices lists all devices."
            )
        self.rate = float(came["default_samplerate"])
        self.block = Frames.of(self.rate).hop

    def run(self, session: Session) -> None:
        """Let the sound card call, until the session ends or an interrupt comes."""
        over = Event()

        def called(incoming: Float32Array, outgoing: Float32Array, n: int, times: Any, status: Any) -> None:
            if not session.exchange(incoming, outgoing):
                raise self._library.CallbackStop

        try:
            with self._library.Stream(
                samplerate=self.rate, blocksize=self.block, device=self._devices, channels=self.channels,
                dtype="float32", latency="low", callback=called, finished_callback=over.set,
            ):  # fmt: skip
                while not over.wait(0.1):  # a wait without an end hears no Ctrl-C on Windows
                    pass
        except self._library.PortAudioError as error:
            raise ValueError(_sentence(error)) from error


def _library() -> Any:
    try:
        return require("sounddevice", "live")
    except OSError as error:
        raise ValueError(
            "The sound card cannot be used: sounddevice finds no library PortAudio; install it, on Debian and Ubuntu "
            "with: apt install libportaudio2"
        ) from error


def _sentence(error: Exception) -> str:
    words = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return f"The sound card cannot be used: {words}; unmingle audio --devices lists all devices."
