"""Frames, masks and synthesis of `apps.audio`, for parts that are found elsewhere."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unmingle.apps.audio import Method, Parts, Stems, split
from unmingle.apps.audio.masks import Ideal, binary
from unmingle.apps.audio.method import FollowingMethod

from ._clips import KnownSong

Array = NDArray[Any]

HIGH_PASS = 100.0
"""Hertz."""
VARIANTS: dict[str, tuple[bool, float | None]] = {
    "Wiener, 100 Hz": (False, HIGH_PASS),
    "Wiener": (False, None),
    "binary, 100 Hz": (True, HIGH_PASS),
    "binary": (True, None),
}
"""Kinds of masks: whether it is binary, and the high-pass of the voice."""


class _Listener(FollowingMethod):
    """Keeps what a method of frames over a running level is given, and what it answers."""

    name: ClassVar = "listener"
    summary: ClassVar = "keeps what it hears"

    def __init__(self, inner: Method) -> None:
        self._inner, self.found = inner, list[Parts]()

    def start(self) -> Any:
        """What the inner method remembers."""
        return self._inner.start()

    def step(self, memory: Any, magnitudes: Array) -> tuple[Any, Parts]:
        """The answer of the inner method."""
        memory, answer = self._inner.step(memory, magnitudes)
        self.found.append(answer)
        return memory, answer


def streamed(method: Method, sound: Array, rate: int) -> Parts:
    """What a method that streams finds, frame by frame."""
    listener = _Listener(method)
    split(sound, rate, method=listener, high_pass=None)
    return Parts(*(np.concatenate(parts) for parts in zip(*listener.found, strict=True)))


def masked(song: KnownSong, parts: Parts, variant: str) -> Stems:
    """Voice and music of a mixture by the mask of the parts.

    The Wiener mask is v^2 / (v^2 + m^2). The binary one is 1 where |v| > |m|: the Wiener mask of itself and its
    opposite.
    """
    is_binary, high_pass = VARIANTS[variant]
    if is_binary:
        voice = binary(*parts)
        parts = Parts(voice, 1 - voice)
    return split(song.mixture, song.rate, method=Ideal(parts), high_pass=high_pass)
