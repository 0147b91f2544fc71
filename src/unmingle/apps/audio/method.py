"""What every method of separation is: magnitudes in, those of voice and music out."""

from abc import ABC, abstractmethod
from dataclasses import is_dataclass
from typing import Any, ClassVar, NamedTuple, Self

from ..._fields import from_store, record_of, to_store
from ..._rules import Rule
from ..._types import Array

HIGH_PASS = 100.0
"""Hertz below which hardly anybody sings."""


class Parts(NamedTuple):
    """Magnitudes of voice and music, in common units, which need not be those of the sound."""

    voice: Array
    music: Array


class Method(ABC):
    """A way to tell voice from music in the magnitudes of a spectrogram.

    A method that `streams` looks at the past only: it is given magnitudes over a running level, frame by frame. Others
    see a passage as a whole. A method never changes; what it remembers of a song is a value, see `FollowingMethod`.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    """What it does, in a few words."""
    streams: ClassVar[bool] = False
    high_pass: ClassVar[float | None] = HIGH_PASS
    """Hertz below which there is no voice; None where that does not help."""
    Memory: ClassVar[type | None] = None
    """What it remembers of a song: a frozen dataclass whose fields have rules; None if it remembers nothing."""

    @property
    def label(self) -> str:
        """What users know it by."""
        return self.name

    @abstractmethod
    def parts(self, magnitudes: Array) -> Parts:
        """Take frames (n, bins) apart; the bins are the lowest 513 or fewer, up to 8 kHz."""

    def start(self) -> Any:
        """What it remembers before the first frame of a song."""
        return None if self.Memory is None else self.Memory()

    def step(self, memory: Any, magnitudes: Array) -> tuple[Any, Parts]:
        """Take the next frames apart: what it remembers after them, and their parts."""
        return memory, self.parts(magnitudes)

    def learn(self, magnitudes: Array) -> "Method":
        """The method that knows the music from frames without voice."""
        raise ValueError(f"The method {self.label!r} cannot learn from a passage without voice; use 'adapt'.")

    def check_memory(self, memory: Any) -> None:  # noqa: B027
        """Refuse what this method cannot remember; only files may hold such a thing."""

    def _to_store(self) -> dict[str, Any]:
        """What makes the method again; only of methods that stream."""
        return to_store(self)

    @classmethod
    def _from_store(cls, content: dict[str, Any]) -> Self:
        return from_store(cls, content)

    @classmethod
    def _schema(cls, content: Any) -> Rule:
        if not is_dataclass(cls):
            raise NotImplementedError
        return record_of(cls)


class FollowingMethod(Method):
    """A method that follows a song: what it finds in a frame depends on the frames before it.

    Blocks of frames give the same parts as all frames at once, if each step is given what the last one remembers.
    """

    streams: ClassVar = True

    @abstractmethod
    def step(self, memory: Any, magnitudes: Array) -> tuple[Any, Parts]:
        """Take the next frames apart: what it remembers after them, and their parts."""

    def parts(self, magnitudes: Array) -> Parts:
        """The parts of all frames of a song from its beginning on."""
        return self.step(self.start(), magnitudes)[1]
