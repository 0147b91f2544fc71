"""Masks: which share of each bin is voice, of frames that come block by block."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from ..._types import Array, Float32Array
from ..._validation import within_range
from .method import FollowingMethod, Method, Parts
from .stft import Level, magnitudes

_TOP = 0.75
"""Share of the bins looked at from which on their mean goes on above them."""


@dataclass(frozen=True)
class Passages:
    """How long sound is cut for methods that see a passage as a whole, in frames of 16 ms.

    Among 10, 30 and 60 s, 30 s had the best voices on three minutes of each training singer of MIR-1K.
    """

    length: int = 1875
    """Frames of a passage: 30 seconds."""
    overlap: int = 125
    """Frames that two neighbours share, where one is faded into the other: 2 seconds."""


PASSAGES = Passages()


def wiener(voice: Array, music: Array) -> Array:
    """voice^2 / (voice^2 + music^2), and 0 where both are 0: what nobody claims stays with the music.

    Examples
    --------
    >>> wiener(np.array([3.0, 0.0, 0.0]), np.array([4.0, 1.0, 0.0]))
    array([0.36, 0.  , 0.  ])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        mine, all_of_it = voice * voice, music * music
        all_of_it += mine
        mask = np.divide(mine, all_of_it, out=np.zeros_like(mine), where=all_of_it > 0)
    return within_range(mask, "method")


def binary(voice: Array, music: Array) -> Array:
    """1 where the voice is the stronger one, 0 elsewhere.

    Examples
    --------
    >>> binary(np.array([3.0, 5.0]), np.array([4.0, 4.0]))
    array([0., 1.])
    """
    return (np.abs(voice) > np.abs(music)).astype(voice.dtype)


def extend_mask(mask: Array, bins: int, voiceless: int = 0) -> Array:
    """The mask for a number of bins: above those it was made for, the mean of its upper quarter goes on.

    The lowest ``voiceless`` bins are closed. The mask that was given stays as it is.
    """
    known = mask.shape[1]
    if not voiceless and bins <= known:
        return mask[:, :bins]
    full = np.empty((len(mask), bins), mask.dtype)
    full[:, :known] = mask[:, :bins]
    full[:, :voiceless] = 0
    if bins > known:
        full[:, known:] = full[:, int(_TOP * known) : known].mean(axis=1, keepdims=True)
    return full


@dataclass(frozen=True)
class RunningMemory:
    """What masks at once remember."""

    level: Level
    of_method: Any
    """What the method remembers."""


@dataclass(frozen=True)
class RunningMasks:
    """Masks at once, by a method that streams: it sees frames over their running level."""

    method: Method
    waits: ClassVar = False

    def start(self) -> RunningMemory:
        """No level yet."""
        return RunningMemory(Level(), self.method.start())

    def step(self, memory: RunningMemory, magnitudes: Array) -> tuple[RunningMemory, Array]:
        """Masks of these frames."""
        if not len(magnitudes):
            return memory, magnitudes
        level, levels = memory.level.step(magnitudes)
        remembered, parts = self.method.step(memory.of_method, magnitudes / levels.astype(magnitudes.dtype))
        return RunningMemory(level, remembered), wiener(*parts)

    def finish(self, memory: RunningMemory) -> Array:
        """None are left."""
        return np.empty((0, 0), np.float32)


@dataclass(frozen=True, eq=False)
class PassageMemory:
    """What masks by passages remember."""

    frames: Array
    """The last frames, as many as a passage has."""
    new: int
    """How many of them have no mask yet that is out."""
    tail: Array
    """Masks that are faded into the next passage."""


@dataclass(frozen=True)
class PassageMasks:
    """Masks of overlapping passages, faded from one to the next.

    A passage is solved when its last frame has come. The last one reaches back as far as the others, over frames whose
    masks are out already.
    """

    method: Method
    passages: Passages
    waits: ClassVar = True

    def start(self) -> PassageMemory:
        """No frames yet."""
        nothing = np.empty((0, 0), np.float32)
        return PassageMemory(nothing, 0, nothing)

    def step(self, memory: PassageMemory, magnitudes: Array) -> tuple[PassageMemory, Array]:
        """Masks of the passages that these frames complete, but for what the next one overlaps."""
        ready, length, overlap = [], self.passages.length, self.passages.overlap
        while len(magnitudes):
            room = length - memory.new
            memory, magnitudes = self._with_frames(memory, magnitudes[:room]), magnitudes[room:]
            if memory.new == length:
                mask = self._solved(memory)
                ready.append(mask[:-overlap])
                memory = PassageMemory(memory.frames, overlap, mask[-overlap:])
        return memory, np.concatenate(ready) if ready else np.empty((0, 0), np.float32)

    def finish(self, memory: PassageMemory) -> Array:
        """Masks of the frames that are left."""
        return self._solved(memory) if memory.new > len(memory.tail) else memory.tail

    def _with_frames(self, memory: PassageMemory, magnitudes: Array) -> PassageMemory:
        """Keep the last frames, as many as a passage has."""
        held = np.concatenate([memory.frames, magnitudes]) if len(memory.frames) else magnitudes
        return PassageMemory(held[-self.passages.length :], memory.new + len(magnitudes), memory.tail)

    def _solved(self, memory: PassageMemory) -> Array:
        """The mask of the frames of the passage whose masks are not out, faded in over the overlap."""
        mask, tail = wiener(*self.method.parts(memory.frames))[-memory.new :], memory.tail
        if len(tail):
            fade = np.linspace(0, 1, len(tail) + 2, dtype=mask.dtype)[1:-1, None]
            mask[: len(tail)] *= fade
            mask[: len(tail)] += (1 - fade) * tail
        return mask


Masker = RunningMasks | PassageMasks
"""Magnitudes in, masks of the voice out, those of all frames in their order; if it `waits`, later than the frames."""


class Ideal(FollowingMethod):
    """An oracle that knows the parts of all frames, in their order: how far masks can get.

    Parameters
    ----------
    parts : Parts
        Magnitudes of voice and music, (frames, bins), as `magnitudes` gives them.

    Examples
    --------
    >>> from unmingle import metrics, synth
    >>> from unmingle.apps import audio
    >>> song = synth.song(4.0, random_state=0)
    >>> stems = audio.split(song.mixture, song.rate, method=Ideal.of(song.voice, song.music, song.rate))
    >>> bool(metrics.si_sdr(song.voice, stems.voice) > 10)
    True
    """

    name: ClassVar = "ideal"
    summary: ClassVar = "an oracle that knows both sources: how far masks can get"
    high_pass: ClassVar = None

    def __init__(self, parts: Parts) -> None:
        self._known = parts

    @classmethod
    def of(cls, voice: Any, music: Any, rate: float, *, low_latency: bool = False) -> Self:
        """The oracle for two sounds; the parameters are those of `magnitudes`."""
        return cls(Parts(*(magnitudes(part, rate, low_latency=low_latency) for part in (voice, music))))

    def start(self) -> int:
        """The first frame comes next."""
        return 0

    def step(self, memory: int, magnitudes: Float32Array) -> tuple[int, Parts]:
        """The parts of the next frames."""
        following = memory + len(magnitudes)
        return following, Parts(*(part[memory:following] for part in self._known))
