"""A street with known truth, separated by robust PCA and by simpler ways."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...decomposition import Decomposition, decompose
from ...iterate import Callback, Progress
from ...metrics import FMeasure, f_measure
from ...penalties import robust_scale
from ...synth import Scene, surveillance_scene
from ._song import SongDemo, run_song, song_figures

Array = NDArray[Any]

FALSE_ALARM_RATE = 1e-4
"""Share of background pixels that Gaussian noise may push into a mask."""


@dataclass(frozen=True, eq=False)
class Way:
    """One way to find the background, with the mask it leads to and how good that is."""

    name: str
    mask: Array
    score: FMeasure
    seconds: float


@dataclass(frozen=True, eq=False)
class Demo:
    """A scene, its separation, and simpler ways for comparison, the separation first; and a song."""

    scene: Scene
    part: Decomposition
    ways: list[Way]
    measures: list[float]
    song: SongDemo
    n_frames: int
    seed: int

    @property
    def command(self) -> str:
        """What to type to get the same again."""
        return f"unmingle demo --seed {self.seed} --frames {self.n_frames}"


def run(n_frames: int, seed: int, callback: Callback) -> Demo:
    """Make a scene, separate it by robust PCA and by simpler means, compare the masks with the truth; then a song."""
    scene = surveillance_scene(n_frames, random_state=seed)
    X = scene.frames.reshape(n_frames, -1)
    measures: list[float] = []

    def follow(progress: Progress) -> None:
        measures.append(float(progress.measure))
        callback(progress)

    decompose(X[:, ::32], random_state=seed)  # compiles what is not compiled yet, before the clock starts
    begin = perf_counter()
    part = decompose(X, callback=follow, random_state=seed)
    seconds = perf_counter() - begin
    ways = [
        _scored("robust PCA", scene, part.low_rank, seconds),
        _timed(f"plain PCA, rank {part.rank}", scene, lambda: plain_pca(X, part.rank)),
        _timed("median over time", scene, lambda: np.median(X, axis=0)),
        _scored("the true background", scene, scene.background.reshape(X.shape), 0.0),
    ]
    return Demo(scene, part, ways, measures, run_song(seed), n_frames, seed)


def foreground(departure: Array) -> Array:
    """Tell which departures from the background are more than noise.

    The threshold follows from the noise itself: at the level found from the departures by a robust measure, Gaussian
    noise would exceed it at a rate of `FALSE_ALARM_RATE`.
    """
    deviations = NormalDist().inv_cdf(1.0 - FALSE_ALARM_RATE / 2.0)
    return np.abs(departure) > deviations * robust_scale(departure)


def plain_pca(X: Array, n_components: int) -> Array:
    """Return the best approximation of the given rank in the sense of least squares."""
    directions = np.linalg.eigh(X @ X.T)[1][:, X.shape[0] - n_components :]
    return directions @ (directions.T @ X)


def _timed(name: str, scene: Scene, find_background: Callable[[], Array]) -> Way:
    begin = perf_counter()
    background = find_background()
    return _scored(name, scene, background, perf_counter() - begin)


def _scored(name: str, scene: Scene, background: Array, seconds: float) -> Way:
    departure = scene.frames.reshape(len(scene.frames), -1) - background
    mask = foreground(departure).reshape(scene.masks.shape)
    return Way(name, mask, f_measure(mask, scene.masks), seconds)


def figures(demo: Demo) -> dict[str, Any]:
    """Return the results in numbers."""
    n_frames, height, width = demo.scene.frames.shape
    return {
        "frames": n_frames,
        "height": height,
        "width": width,
        "seed": demo.seed,
        "rank": demo.part.rank,
        "gap": float(demo.part.gap),
        "iterations": int(demo.part.n_iter),
        "converged": bool(demo.part.converged),
        "rank_penalty": float(demo.part.rank_penalty),
        "outlier_penalty": float(demo.part.outlier_penalty),
        "ways": [{"name": way.name, **way.score._asdict(), "seconds": way.seconds} for way in demo.ways],
        "song": song_figures(demo.song),
    }


def comparison(demo: Demo) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the table that compares the ways."""
    head = ["background from", "F-measure", "precision", "recall", "seconds"]
    rows = [
        [way.name, f"{way.score.f:.3f}", f"{way.score.precision:.3f}", f"{way.score.recall:.3f}", _seconds(way.seconds)]
        for way in demo.ways
    ]
    return head, rows


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f}" if seconds else "–"
