"""Frames from a thread that reads them to the one who uses them."""

from collections import deque
from collections.abc import Callable, Iterator
from threading import Condition, Event, Thread
from typing import Any, NamedTuple

_AHEAD = 4
"""So many frames are read before they are asked for."""
_PATIENCE = 2.0
"""So many seconds closing waits for a thread that waits for a network."""


class Frame(NamedTuple):
    """A picture and its time."""

    time: float
    """Seconds since the first frame of the source."""
    pixels: Any
    """(height, width) grey or (height, width, 3) red, green and blue, uint8, uint16, or float32 from 0 to 1; or
    `Planes`."""


Producer = Callable[[Event], Iterator[Frame]]
"""Gives frames until there are no more or the event is set."""


class Relay:
    """A bounded queue between a thread that produces frames and one consumer.

    Parameters
    ----------
    produce : callable
        Gives an iterator of frames, which runs in the thread.
    newest : bool
        Keep but the newest frame and count the others as dropped, instead of waiting until there is room.
    """

    def __init__(self, produce: Producer, *, newest: bool, name: str) -> None:
        self.dropped = 0
        self._produce, self._newest = produce, newest
        self._frames: deque[Frame] = deque()
        self._changed = Condition()
        self._stop, self._ended = Event(), False
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, name=f"unmingle reads {name}", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        frames = self._produce(self._stop)
        try:
            for frame in frames:
                if not self._put(frame):
                    break
        except BaseException as error:
            self._error = error
        finally:
            close = getattr(frames, "close", None)
            if close is not None:
                close()
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def _put(self, frame: Frame) -> bool:
        """Whether more is wanted."""
        with self._changed:
            while not self._newest and len(self._frames) >= _AHEAD and not self._stop.is_set():
                self._changed.wait()
            if self._newest and self._frames:
                self._frames.clear()
                self.dropped += 1
            self._frames.append(frame)
            self._changed.notify_all()
        return not self._stop.is_set()

    def get(self) -> Frame:
        """The next frame; StopIteration after the last one, or the error that ended the thread."""
        with self._changed:
            while not self._frames and not self._ended:
                self._changed.wait(0.5)  # not for ever: an interrupt must get through on every system
            if self._frames and not self._stop.is_set():
                frame = self._frames.popleft()
                self._changed.notify_all()
                return frame
        error, self._error = self._error, None
        if error is not None and not self._stop.is_set():
            raise error
        raise StopIteration

    def stop(self) -> None:
        """Let the thread end soon."""
        self._stop.set()
        with self._changed:
            self._frames.clear()
            self._changed.notify_all()

    def join(self) -> None:
        """Wait until the thread has ended, unless that takes long."""
        self._thread.join(_PATIENCE)
