"""CPU time, with pauses for looking at what is going on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import process_time
from typing import Any


class Stopwatch:
    """CPU seconds of this process since it was made, pauses left out.

    `error`, if given, is evaluated in a pause for every iterate that passes through `follow`.
    """

    def __init__(self, error: Callable[[Any], float] | None = None) -> None:
        self.trace: list[tuple[float, float]] = []
        self._error = error
        self._paused = 0.0
        self._start = process_time()

    @property
    def elapsed(self) -> float:
        return process_time() - self._start - self._paused

    @contextmanager
    def paused(self) -> Iterator[None]:
        begin = process_time()
        try:
            yield
        finally:
            self._paused += process_time() - begin

    def follow(self, iterates: Iterator[Any]) -> Iterator[Any]:
        """The same iterates; (CPU seconds, error) of each is put down in `trace`."""
        for iterate in iterates:
            if self._error is not None:
                now = self.elapsed
                with self.paused():
                    self.trace.append((now, self._error(iterate.low_rank)))
            yield iterate

    def time_to(self, error: float) -> float | None:
        """CPU seconds after which the error was at most so much for the first time."""
        return next((seconds for seconds, reached in self.trace if reached <= error), None)
