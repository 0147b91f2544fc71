"""Ideal masks: what a mask could do that knew both sources."""

from typing import Any, ClassVar

from numpy.typing import NDArray

from ._method import Method, Parts

Array = NDArray[Any]


class Ideal(Method):
    """An oracle: the magnitudes of voice and music themselves, which were given."""

    name: ClassVar = "ideal"
    summary: ClassVar = "an oracle that knows both sources: how far masks can get"
    high_pass: ClassVar = None

    def __init__(self, voice: Array, music: Array) -> None:
        self._truth = Parts(voice, music)

    def parts(self, magnitudes: Array) -> Parts:
        """The truth."""
        return self._truth
