"""Events against the objects of films with known truth."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from unmingle.apps.video import separated_frames
from unmingle.apps.video.events import EventFinder, EventPlace
from unmingle.media import Frame, FrameSource, Planes

from ..paper.video import Film

SMALLEST, SHORTEST = 0.001, 10
"""Share of the picture, and frames, that an object has at least."""
COVERED, LARGEST = 0.5, 5.0
"""An event is where an object is if its box covers so much of the object's, and is at most so many times as large."""
WATCHED, UNWATCHED = 25.0, 85
"""Frames in a second that the films are taken to have, and the label of pixels outside of the region of interest."""


@dataclass(eq=False)
class TrueObject:
    """An object of the truth: its box in each frame."""

    mask: NDArray[np.bool_]
    """In its last frame."""
    boxes: dict[int, tuple[int, int, int, int]] = field(default_factory=dict)
    """Left, top, right and bottom by the number of the frame."""


class EventScore(NamedTuple):
    """How the events of a film fit its objects."""

    objects: int
    in_time: int
    """Objects that an event overlaps in half of their time or more."""
    in_place: int
    """Objects that an event covers in half of their frames or more."""
    events: int
    """Those that lie in the region of interest for half of their frames or more."""


def true_objects(truth: NDArray[Any], moving: int = 255) -> list[TrueObject]:
    """The objects of a film: regions of its truth, each followed to the one that shares most pixels with it.

    Parameters
    ----------
    truth : array of shape (n, height, width)
        Labels.
    moving : int
        The label of foreground.
    """
    followed: list[TrueObject] = []
    over: list[TrueObject] = []
    for number, labels in enumerate(truth):
        regions, count = ndimage.label(labels == moving, np.ones((3, 3)))
        sizes = np.bincount(regions.reshape(-1), minlength=count + 1)
        left = {label for label in range(1, count + 1) if sizes[label] >= SMALLEST * labels.size}
        shared = [np.bincount(regions[one.mask], minlength=count + 1) for one in followed]
        pairs = [(int(counts[label]), i, label) for i, counts in enumerate(shared) for label in left if counts[label]]
        now: dict[int, TrueObject] = {}
        for _, i, label in sorted(pairs, reverse=True):
            if label in left and i not in now:
                now[i] = followed[i]
                left.remove(label)
                _add(followed[i], number, regions == label)
        over += [one for i, one in enumerate(followed) if i not in now]
        new = [TrueObject(regions == label) for label in sorted(left)]
        for one in new:
            _add(one, number, one.mask)
        followed = [*now.values(), *new]
    return [one for one in (*over, *followed) if len(one.boxes) >= SHORTEST]


def _add(one: TrueObject, number: int, mask: NDArray[np.bool_]) -> None:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    one.mask = mask
    one.boxes[number] = int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def found_events(film: Film, **settings: Any) -> dict[int, dict[int, EventPlace]]:
    """Where the events of a film are, by their numbers and those of the frames.

    Parameters
    ----------
    film : Film
        In colours, or in grey where it has none.
    **settings
        Of the stream.
    """
    finder, places = EventFinder(1.0, WATCHED), dict[int, dict[int, EventPlace]]()
    source = FrameSource(lambda stop: _frames(film), name="film", colour="planes", rate=WATCHED, ahead=False)
    for number, found in enumerate(separated_frames(source, **settings)):
        finder.push(number, found)
        for event, seen in finder.sightings:
            places.setdefault(event, {})[seen.frame] = seen
    return places


def _frames(film: Film) -> Iterator[Frame]:
    for number, grey in enumerate(film.frames):
        yield Frame(number / WATCHED, grey if film.colours is None else Planes.from_rgb(film.colours[number]))


def event_score(truth: NDArray[Any], places: Mapping[int, Mapping[int, EventPlace]]) -> EventScore:
    """Hold events to the truth, see `EventScore`."""
    objects = true_objects(truth)
    spans = [(min(seen), max(seen)) for seen in places.values()]
    in_time = in_place = 0
    for one in objects:
        first, last = min(one.boxes), max(one.boxes)
        shared = [min(last, end) - max(first, begin) + 1 for begin, end in spans]
        covered = [sum(_covers(seen.get(number), box) for number, box in one.boxes.items()) for seen in places.values()]
        in_time += 2 * max(shared, default=0) >= last - first + 1
        in_place += 2 * max(covered, default=0) >= len(one.boxes)
    inside = sum(2 * sum(_is_watched(truth, one) for one in seen.values()) >= len(seen) for seen in places.values())
    return EventScore(len(objects), in_time, in_place, inside)


def _covers(seen: EventPlace | None, box: tuple[int, int, int, int]) -> bool:
    if seen is None:
        return False
    width = max(0, min(seen.right, box[2]) - max(seen.left, box[0]))
    height = max(0, min(seen.bottom, box[3]) - max(seen.top, box[1]))
    own, its = (box[2] - box[0]) * (box[3] - box[1]), (seen.right - seen.left) * (seen.bottom - seen.top)
    return width * height >= COVERED * own and its <= LARGEST * own


def _is_watched(truth: NDArray[Any], seen: EventPlace) -> bool:
    """Whether half of the place of an event is in the region of interest."""
    place = truth[seen.frame, seen.top : seen.bottom, seen.left : seen.right]
    return bool(2 * np.count_nonzero(place != UNWATCHED) >= place.size)
