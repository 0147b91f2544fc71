"""Frames on their way to a stream: up to a limit, at the speed of the film, until someone interrupts."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import count
from time import monotonic, perf_counter, sleep
from typing import Protocol

from ...media import Frame, FrameSource, MediaError


class InterruptGate(Protocol):
    """Holds interrupts back while frames are worked on."""

    @property
    def pending(self) -> bool:
        """Whether there was one."""

    def allowed(self) -> AbstractContextManager[None]:
        """Raise KeyboardInterrupt here, for the one held back and for those that come."""


class AtAnyTime:
    """InterruptGate as Python raises them."""

    pending = False

    def allowed(self) -> AbstractContextManager[None]:
        """Nothing was held back."""
        return nullcontext()


class Feed:
    """The frames of a source up to a limit; what ends them early is kept, so that all that came is finished first.

    Parameters
    ----------
    source : FrameSource
        Where they come from.
    interrupts : InterruptGate
        Allowed while waiting for a frame.
    max_frames : int, optional
        How many frames to take at most.
    seconds : float, optional
        How much of the film to take at most.
    check : callable, optional
        Raises an error if the first frame is none of those that are expected.

    Attributes
    ----------
    waited : float
        Seconds spent on waiting for frames.
    error : Exception or None
        Why the source could not be read to its end.
    interrupted : bool
        Whether the user ended it.
    """

    def __init__(
        self,
        source: FrameSource,
        interrupts: InterruptGate,
        *,
        max_frames: int | None,
        seconds: float | None,
        check: Callable[[Frame], None] | None = None,
    ) -> None:
        self.waited = 0.0
        self.error: Exception | None = None
        self.interrupted = False
        self.source, self._interrupts = source, interrupts
        self._max_frames, self._seconds, self._check = max_frames, seconds, check

    def __iter__(self) -> Iterator[Frame]:
        for number in count() if self._max_frames is None else range(self._max_frames):
            frame = self._next()
            if frame is None or (self._seconds is not None and frame.time >= self._seconds):
                return
            if number == 0 and self._check is not None:
                self._check(frame)
            yield frame

    def _next(self) -> Frame | None:
        begun = perf_counter()
        try:
            with self._interrupts.allowed():
                return next(self.source, None)
        except KeyboardInterrupt:
            self.interrupted = True
        except (MediaError, OSError) as error:
            self.error = error
        finally:
            self.waited += perf_counter() - begun
        return None


class Playback:
    """Keeps to the time of a film, so that a person can watch it, until there is an interrupt."""

    def __init__(self, interrupts: InterruptGate) -> None:
        self._interrupts = interrupts
        self._begun: float | None = None

    def keep(self, time: float) -> None:
        """Wait until a time of the film; when it is long past, the film starts anew from there."""
        now = monotonic()
        if self._begun is None or now - self._begun - time > 1.0:
            self._begun = now - time
        while (left := self._begun + time - monotonic()) > 0 and not self._interrupts.pending:
            sleep(min(left, 0.1))
