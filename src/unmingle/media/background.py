"""Reading ahead and writing behind in threads of their own, while other frames are worked on."""

from collections import deque
from collections.abc import Callable, Iterator
from threading import Condition, Event, Thread
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from ._frame_writer import FrameWriter
    from .pixels import Pixels
    from .planes import Planes

Item = TypeVar("Item")

FRAMES_WAITING = 4
"""At most this many frames are on their way between two threads."""
LONGEST_SLEEP = 0.5
"""Seconds after which a waiting thread wakes up: an interrupt must get through to it on every system."""
CLOSING_TIME = 2.0
"""Seconds for which closing waits for a thread that reads; it may itself wait for a network."""


class _Conveyor(Generic[Item]):
    """Items on their way from one thread to another, a few at a time, and the error that ended either of them."""

    def __init__(self) -> None:
        self._items: deque[Item] = deque()
        self._changed = Condition()
        self._error: BaseException | None = None
        self._complete = False
        self.abandoned = False
        """Whether the thread that takes items has stopped doing so."""

    def put(self, item: Item) -> bool:
        """Add an item once there is room, and return whether more are wanted."""
        with self._changed:
            while len(self._items) >= FRAMES_WAITING and not self.abandoned:
                self._changed.wait(LONGEST_SLEEP)
            if not self.abandoned:
                self._items.append(item)
                self._changed.notify_all()
        return not self.abandoned

    def put_newest(self, item: Item) -> int:
        """Add an item in place of those that still wait, and return how many these were."""
        with self._changed:
            n_replaced = len(self._items)
            self._items.clear()
            if not self.abandoned:
                self._items.append(item)
                self._changed.notify_all()
        return n_replaced

    def first(self) -> Item | None:
        """Wait for an item and return it, but leave it in its place; None if there are no more."""
        with self._changed:
            return self._items[0] if self._wait() else None

    def take(self) -> Item | None:
        """Wait for an item and return it, which makes room for another one; None if there are no more."""
        with self._changed:
            if not self._wait():
                return None
            self._changed.notify_all()
            return self._items.popleft()

    def _wait(self) -> bool:
        while not self._items and not self._complete and not self.abandoned:
            self._changed.wait(LONGEST_SLEEP)
        return bool(self._items)

    def complete(self, error: BaseException | None = None) -> None:
        """End after the items that still wait: there are no more, maybe because of an error."""
        with self._changed:
            self._complete, self._error = True, error or self._error
            self._changed.notify_all()

    def abandon(self, error: BaseException | None = None) -> None:
        """End at once: what still waits is not wanted any more, maybe because of an error."""
        with self._changed:
            self.abandoned, self._error = True, error or self._error
            self._items.clear()
            self._changed.notify_all()

    def raise_error(self) -> None:
        """Raise the error of the other thread, once."""
        error, self._error = self._error, None
        if error is not None:
            raise error


class ReadingThread(Generic[Item]):
    """Reads items in a thread of its own before they are asked for.

    Parameters
    ----------
    produce : callable
        Gives an iterator of items, which runs in the thread, until there are no more or the given event is set.
    newest : bool
        Keep only the newest item and count the others as dropped, instead of waiting until there is room.
    name : str
        What is read.
    """

    def __init__(self, produce: Callable[[Event], Iterator[Item]], *, newest: bool, name: str) -> None:
        self.dropped = 0
        self._produce, self._newest, self._stop = produce, newest, Event()
        self._conveyor: _Conveyor[Item] = _Conveyor()
        self._thread = Thread(target=self._run, name=f"unmingle reads {name}", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        items, failure = self._produce(self._stop), None
        try:
            for item in items:
                if self._newest:
                    self.dropped += self._conveyor.put_newest(item)
                    if self._stop.is_set():
                        break
                elif not self._conveyor.put(item):
                    break
        except BaseException as error:
            failure = error
        finally:
            close = getattr(items, "close", None)
            if close is not None:
                close()
            self._conveyor.complete(failure)

    def get(self) -> Item:
        """The next item; StopIteration after the last one, or the error that ended the thread."""
        item = self._conveyor.take()
        if item is None:
            if not self._stop.is_set():
                self._conveyor.raise_error()
            raise StopIteration
        return item

    def stop(self) -> None:
        """Let the thread end soon."""
        self._stop.set()
        self._conveyor.abandon()

    def join(self) -> None:
        """Wait until the thread has ended, unless that takes long."""
        self._thread.join(CLOSING_TIME)


class WritingThread:
    """Writes frames in their order in a thread of its own, while others come.

    A failure is raised by the next `write`, or by `close`.

    Parameters
    ----------
    writer : FrameWriter
        What writes them; nobody else may use it until this is closed.
    """

    def __init__(self, writer: "FrameWriter") -> None:
        self.writer = writer
        self._conveyor: _Conveyor[tuple[Callable[[], Pixels | Planes], float]] = _Conveyor()
        self._thread = Thread(target=self._run, name=f"unmingle writes {writer.path.name}", daemon=True)
        self._thread.start()

    def write(self, make_picture: Callable[[], "Pixels | Planes"], time: float) -> None:
        """Write a picture, which is made in the thread; waits while too many others do."""
        self._conveyor.raise_error()
        if not self._conveyor.put((make_picture, time)):
            self._conveyor.raise_error()

    def close(self) -> None:
        """Write what waits, then finish the file."""
        self._conveyor.complete()
        while self._thread.is_alive():
            self._thread.join(LONGEST_SLEEP)
        try:
            self._conveyor.raise_error()
        finally:
            self.writer.close()

    def _run(self) -> None:
        while (job := self._conveyor.first()) is not None:
            make_picture, time = job
            try:
                self.writer.write(make_picture(), time)
            except BaseException as error:
                self._conveyor.abandon(error)
                return
            self._conveyor.take()  # only now, so that a frame that is being written counts as waiting
