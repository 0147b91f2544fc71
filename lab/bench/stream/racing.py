"""Part "race" of comparison "stream": every contender gets a block before any gets the next one."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from unmingle.metrics import subspace_angle
from unmingle.synth import StreamBlock, subspace_stream

from ..shared.environment import package_version
from ..shared.progress import say
from .contenders import BLOCK_SIZE, OURS, RANK, Array, Follower, Learner

SEGMENTS = 20
"""Parts of the stream; a ratio of speeds is the median of the ratios within them."""
NOISE = 0.05
OUTLIERS = 0.1

Row = dict[str, Any]


class Course(NamedTuple):
    samples: int
    features: int
    rotation: float
    """Degrees by which the subspace turns from the first sample to the last."""

    @property
    def n_blocks(self) -> int:
        return self.samples // BLOCK_SIZE

    def blocks(self, noise: float, seed: int) -> Iterator[StreamBlock]:
        options = {"rotation": self.rotation, "outlier_fraction": OUTLIERS, "noise": noise, "block_size": BLOCK_SIZE}
        return subspace_stream(self.samples, self.features, RANK, **options, random_state=seed)


FULL = Course(20_000, 2000, 30.0)
QUICK = Course(4000, 400, 30.0)


@dataclass
class Runner:
    """A contender in the race, with its clock."""

    follower: Follower
    learner: Learner
    segments: list[float] = field(default_factory=lambda: [0.0] * SEGMENTS)
    """CPU seconds in each part of the stream."""
    angles: list[float | None] = field(default_factory=list)
    """At the end of each part."""
    seen: int = 0

    def takes_part(self) -> bool:
        return self.follower.limit is None or self.seen < self.follower.limit

    def learn(self, X: Array, segment: int) -> None:
        X = X.astype(self.follower.dtype, copy=False)
        begin = process_time()
        self.learner.learn(X)
        self.segments[segment] += process_time() - begin
        self.seen += len(X)


def race(followers: Sequence[Follower], course: Course) -> Row:
    failures = {follower.name: _failure(follower) for follower in followers}
    runners = [Runner(follower, follower.make()) for follower in followers if not failures[follower.name]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, block in enumerate(course.blocks(NOISE, seed=0)):
            _pass_on(block, k, course, runners)
    rows = {runner.follower.name: _row(runner) for runner in runners}
    for row in rows.values():
        row["ratio"] = median_ratio(row, rows[OURS])
    missing = {name: {"not_run": reason} for name, reason in failures.items() if reason}
    return {
        **course._asdict(),
        "noise": NOISE,
        "rows": [_facts(follower) | (rows | missing)[follower.name] for follower in followers],
    }


def median_ratio(row: Row, base: Row) -> float:
    """How many times the CPU time of `base`: the median over the parts of the stream that both have seen."""
    parts = zip(row["segments"], base["segments"], strict=False)
    return median(mine / other for mine, other in parts)


def complete(rows: Iterable[Row], package: str) -> list[Row]:
    """Those of a package that saw all of the stream and ended with numbers."""
    rows = [row for row in rows if row["package"] == package and row.get("angle") is not None]
    longest = max((row["seen"] for row in rows), default=0)
    return [row for row in rows if row["seen"] == longest]


def angle_to(components: Array, basis: Array) -> float | None:
    return subspace_angle(components, basis) if np.isfinite(components).all() else None


def _pass_on(block: StreamBlock, k: int, course: Course, runners: Sequence[Runner]) -> None:
    segment, next_segment = k * SEGMENTS // course.n_blocks, (k + 1) * SEGMENTS // course.n_blocks
    present = [runner for runner in runners if runner.takes_part()]
    for runner in present:
        runner.learn(block.X, segment)
    if next_segment > segment:
        for runner in present:
            runner.angles.append(angle_to(runner.learner.components(), block.basis))
        say(f"  race: part {segment + 1} of {SEGMENTS}, {len(present)} contenders")


def _failure(follower: Follower) -> str:
    """Import and compile everything before any clock runs; tell whether a peer fails, and why."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learner = follower.make()
            for block in Course(3 * BLOCK_SIZE, 300, 0.0).blocks(NOISE, seed=0):
                learner.learn(block.X.astype(follower.dtype))
    except Exception as problem:
        if follower.package == "unmingle":
            raise
        return f"it failed with {type(problem).__name__}: {problem}"
    return ""


def _row(runner: Runner) -> Row:
    """The mean angle is that of the second half of what was seen; None where an angle could not be taken."""
    angles = runner.angles
    later = angles[len(angles) // 2 :]
    segments = runner.segments[: len(angles)]
    return {
        "seen": runner.seen,
        "cpu": sum(segments),
        "speed": runner.seen / sum(segments),
        "angle": angles[-1],
        "mean_angle": None if None in later else fmean(later),
        "segments": segments,
        "angles": angles,
        "rank": len(runner.learner.components()),
    }


def _facts(follower: Follower) -> Row:
    version = package_version(follower.package)
    return {
        "contender": follower.name,
        "settings": follower.settings,
        "package": follower.package,
        "version": version,
    }
