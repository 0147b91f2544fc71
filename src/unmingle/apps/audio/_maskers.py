"""Masks of frames that come block by block: at once, or passage by passage."""

from typing import ClassVar, Protocol

import numpy as np

from ..._types import AnyArray
from ._level import Level
from ._masks import wiener
from ._method import Method

PASSAGE, OVERLAP = 1875, 125
"""Frames of a passage and of two neighbours together: 30 and 2 seconds."""


class Masker(Protocol):
    """Magnitudes in, masks of the voice out, those of all frames in their order."""

    waits: ClassVar[bool]
    """Whether masks may come later than their frames."""

    def push(self, magnitudes: AnyArray) -> AnyArray:
        """Masks of the next frames, as many as are known by now."""

    def finish(self) -> AnyArray:
        """Masks of the frames that are left."""


class AtOnce:
    """Masks of a method that streams."""

    waits: ClassVar = False

    def __init__(self, method: Method, level: Level) -> None:
        self._method, self._level = method, level

    def push(self, magnitudes: AnyArray) -> AnyArray:
        """Masks of these frames."""
        if not len(magnitudes):
            return magnitudes
        scaled = magnitudes / self._level.push(magnitudes).astype(magnitudes.dtype)
        return wiener(*self._method.parts(scaled))

    def finish(self) -> AnyArray:
        """None are left."""
        return np.empty((0, 0), np.float32)


class ByPassages:
    """Masks of overlapping passages, faded from one to the next.

    A passage is solved when its last frame has come. The last one reaches back as far as the others, over frames whose
    masks are out already.
    """

    waits: ClassVar = True

    def __init__(self, method: Method, length: int | None = None, overlap: int = OVERLAP) -> None:
        self._method, self._length, self._overlap = method, length or PASSAGE, overlap
        self._frames = np.empty((0, 0), np.float32)
        self._new, self._tail = 0, np.empty((0, 0), np.float32)

    def push(self, magnitudes: AnyArray) -> AnyArray:
        """Masks of the passages that these frames complete, but for what the next one overlaps."""
        ready = []
        while len(magnitudes):
            room = self._length - self._new
            self._take(magnitudes[:room])
            magnitudes = magnitudes[room:]
            if self._new == self._length:
                mask = self._solved()
                ready.append(mask[: -self._overlap])
                self._tail, self._new = mask[-self._overlap :], self._overlap
        return np.concatenate(ready) if ready else np.empty((0, 0), np.float32)

    def finish(self) -> AnyArray:
        """Masks of the frames that are left."""
        fresh = self._new - len(self._tail)
        return self._solved() if fresh else self._tail

    def _take(self, magnitudes: AnyArray) -> None:
        """Keep the last frames, as many as a passage has."""
        held = np.concatenate([self._frames, magnitudes]) if len(self._frames) else magnitudes
        self._frames, self._new = held[-self._length :], self._new + len(magnitudes)

    def _solved(self) -> AnyArray:
        """The mask of the frames of the passage whose masks are not out, faded in over the overlap."""
        mask = wiener(*self._method.parts(self._frames))[-self._new :]
        if len(self._tail):
            fade = np.linspace(0, 1, len(self._tail) + 2, dtype=mask.dtype)[1:-1, None]
            mask[: len(self._tail)] *= fade
            mask[: len(self._tail)] += (1 - fade) * self._tail
        return mask
