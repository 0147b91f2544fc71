"""What every method of separation is: magnitudes in, those of voice and music out."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

from ..._rules import Rule
from ..._types import AnyArray
from ._masks import HIGH_PASS


class Parts(NamedTuple):
    """Magnitudes of voice and music, in common units, which need not be those of the sound."""

    voice: AnyArray
    music: AnyArray


class Method(ABC):
    """A way to tell voice from music in the magnitudes of a spectrogram.

    A method that `streams` looks at the past only and remembers what it needs: blocks of frames give the same parts as
    all frames at once. It is given magnitudes over a running level. Others see a passage as a whole.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    """What it does, in a few words."""
    streams: ClassVar[bool] = False
    high_pass: ClassVar[float | None] = HIGH_PASS
    """Hertz below which there is no voice; None where that does not help."""

    @property
    def label(self) -> str:
        """What users know it by."""
        return self.name

    @abstractmethod
    def parts(self, magnitudes: AnyArray) -> Parts:
        """Take frames (n, bins) apart; the bins are the lowest 513 or fewer, up to 8 kHz."""

    def reset(self) -> None:  # noqa: B027
        """Forget the frames seen so far; there is nothing to forget unless a method says so."""

    def learn(self, magnitudes: AnyArray) -> None:
        """Learn what the music is from frames without voice."""
        raise ValueError(f"The method {self.label!r} cannot learn from a passage without voice; use 'adapt'.")

    def _to_store(self) -> dict[str, Any]:
        """Everything needed to go on exactly as if nothing had happened; only of methods that stream."""
        raise NotImplementedError

    @classmethod
    def _from_store(cls, content: dict[str, Any]) -> Self:
        raise NotImplementedError

    @classmethod
    def _schema(cls, content: Any) -> Rule:
        raise NotImplementedError
