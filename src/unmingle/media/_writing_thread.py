"""Frames that are written in a thread of their own, beside other work."""

from collections import deque
from collections.abc import Callable
from threading import Condition, Thread
from typing import Any

from ._writer import FrameWriter

_WAITING = 4
"""So many frames may wait for their turn."""
_ALONE = 0.5
"""Seconds after which one looks whether there was an interrupt."""


class WritingThread:
    """Writes frames by a writer, in their order, while others come.

    A failure is raised by the next `write`, or by `close`.

    Parameters
    ----------
    writer : FrameWriter
        What writes them; nobody else may use it until this is closed.
    """

    def __init__(self, writer: FrameWriter) -> None:
        self.writer = writer
        self._jobs: deque[tuple[Callable[[], Any], float]] = deque()
        self._changed = Condition()
        self._ending = False
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, name=f"unmingle writes {writer.path.name}", daemon=True)
        self._thread.start()

    def write(self, picture: Callable[[], Any], time: float) -> None:
        """Write a picture, which is made in the thread; waits while too many others do."""
        with self._changed:
            while len(self._jobs) >= _WAITING and self._error is None:
                self._changed.wait(_ALONE)
            self._raise()
            self._jobs.append((picture, time))
            self._changed.notify_all()

    def close(self) -> None:
        """Write what waits, then finish the file."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        while self._thread.is_alive():
            self._thread.join(_ALONE)
        try:
            self._raise()
        finally:
            self.writer.close()

    def _raise(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            self._ending = True
            raise error

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._jobs and not self._ending:
                    self._changed.wait()
                if not self._jobs:
                    return
                picture, time = self._jobs[0]
            try:
                self.writer.write(picture(), time)
            except BaseException as error:
                with self._changed:
                    self._error, self._ending = error, True
                    self._jobs.clear()
                    self._changed.notify_all()
                return
            with self._changed:
                self._jobs.popleft()
                self._changed.notify_all()
