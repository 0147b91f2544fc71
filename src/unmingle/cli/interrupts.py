"""Ctrl-C at a moment when nothing is half done."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupts:
    """Holds an interrupt back until it is allowed; a second one gets through at once.

    Where interrupts are ignored, as in the background of a shell script, that stays so.

    Attributes
    ----------
    pending : bool
        Whether there was one.
    """

    def __init__(self) -> None:
        self.pending = False
        self._allowed = False
        self._former: Any = None

    def __enter__(self) -> Self:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            self._former = signal.signal(signal.SIGINT, self._receive)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._former is not None:
            signal.signal(signal.SIGINT, self._former)

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Raise KeyboardInterrupt here, for the one held back and for those that come."""
        self._allowed = True
        try:
            if self.pending:
                raise KeyboardInterrupt
            yield
        finally:
            self._allowed = False

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self._allowed or self.pending:
            raise KeyboardInterrupt
        self.pending = True
