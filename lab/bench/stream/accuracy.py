"""Parts "stationary" and "rotation" of comparison "stream": errors and angles, no clock."""

import warnings
from collections.abc import Sequence
from math import sqrt
from statistics import median
from typing import Any

import numpy as np

from ..shared.progress import say
from .contenders import BLOCK_SIZE, Follower
from .racing import Course, angle_to

STATIONARY = Course(4000, 400, 0.0)
TURNING = Course(10_000, 400, 90.0)
TURNING_NOISE = (0.0, 0.05)
LEARNT = 2000
"""Samples after which a model should follow."""
EVERY = 500
"""Samples between two looks at the angle."""


def stationary(followers: Sequence[Follower], course: Course, seeds: Sequence[int]) -> dict[str, Any]:
    """Relative errors on the last tenth of a stream without noise and rotation; every block is met unlearnt."""
    rows = []
    for follower in followers:
        say(f"  stationary: {follower.name}")
        runs = [_error_at_the_end(follower, course, seed) for seed in seeds]
        errors = [error for error, _ in runs]
        row = {"contender": follower.name, "settings": follower.settings, "package": follower.package}
        row |= {"worst": max(errors), "median": median(errors), "errors": errors}
        rows.append(row | {"rank": max(rank for _, rank in runs)})
    return {**course._asdict(), "seeds": len(seeds), "rows": rows}


def _error_at_the_end(follower: Follower, course: Course, seed: int) -> tuple[float, int]:
    learner = follower.make()
    missed = total = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, block in enumerate(course.blocks(0.0, seed)):
            if 10 * k >= 9 * course.n_blocks:
                missed += float(np.sum((learner.low_rank(block.X) - block.low_rank) ** 2))
                total += float(np.sum(block.low_rank**2))
            learner.learn(block.X)
    return sqrt(missed / total), len(learner.components())


def turning(followers: Sequence[Follower], course: Course, seeds: Sequence[int]) -> dict[str, Any]:
    """Largest angles to the true subspace once the first samples are learnt."""
    rows = []
    for noise in TURNING_NOISE:
        for follower in followers:
            say(f"  rotation, noise {noise}: {follower.name}")
            runs = [_angles(follower, course, noise, seed) for seed in seeds]
            row = {"contender": follower.name, "noise": noise, "angle": max(max(angles) for angles, _ in runs)}
            rows.append(row | {"angles": [angles for angles, _ in runs], "rank": max(rank for _, rank in runs)})
    return {**course._asdict(), "seeds": len(seeds), "learnt": LEARNT, "every": EVERY, "rows": rows}


def _angles(follower: Follower, course: Course, noise: float, seed: int) -> tuple[list[float], int]:
    learner = follower.make()
    angles, rank = [], 0
    for k, block in enumerate(course.blocks(noise, seed), 1):
        learner.learn(block.X)
        seen = k * BLOCK_SIZE
        if seen >= LEARNT and seen % EVERY == 0:
            angles.append(angle_to(learner.components(), block.basis))
            rank = max(rank, len(learner.components()))
    return angles, rank
