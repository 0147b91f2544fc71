"""Frames one after the other: what they are, and what all sources of them have in common."""

from collections.abc import Callable, Iterator
from datetime import datetime
from threading import Event
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self

from .background import ReadingThread
from .errors import MediaError
from .pixels import Pixels, check_pixels, describe_pixels, to_grey
from .planes import Planes

IMAGE_RATE = 25.0
"""Frames in a second where frames carry no times."""

Colour = bool | Literal["planes"]
"""Grey, red, green and blue, or brightness and half-sized planes of colour."""


class Frame(NamedTuple):
    """A picture and its time."""

    time: float
    """Seconds since the first frame of the source."""
    pixels: Any
    """(height, width) grey or (height, width, 3) red, green and blue, uint8, uint16, or float32 from 0 to 1; or
    `Planes`."""


Producer = Callable[[Event], Iterator[Frame]]
"""Gives frames until there are no more or the event is set."""


class FrameSource(Iterator[Frame]):
    """An iterator of frames that is closed at the end of a with statement.

    Frames are checked and, unless colours are wanted, made grey. All have one size and one type: where that changes,
    the frames before are given first, then the error comes.

    Parameters
    ----------
    produce : callable
        Gives an iterator of frames.
    name : str
        What errors call the source.
    colour : bool or "planes"
        Give colours as they are instead of their luma.
    rate : float, optional
        Frames in a second, as far as known.
    n_frames : int, optional
        How many frames there are, as far as known.
    live : bool
        Frames come when they happen; if the consumer is slow only the newest is kept.
    ahead : bool
        Read frames in a thread of its own before they are asked for, which live sources always do.
    start_time : datetime, optional
        When the first frame was taken, as far as the source says so.
    untimed : bool
        The frames carry no times, and were given some by `rate`.

    Attributes
    ----------
    dropped : int
        Frames of a live source that were passed over since newer ones came.
    """

    def __init__(
        self,
        produce: Producer,
        *,
        name: str,
        colour: Colour = False,
        rate: float | None = None,
        n_frames: int | None = None,
        live: bool = False,
        ahead: bool = True,
        start_time: datetime | None = None,
        untimed: bool = False,
    ) -> None:
        self.start_time = start_time
        self._untimed, self._pace = untimed, 1.0
        self.name, self.rate, self.n_frames, self.live = name, rate, n_frames, live
        self._thread: ReadingThread[Frame] | None = None
        self._closed, self._stop = False, Event()

        def checked(stop: Event) -> Iterator[Frame]:
            return _uniform_frames(produce(stop), name, colour)

        self._frames: Iterator[Frame] = iter(())
        if live or ahead:
            self._thread = ReadingThread(checked, newest=live, name=name)
        else:
            self._frames = checked(self._stop)

    @property
    def dropped(self) -> int:
        """Frames of a live source that were passed over since newer ones came."""
        return self._thread.dropped if self._thread else 0

    def __next__(self) -> Frame:
        if self._closed:
            raise StopIteration
        time, pixels = self._thread.get() if self._thread else next(self._frames)
        return Frame(time * self._pace, pixels)

    def retime(self, rate: float) -> None:
        """Set how many frames there are in a second, for a source whose frames carry no times."""
        if not self._untimed or self.rate is None:
            self.close()
            raise MediaError(f"{self.name} has times of its own; a rate is for folders of images and for arrays.")
        self._pace, self.rate = self._pace * self.rate / rate, rate

    def close(self) -> None:
        """Stop reading; there are no more frames."""
        self._end()
        if self._thread:
            self._thread.join()

    def _end(self) -> None:
        self._closed = True
        self._stop.set()
        if self._thread:
            self._thread.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if not getattr(self, "_closed", True):
            self._end()


def _uniform_frames(frames: Iterator[Frame], name: str, colour: Colour) -> Iterator[Frame]:
    first: str | None = None
    for number, (time, given) in enumerate(frames, start=1):
        pixels: Pixels | Planes = (
            given if isinstance(given, Planes) else check_pixels(given, f"Frame {number} of {name}")
        )
        if not colour and not isinstance(pixels, Planes):
            pixels = to_grey(pixels)
        kind = describe_pixels(pixels)
        first = first or kind
        if kind != first:
            raise MediaError(
                f"{name} changes at frame {number} from {first} to {kind}; all frames of a source must be of one kind."
            )
        yield Frame(time, pixels)
