"""Sound that is separated while it is heard: a driver brings it and takes it away, a thread of its own separates it."""

from collections import deque
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from math import ceil
from threading import Condition, Thread
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from ..._types import Float32Array
from ..._validation import check_choice
from ._stream import Stream
from .settings import STEMS


@dataclass(frozen=True)
class LiveLimits:
    """How long live sound may wait, and what is kept of it."""

    room: float = 1.0
    """Seconds of sound that may wait on either side."""
    remembered: int = 2**16
    """Hops whose times are kept: the last 17 minutes."""
    warm_up: float = 2.0
    """Seconds of noise that are separated beforehand, so that all is compiled when the sound comes."""


LIMITS = LiveLimits()


class Driver(Protocol):
    """Where sound comes from and goes to."""

    rate: float
    channels: int
    block: int
    """Samples that it brings and takes at a time."""

    def run(self, session: "Session") -> None:
        """Call ``session.exchange`` for block after block, until it answers False or the sound ends."""


@dataclass(frozen=True)
class LiveStats:
    """How a live session went."""

    seconds: float
    """Length of the sound that came."""
    latency: int
    """Samples from what came to what was heard, without what the sound card adds."""
    hops: int
    """Frames that were separated."""
    late: int
    """Hops that took longer than they last."""
    underruns: int
    """Blocks that were heard with a gap, for their sound was not ready."""
    overruns: int
    """Blocks that were lost, for too many were waiting."""
    median: float
    """Seconds that a hop took, of the last ones."""
    p99: float
    """99 of 100 took less."""
    longest: float
    """The slowest of all."""
    hop: float
    """Seconds that a hop lasts."""
    rate: float
    interrupted: bool = False

    def summary(self) -> dict[str, Any]:
        """The session in plain values; times of hops are in milliseconds."""
        times = {"p50": self.median, "p99": self.p99, "max": self.longest, "length": self.hop}
        return {
            "seconds": round(self.seconds, 3),
            "latency_ms": round(1000 * self.latency / self.rate, 3),
            "hops": self.hops,
            "deadline_misses": self.late,
            "underruns": self.underruns,
            "overruns": self.overruns,
            "hop_ms": {name: round(1000 * value, 4) for name, value in times.items()},
            "interrupted": self.interrupted,
        }

    def summary_text(self) -> dict[str, str]:
        """The session in words, each line with its name."""
        last = 1000 * self.hop
        return {
            "heard": f"{self.seconds:.1f} s, {1000 * self.latency / self.rate:.0f} ms after it came",
            "time for a hop": f"{1000 * self.median:.2f} ms mostly, {1000 * self.p99:.2f} ms for 99 of 100, "
            f"{1000 * self.longest:.2f} ms at most, of {last:.0f} ms",
            "deadline misses": f"{self.late} of {self.hops} hops",
            "gaps": f"{self.underruns} underruns, {self.overruns} overruns",
        }


def listen(
    driver: Driver, stream: Stream, *, hear: str = "voice", ready: Callable[[], None] | None = None
) -> LiveStats:
    """Separate what a driver brings, and let it play one of the stems, until the sound ends or someone interrupts.

    The driver's callback only copies samples into a ring and out of another one; a thread of its own separates a hop at
    a time. What is heard is late by the latency of the stream, a block and a hop; it keeps that distance after a gap.

    Parameters
    ----------
    driver : Driver
        `SoundCard`, `Loopback`, or whatever brings and takes blocks.
    stream : Stream
        What separates; of the driver's rate and channels.
    hear : {"voice", "music"}
        The stem to play.
    ready : callable, optional
        Called when all is compiled, just before the first block.

    Returns
    -------
    LiveStats
        How it went: gaps, and how long hops took.

    Examples
    --------
    >>> from unmingle.apps.audio import Loopback
    >>> noise = np.random.default_rng(0).uniform(-0.5, 0.5, 32000)
    >>> driver = Loopback(noise, 16000, paced=False)
    >>> stats = listen(driver, Stream(16000), hear="music")
    >>> stats.underruns, stats.overruns
    (0, 0)
    """
    check_choice(hear, "hear", STEMS)
    if (driver.rate, driver.channels) != (stream.rate, stream.channels):
        raise ValueError(
            f"The stream must be as the driver, {driver.rate:g} Hz and {driver.channels} channels; "
            f"it has {stream.rate:g} Hz and {stream.channels}."
        )
    warm_up(stream)
    session = Session(stream, driver.block, STEMS.index(hear))
    interrupted = False
    try:
        with session:
            if ready is not None:
                ready()
            driver.run(session)
    except KeyboardInterrupt:
        interrupted = True
    if session.error is not None:
        raise session.error
    return session.stats(interrupted)


def warm_up(stream: Stream) -> None:
    """Let a copy of the stream separate some noise: compiling takes longer than a hop lasts."""
    other, hop = copy(stream), stream.frames.hop
    noise = np.random.default_rng(0).uniform(-0.1, 0.1, (hop, stream.channels)).astype(np.float32)
    for _ in range(ceil(LIMITS.warm_up * stream.rate / hop)):
        other.push(noise)


class Ring:
    """Holds samples up to a number of them (n, channels); one thread writes, another one reads, and neither waits.

    Each side moves a count of its own only: samples that were written and samples that were read.
    """

    def __init__(self, capacity: int, channels: int) -> None:
        self._samples = np.zeros((capacity, channels), np.float32)
        self._written, self._read = 0, 0

    def __len__(self) -> int:
        return self._written - self._read

    def write(self, block: Float32Array) -> int:
        """Add samples, and return how many had room."""
        count = min(len(block), len(self._samples) - len(self))
        first, rest = self._places(self._written, count)
        self._samples[first] = block[: first.stop - first.start]
        self._samples[rest] = block[first.stop - first.start : count]
        self._written += count
        return count

    def read_into(self, out: Float32Array) -> int:
        """Fill an array with the samples that have waited longest, and return how many there were."""
        count = min(len(out), len(self))
        first, rest = self._places(self._read, count)
        out[: first.stop - first.start] = self._samples[first]
        out[first.stop - first.start : count] = self._samples[rest]
        self._read += count
        return count

    def skip(self, count: int) -> int:
        """Drop the samples that have waited longest, and return how many there were."""
        count = min(count, len(self))
        self._read += count
        return count

    def _places(self, start: int, count: int) -> tuple[slice, slice]:
        """Where samples lie: up to the end, and on from the beginning."""
        capacity = len(self._samples)
        place = start % capacity
        before = min(count, capacity - place)
        return slice(place, place + before), slice(0, count - before)


class Session:
    """A stream between two rings.

    Attributes
    ----------
    error : Exception or None
        What ended the separation.
    """

    def __init__(self, stream: Stream, block: int, stem: int) -> None:
        self._stream, self._hop, self._stem = stream, stream.frames.hop, stem
        room = ceil(LIMITS.room * stream.rate) + block + self._hop
        self._incoming, self._outgoing = (Ring(room, stream.channels) for _ in range(2))
        self.latency = stream.latency + block + self._hop
        self._outgoing.write(np.zeros((block + self._hop, stream.channels), np.float32))
        self._owed, self._came, self._ended, self._busy = 0, 0, False, False
        self._underruns, self._overruns, self._hops, self._late, self._longest = 0, 0, 0, 0, 0.0
        self._times: deque[float] = deque(maxlen=LIMITS.remembered)
        self._news = Condition()
        self._worker = Thread(target=self._work, name="unmingle-live", daemon=True)
        self.error: Exception | None = None

    def __enter__(self) -> "Session":
        self._worker.start()
        return self

    def __exit__(self, *error: object) -> None:
        with self._news:
            self._ended = True
            self._news.notify_all()
        self._worker.join()

    def exchange(self, incoming: Float32Array, outgoing: Float32Array) -> bool:
        """Take a block in and fill another one with what is ready; True to go on. It only copies.

        Samples that come too late to be played are passed over, so that the latency stays.
        """
        self._came += len(incoming)
        taken = self._incoming.write(incoming)
        if taken < len(incoming):
            self._overruns += 1
            self._owed -= len(incoming) - taken
        if self._owed > 0:
            self._owed -= self._outgoing.skip(self._owed)
        given = self._outgoing.read_into(outgoing)
        if given < len(outgoing):
            outgoing[given:] = 0
            self._underruns += 1
            self._owed += len(outgoing) - given
        with self._news:
            self._news.notify_all()
        return self.error is None

    def settle(self) -> None:
        """Wait until all whole hops that came are separated."""
        with self._news:
            self._news.wait_for(lambda: self.error is not None or not (self._busy or self._ready()))

    def _ready(self) -> bool:
        return len(self._incoming) >= self._hop

    def _work(self) -> None:
        block = np.empty((self._hop, self._stream.channels), np.float32)
        while True:
            with self._news:
                self._busy = False
                self._news.notify_all()
                self._news.wait_for(lambda: self._ended or self._ready())
                if self._ended:
                    return
                self._busy = True
            try:
                self._separate(block)
            except Exception as error:
                self.error = error
                with self._news:
                    self._news.notify_all()
                return

    def _separate(self, block: Float32Array) -> None:
        self._incoming.read_into(block)
        begun = perf_counter()
        stems = self._stream.push(block)
        spent = perf_counter() - begun
        self._outgoing.write(stems[self._stem])
        self._times.append(spent)
        self._hops += 1
        self._late += spent > self._hop / self._stream.rate
        self._longest = max(self._longest, spent)

    def stats(self, interrupted: bool = False) -> LiveStats:
        """How it went so far."""
        median, p99 = np.quantile(self._times, [0.5, 0.99]).tolist() if self._times else (0.0, 0.0)
        rate = self._stream.rate
        return LiveStats(
            seconds=self._came / rate,
            latency=self.latency,
            hops=self._hops,
            late=self._late,
            underruns=self._underruns,
            overruns=self._overruns,
            median=median,
            p99=p99,
            longest=self._longest,
            hop=self._hop / rate,
            rate=rate,
            interrupted=interrupted,
        )
