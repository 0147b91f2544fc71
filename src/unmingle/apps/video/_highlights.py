"""What a report keeps of a film of any length: little, and never more of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from ..._types import AnyArray
from ...media import Planes
from ...media.images import encode_jpeg
from ._drawing import Place, with_boxes
from ._separation import Separation
from .events import COUNTING, Event

Rank = tuple[float, ...]
T = TypeVar("T")

VIEWS = ("frame", "background", "foreground", "mask")
WIDTH = 320


class BestPerInterval(Generic[T]):
    """The best item of each interval of time; when there are too many intervals, they become twice as long.

    Parameters
    ----------
    most : int
        How many items are kept at most.
    length : float
        Seconds of an interval at first.
    """

    def __init__(self, most: int, length: float) -> None:
        self.most, self.length = most, length
        self._best: dict[int, tuple[Rank, T]] = {}

    def number(self, time: float) -> int:
        """The interval of a time."""
        return int(time // self.length)

    def add(self, time: float, rank: Rank, item: T) -> None:
        """Keep an item if it is the first or the best of its interval."""
        self._offer(self.number(time), (rank, item))
        while len(self._best) > self.most:
            self.length *= 2.0
            former, self._best = self._best, {}
            for number, entry in former.items():
                self._offer(number // 2, entry)

    def _offer(self, number: int, entry: tuple[Rank, T]) -> None:
        if number not in self._best or entry[0] > self._best[number][0]:
            self._best[number] = entry

    def items(self) -> list[T]:
        """What was kept, in the order of time."""
        return [self._best[number][1] for number in sorted(self._best)]


@dataclass(frozen=True, eq=False)
class Moment:
    """A frame and its parts, as small JPEG files."""

    time: float
    number: int
    share: float
    pictures: dict[str, bytes]


class Highlights:
    """The frames with most foreground of all intervals of a film, and the share of foreground over time."""

    def __init__(self) -> None:
        self._shares: BestPerInterval[tuple[float, float]] = BestPerInterval(600, 0.01)
        self._moments: BestPerInterval[Moment] = BestPerInterval(40, 0.1)
        self._candidate: tuple[Rank, int, Separation, Sequence[Place]] | None = None

    def add(self, number: int, found: Separation, places: Sequence[Place] = ()) -> None:
        """Look at a frame and the events in it; its arrays are kept, as they are, for no longer than an interval."""
        self._shares.add(found.time, (found.score,), (found.time, found.score))
        rank = (float(found.state in COUNTING), found.score)
        if self._candidate is not None:
            before, _, best, _ = self._candidate
            if self._moments.number(best.time) != self._moments.number(found.time):
                self._keep()
            elif rank <= before:
                return
        self._candidate = rank, number, found, places

    def curve(self) -> tuple[list[float], list[float]]:
        """Times, and the largest share of foreground around each."""
        points = self._shares.items()
        return [time for time, _ in points], [share for _, share in points]

    def select(self, events: Sequence[Event], count: int = 5) -> list[Moment]:
        """Some moments from all parts of the film: the best of events, then others far from those."""
        self._keep()
        moments = self._moments.items()
        groups = [[moment for moment in moments if event.start <= moment.time <= event.end] for event in events]
        peaks = list(dict.fromkeys(max(group, key=lambda moment: moment.share) for group in groups if group))
        spread = np.array_split(np.arange(len(peaks)), min(count, len(peaks)) or 1)
        chosen = [max((peaks[i] for i in part), key=lambda moment: moment.share) for part in spread if part.size]
        for pool in ([moment for group in groups for moment in group], moments):
            chosen += _far_from(chosen, list(dict.fromkeys(pool)), count - len(chosen))
        return sorted(chosen, key=lambda moment: moment.time)

    def _keep(self) -> None:
        if self._candidate is not None:
            rank, number, found, places = self._candidate
            small = {view: reduced(getattr(found, view)) for view in VIEWS}
            small["frame"] = with_boxes(small["frame"], places, scale=len(small["frame"]) / len(found.mask))
            pictures = {view: encode_jpeg(picture) for view, picture in small.items()}
            self._moments.add(found.time, rank, Moment(found.time, number, found.score, pictures))
            self._candidate = None


def _far_from(chosen: Sequence[Moment], pool: Sequence[Moment], count: int) -> list[Moment]:
    """Some further moments, each as far as can be from all before."""
    left, more = [moment for moment in pool if moment not in chosen], list[Moment]()
    while left and len(more) < count:
        before = [moment.time for moment in (*chosen, *more)]
        farthest = max(left, key=lambda moment: min((abs(moment.time - time) for time in before), default=0.0))
        left.remove(farthest)
        more.append(farthest)
    return more


def reduced(picture: Any, width: int = WIDTH) -> AnyArray:
    """Means over squares of pixels, so that the picture is not wider than this; numbers in [0, 1]."""
    picture = picture.to_rgb() if isinstance(picture, Planes) else picture
    white = 1.0 if picture.dtype.kind in "fb" else float(np.iinfo(picture.dtype).max)
    side = -(-picture.shape[1] // width)
    height, width = (max(1, size // side) for size in picture.shape[:2])
    whole = picture[: height * side, : width * side]
    squares = whole.reshape(height, len(whole) // height, width, side, *picture.shape[2:])
    return np.minimum(squares.mean(axis=(1, 3), dtype=np.float32) / np.float32(white), np.float32(1.0))
