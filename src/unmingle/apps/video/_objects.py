"""Objects: regions of the mask, followed from frame to frame by overlap and by nearness."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..._types import Float64Array
from ._separation import Box

Boxes = Float64Array
"""(n, 4): left, top, right and bottom of each."""


@dataclass(frozen=True)
class FollowingRules:
    """Which region of a frame is which object of the frames before.

    Held to the objects of films with known truth: `python -m lab film-events`.
    """

    most: int = 200
    """At most this number of regions of a frame, the largest, is looked at, and this number of objects followed."""
    touching: float = 0.25
    """Two boxes touch if they share at least this part of the smaller one."""
    inside: float = 0.5
    """A region is a part of an object only if at least this part of it lies within where the object should be."""
    full: float = 0.5
    """The parts of one object fill at least this part of the box around them."""
    speed_rate: float = 0.3
    """The newest step has at least this weight in the speed of the edges of a box."""
    longest_leap: int = 10
    """An object that is not seen is taken to go on as it went for this number of frames."""
    most_unlike: float = 4.0
    """The sizes of one thing in two frames between which it was not seen differ by less than this factor."""


FOLLOWING = FollowingRules()


@dataclass(eq=False, slots=True)
class FollowedObject:
    """Something that is followed."""

    box: Boxes
    """(4,): where it was seen last."""
    first: int
    """Number of the frame it was first seen in."""
    speed: Boxes
    """(4,): of its edges, pixels a frame."""
    area: float
    """Pixels of the mask that are its own."""
    last: int
    """Number of the frame it was last seen in, alone or with others."""
    alone_at: int
    """Number of the frame in which it was last seen alone, or was the one of several that was known best."""
    certain: bool = False
    """Whether it is known to be an object; others are dropped where they meet one."""
    joint: bool = False
    """Whether it shares its region with others."""
    seen: int = 1
    """Frames it was seen in."""
    alone: int = 1
    """Those of them in which it was seen alone."""

    def predicted(self, frame: int) -> Boxes:
        """Where it should be in a frame."""
        return self.box + self.speed * min(frame - self.last, FOLLOWING.longest_leap)

    def move(self, box: Boxes, area: float, frame: int, *, joint: bool) -> None:
        """Note where it is."""
        steps = frame - self.last
        if not (joint or self.joint):
            weight = max(FOLLOWING.speed_rate, 1.0 / (self.seen + 1))
            self.speed = (1.0 - weight) * self.speed + weight * (box - self.box) / steps
        self.box, self.area, self.last, self.joint = box, area, frame, joint
        self.seen += 1
        if not joint:
            self.alone_at, self.alone = frame, self.alone + 1

    def has_left(self, height: int, width: int) -> bool:
        """Whether it was last seen at an edge of a picture of this size, going out of it."""
        across, down = self.speed[:2] + self.speed[2:]
        left, top, right, bottom = self.box
        sideways = (left <= 0 and across < 0) or (right >= width and across > 0)
        return bool(sideways or (top <= 0 and down < 0) or (bottom >= height and down > 0))


class ObjectFollower:
    """Follows objects through the regions of masks.

    Each object goes on as its edges went; a region is its own if it overlaps where it should be most, or else is the
    nearest of like size. Objects that meet share a region and go on inside it, each as it went, until they part.
    Several regions within where one object should be are its parts. Cost: that of n x m overlaps for n objects and m
    regions, at most `FOLLOWING.most` each.
    """

    def __init__(self) -> None:
        self.objects: list[FollowedObject] = []

    def follow(self, frame: int, boxes: Sequence[Box]) -> list[FollowedObject]:
        """Take in the regions of the next frame; returns the objects that are seen in it, new ones among them."""
        if not boxes:
            return []
        if len(boxes) > FOLLOWING.most:
            boxes = sorted(boxes, key=lambda box: -box.area)[: FOLLOWING.most]
        regions = np.array([(box.left, box.top, box.right, box.bottom) for box in boxes], dtype=np.float64)
        areas = np.array([box.area for box in boxes], dtype=np.float64)
        matching = _Matching(self.objects, frame, regions, areas)
        matching.match()
        gone = matching.absorbed
        self.objects = [one for one in self.objects if one not in gone] if gone else self.objects
        room = FOLLOWING.most - len(self.objects)
        new = [
            FollowedObject(regions[j], frame, np.zeros(4), float(areas[j]), frame, frame)
            for j in matching.free_regions()[: max(0, room)]
        ]
        self.objects += new
        return [one for one in self.objects if one.last == frame]

    def drop(self, objects: Sequence[FollowedObject]) -> None:
        """Follow these no more."""
        self.objects = [one for one in self.objects if one not in objects]


class _Matching:
    """Which regions of a frame belong to which objects."""

    def __init__(self, objects: list[FollowedObject], frame: int, regions: Boxes, areas: Float64Array) -> None:
        self.objects, self.frame, self.regions, self.areas = objects, frame, regions, areas
        self.expected = np.array([one.predicted(frame) for one in objects]).reshape(-1, 4)
        self.owner: list[list[int]] = [[] for _ in regions]
        """Objects of each region."""
        self.main: dict[int, int] = {}
        """The region of each object."""
        self.parts: dict[int, list[int]] = {}
        """Further regions of an object."""
        self.absorbed: set[FollowedObject] = set()
        shared = overlaps(self.expected, regions)
        sizes, own = areas_of(self.expected), areas_of(regions)
        self.touch = shared / np.maximum(np.minimum(sizes[:, None], own[None]), 1.0)
        self.likeness = shared / np.maximum(sizes[:, None] + own[None] - shared, 1.0)
        self.inside = shared / np.maximum(own[None], 1.0)

    def match(self) -> None:
        """Find all pairs, then tell the objects."""
        self._pair(np.where(self.touch >= FOLLOWING.touching, self.likeness, 0.0))
        if len(self.main) < min(len(self.objects), len(self.regions)):
            nearness = self._nearness()
            self._pair(nearness * np.array([[one.joint] for one in self.objects]))
            self._share()
            self._pair(nearness)
        elif len(self.main) < len(self.objects):
            self._share()
        self._gather()
        self._tell()

    def _pair(self, scores: Float64Array) -> None:
        """One region for each object, one object for each region, the best pairs first."""
        pairs = np.argwhere(scores > 0.0)
        order = np.argsort(-scores[pairs[:, 0], pairs[:, 1]], kind="stable")
        for i, j in pairs[order].tolist():
            if i not in self.main and not self.owner[j] and self.objects[i] not in self.absorbed:
                self.main[i] = j
                self.owner[j].append(i)

    def _nearness(self) -> Float64Array:
        """Above 0 where a region of like size is not farther from where an object should be than that is large."""
        sizes, own = np.maximum(areas_of(self.expected), 1.0), np.maximum(areas_of(self.regions), 1.0)
        unlike = np.abs(np.log(own[None] / sizes[:, None])) / np.log(FOLLOWING.most_unlike)
        distance = np.hypot(*np.moveaxis(centres(self.expected)[:, None] - centres(self.regions)[None], -1, 0))
        reach = np.hypot(*(self.expected[:, 2:] - self.expected[:, :2]).T)[:, None]
        return np.asarray((1.0 - unlike).clip(0.0) * (1.0 - distance / np.maximum(reach, 1.0)).clip(0.0))

    def _share(self) -> None:
        """Objects without a region of their own that touch one that is taken share it, or are no objects."""
        for i, one in enumerate(self.objects):
            if i in self.main:
                continue
            j = int(np.argmax(self.touch[i]))
            if self.touch[i, j] < FOLLOWING.touching or not self.owner[j]:
                continue
            if one.certain:
                self.main[i] = j
                self.owner[j].append(i)
            else:
                self.absorbed.add(one)

    def _gather(self) -> None:
        """Regions that lie where one object should be are its parts, as long as they fill the box around them."""
        for j in self.free_regions():
            if not self.main:
                return
            i = int(np.argmax(self.inside[:, j]))
            if self.inside[i, j] < FOLLOWING.inside or i not in self.main or len(self.owner[self.main[i]]) > 1:
                continue
            pieces = self.regions[[self.main[i], *self.parts.get(i, []), j]]
            if areas_of(pieces).sum() >= FOLLOWING.full * areas_of(around(pieces)[None])[0]:
                self.parts.setdefault(i, []).append(j)
                self.owner[j].append(i)

    def _tell(self) -> None:
        for i, j in self.main.items():
            one, members = self.objects[i], self.owner[j]
            certain = [k for k in members if self.objects[k].certain]
            if len(members) > 1 and not one.certain and certain:
                self.absorbed.add(one)
            elif len(members) > 1 and len(certain) > 1:
                place = held_within(self.expected[i], self.regions[j])
                one.move(place, float(self.areas[j]) / len(certain), self.frame, joint=True)
                if all(one.alone >= self.objects[k].alone for k in certain):
                    one.alone_at = self.frame
            else:
                pieces = [j, *self.parts.get(i, [])]
                one.move(around(self.regions[pieces]), float(self.areas[pieces].sum()), self.frame, joint=False)

    def free_regions(self) -> list[int]:
        """Regions that belong to no object, the largest first."""
        free = [j for j, members in enumerate(self.owner) if not members]
        return sorted(free, key=lambda j: -self.areas[j])


def overlaps(one: Boxes, other: Boxes) -> Float64Array:
    """(n, m): areas that boxes share with others."""
    low = np.maximum(one[:, None, :2], other[None, :, :2])
    high = np.minimum(one[:, None, 2:], other[None, :, 2:])
    return np.asarray((high - low).clip(0.0).prod(axis=2))


def likeness(one: Boxes, other: Boxes) -> float:
    """Overlap over union of two boxes."""
    shared = float(overlaps(one[None], other[None])[0, 0])
    return shared / max(float(areas_of(np.stack([one, other])).sum()) - shared, 1.0)


def areas_of(boxes: Boxes) -> Float64Array:
    """(n,)."""
    return np.asarray((boxes[:, 2:] - boxes[:, :2]).clip(0.0).prod(axis=1))


def centres(boxes: Boxes) -> Float64Array:
    """(n, 2)."""
    return np.asarray(0.5 * (boxes[:, :2] + boxes[:, 2:]))


def around(boxes: Boxes) -> Boxes:
    """The box around all."""
    return np.concatenate([boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)])


def held_within(box: Boxes, region: Boxes) -> Boxes:
    """A box, moved and cut so that it lies within a region."""
    size = np.minimum((box[2:] - box[:2]).clip(1.0), region[2:] - region[:2])
    low = np.clip(box[:2], region[:2], region[2:] - size)
    return np.concatenate([low, low + size])
