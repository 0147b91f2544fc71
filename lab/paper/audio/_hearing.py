"""Frames, masks and synthesis of `apps.audio`, for parts that are found elsewhere."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unmingle.apps.audio import Ideal, Method, Parts, Stems, binary, separate

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


class _Listener(Method):
    """Keeps what a method of frames over a running level is given, and what it answers."""

    name: ClassVar = "listener"
    summary: ClassVar = "keeps what it hears"
    streams: ClassVar = True

    def __init__(self, inner: Method | None = None) -> None:
        self._inner, self.frames, self.found = inner, list[Array](), list[Parts]()

    def parts(self, magnitudes: Array) -> Parts:
        """Those of the inner method."""
        answer = Parts(magnitudes, magnitudes) if self._inner is None else self._inner.parts(magnitudes)
        self.frames.append(magnitudes.copy())
        self.found.append(answer)
        return answer


def streamed(method: Method, sound: Array, rate: int) -> Parts:
    """What a method that streams finds, frame by frame."""
    listener = _Listener(method)
    separate(sound, rate, method=listener, high_pass=None)
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
    return separate(song.mixture, song.rate, method=Ideal(parts), high_pass=high_pass)
