"""Ideal masks: what a mask could do that knew both sources."""

from typing import Any, ClassVar, Self

from ..._types import AnyArray
from ._engine import magnitudes
from ._method import Method, Parts


class Ideal(Method):
    """An oracle that is told the parts of all frames, in their order: how far masks can get.

    Parameters
    ----------
    parts : Parts
        Magnitudes of voice and music, (frames, bins), as `magnitudes` gives them.

    Examples
    --------
    >>> from unmingle import metrics, synth
    >>> from unmingle.apps.audio import separate
    >>> song = synth.song(4.0, random_state=0)
    >>> stems = separate(song.mixture, song.rate, method=Ideal.of(song.voice, song.music, song.rate))
    >>> bool(metrics.si_sdr(song.voice, stems.voice) > 10)
    True
    """

    name: ClassVar = "ideal"
    summary: ClassVar = "an oracle that knows both sources: how far masks can get"
    streams: ClassVar = True
    high_pass: ClassVar = None

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.reset()

    @classmethod
    def of(cls, voice: Any, music: Any, rate: float, *, low_latency: bool = False) -> Self:
        """The oracle for two sounds; the parameters are those of `magnitudes`."""
        return cls(Parts(*(magnitudes(part, rate, low_latency=low_latency) for part in (voice, music))))

    def reset(self) -> None:
        """Begin with the first frame again."""
        self._next = 0

    def parts(self, magnitudes: AnyArray) -> Parts:
        """Those of the next frames."""
        rows = slice(self._next, self._next + len(magnitudes))
        self._next = rows.stop
        return Parts(*(part[rows] for part in self._parts))
