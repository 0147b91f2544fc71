"""What all sources of frames have in common."""

from collections.abc import Iterator
from datetime import datetime
from threading import Event
from types import TracebackType
from typing import Self

from ._decode import Colour
from ._errors import MediaError
from ._pixels import check_pixels, described, to_grey
from ._planes import Planes
from ._relay import Frame, Producer, Relay


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
        self._relay: Relay | None = None
        self._closed, self._stop = False, Event()

        def checked(stop: Event) -> Iterator[Frame]:
            return _uniform(produce(stop), name, colour)

        self._frames: Iterator[Frame] = iter(())
        if live or ahead:
            self._relay = Relay(checked, newest=live, name=name)
        else:
            self._frames = checked(self._stop)

    @property
    def dropped(self) -> int:
        """Frames of a live source that were passed over since newer ones came."""
        return self._relay.dropped if self._relay else 0

    def __next__(self) -> Frame:
        if self._closed:
            raise StopIteration
        time, pixels = self._relay.get() if self._relay else next(self._frames)
        return Frame(time * self._pace, pixels)

    def retime(self, rate: float) -> None:
        """Give so many frames in a second to a source whose frames carry no times."""
        if not self._untimed or self.rate is None:
            self.close()
            raise MediaError(f"{self.name} has times of its own; a rate is for folders of images and for arrays.")
        self._pace, self.rate = self._pace * self.rate / rate, rate

    def close(self) -> None:
        """Stop reading; there are no more frames."""
        self._end()
        if self._relay:
            self._relay.join()

    def _end(self) -> None:
        self._closed = True
        self._stop.set()
        if self._relay:
            self._relay.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if not getattr(self, "_closed", True):
            self._end()


def _uniform(frames: Iterator[Frame], name: str, colour: Colour) -> Iterator[Frame]:
    first: str | None = None
    for number, (time, given) in enumerate(frames, start=1):
        pixels = given if isinstance(given, Planes) else check_pixels(given, f"Frame {number} of {name}")
        if not colour and not isinstance(pixels, Planes):
            pixels = to_grey(pixels)
        kind = described(pixels)
        first = first or kind
        if kind != first:
            raise MediaError(
                f"{name} changes at frame {number} from {first} to {kind}; all frames of a source must be of one kind."
            )
        yield Frame(time, pixels)
