"""A street whose light changes, separated by robust PCA, by the stream for video, and by simpler ways."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from scipy.ndimage import median_filter

from ..._types import AnyArray
from ...core.decomposition.matrix import decompose
from ...core.decomposition.parts import Decomposition
from ...core.iterate import Callback, Progress
from ...metrics import FMeasure, f_measure
from ...synth import Scene, surveillance_scene
from ..video import separated_frames
from ._judging import best_mask, foreground

Result = TypeVar("Result")

NEIGHBOURS = 15
"""Frames of the moving median."""


@dataclass(frozen=True, eq=False)
class Way:
    """One way to find what moves, with the mask it leads to and how good that is."""

    name: str
    mask: AnyArray
    score: FMeasure
    seconds: float
    background: AnyArray


@dataclass(frozen=True, eq=False)
class StreetDemo:
    """A scene, its separation by robust PCA, and all ways: robust PCA, the stream, simple ones, the true background."""

    scene: Scene
    part: Decomposition
    ways: list[Way]
    measures: list[float]
    compiling: float
    """Seconds that the first call took to get ready."""


def run_street(n_frames: int, seed: int, callback: Callback) -> StreetDemo:
    """Film the street, separate it, and compare the masks with the truth."""
    scene = surveillance_scene(n_frames, light="changing", random_state=seed)
    X = scene.frames.reshape(n_frames, -1)
    measures: list[float] = []

    def follow(progress: Progress) -> None:
        measures.append(float(progress.measure))
        callback(progress)

    _, compiling = _timed(lambda: decompose(X[:, ::32], random_state=seed))
    _, also = _timed(lambda: list(separated_frames(scene.frames[:40])))
    part, seconds = _timed(lambda: decompose(X, callback=follow, random_state=seed))
    ways = [
        _by_noise("robust PCA", scene, part.low_rank.reshape(scene.frames.shape), seconds),
        _stream(scene),
        _by_best_threshold("median of all frames", scene, lambda: np.median(scene.frames, axis=0)),
        _by_best_threshold(
            f"median of {NEIGHBOURS} frames", scene, lambda: median_filter(scene.frames, (NEIGHBOURS, 1, 1))
        ),
        _by_best_threshold(
            f"plain PCA, rank {part.rank}", scene, lambda: plain_pca(X, part.rank).reshape(scene.frames.shape)
        ),
        _by_noise("the true background", scene, scene.background, 0.0),
    ]
    return StreetDemo(scene, part, ways, measures, compiling + also)


def plain_pca(X: AnyArray, n_components: int) -> AnyArray:
    """Return the best approximation of the given rank in the sense of least squares."""
    directions = np.linalg.eigh(X @ X.T)[1][:, X.shape[0] - n_components :]
    return directions @ (directions.T @ X)


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    begin = perf_counter()
    return work(), perf_counter() - begin


def _stream(scene: Scene) -> Way:
    found, seconds = _timed(lambda: list(separated_frames(scene.frames)))
    mask = np.stack([one.mask for one in found])
    background = np.stack([one.background for one in found])
    return Way("frame by frame (unmingle video)", mask, f_measure(mask, scene.masks), seconds, background)


def _by_noise(name: str, scene: Scene, background: AnyArray, seconds: float) -> Way:
    mask = foreground(scene.frames - background)
    return Way(name, mask, f_measure(mask, scene.masks), seconds, background)


def _by_best_threshold(name: str, scene: Scene, find_background: Callable[[], AnyArray]) -> Way:
    background, seconds = _timed(find_background)
    background = np.broadcast_to(background, scene.frames.shape)
    mask = best_mask(scene.frames - background, scene.masks)
    return Way(name, mask, f_measure(mask, scene.masks), seconds, background)


def street_figures(demo: StreetDemo) -> dict[str, Any]:
    """The results in numbers."""
    n_frames, height, width = demo.scene.frames.shape
    return {
        "frames": n_frames,
        "height": height,
        "width": width,
        "rank": demo.part.rank,
        "gap": float(demo.part.gap),
        "iterations": int(demo.part.n_iter),
        "converged": bool(demo.part.converged),
        "rank_penalty": float(demo.part.rank_penalty),
        "outlier_penalty": float(demo.part.outlier_penalty),
        "first_call_seconds": demo.compiling,
        "ways": [{"name": way.name, **way.score._asdict(), "seconds": way.seconds} for way in demo.ways],
    }


def street_comparison(demo: StreetDemo) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the table that compares the ways."""
    head = ["background from", "F-measure", "precision", "recall", "seconds"]
    return head, [[way.name, *(f"{way.score[k]:.3f}" for k in (2, 0, 1)), _seconds(way.seconds)] for way in demo.ways]


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f}" if seconds else "–"
