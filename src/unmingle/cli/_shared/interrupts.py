"""Ctrl-C, or the wish of the system to end, at a moment when nothing is half done."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

import typer

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Terminated(KeyboardInterrupt):
    """The system, not the user, wants the work to end."""


def exit_code(error: KeyboardInterrupt) -> int:
    """The exit code that shells expect after an interrupt."""
    return 128 + (signal.SIGTERM if isinstance(error, Terminated) else signal.SIGINT)


def what_happened(error: KeyboardInterrupt) -> str:
    """The first word of what is said then."""
    return "Terminated" if isinstance(error, Terminated) else "Interrupted"


@contextmanager
def heeding_termination() -> Iterator[None]:
    """SIGTERM ends the work as Ctrl-C does, so that nothing half done is left; who heeds it already goes on to."""

    def end(number: int, frame: FrameType | None) -> None:
        raise Terminated

    alone = threading.current_thread() is threading.main_thread()
    if not alone or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


class Interrupts:
    """Holds an interrupt back until it is allowed; a second one gets through at once.

    Where interrupts are ignored, as in the background of a shell script, that stays so.

    Attributes
    ----------
    pending : bool
        Whether there was one.
    terminated : bool
        Whether it came from the system: SIGTERM, not Ctrl-C.
    """

    def __init__(self) -> None:
        self.pending = False
        self.terminated = False
        self._allowed = False
        self._former: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
            self._former = {number: signal.signal(number, self._receive) for number in heard}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, former in self._former.items():
            signal.signal(number, former)

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Raise KeyboardInterrupt here, for the one held back and for those that come."""
        self._allowed = True
        try:
            if self.pending:
                raise self._kind()
            yield
        finally:
            self._allowed = False

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.terminated = number == signal.SIGTERM
        if self._allowed or self.pending:
            raise self._kind()
        self.pending = True

    def _kind(self) -> KeyboardInterrupt:
        return Terminated() if self.terminated else KeyboardInterrupt()


@contextmanager
def resumable(checkpoint: Path | None) -> Iterator[None]:
    """After an interrupt, tell how to go on from a checkpoint."""
    try:
        yield
    except KeyboardInterrupt as error:
        if checkpoint is None or not checkpoint.exists():
            raise
        from .console import say

        say(f"{what_happened(error)}; the same command goes on from {checkpoint}.")
        raise typer.Exit(exit_code(error)) from None
