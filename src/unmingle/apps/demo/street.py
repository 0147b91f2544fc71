"""A street whose light changes, separated by robust PCA, by the stream for video, and by simpler ways; its page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from scipy.ndimage import median_filter

from ..._types import Array, BoolArray
from ...core.decomposition.decompose_matrix import decompose
from ...core.decomposition.result import Decomposition
from ...core.iterate import Callback, Progress
from ...metrics import FMeasure, f_measure
from ...report.numbers_in_words import share
from ...report.pictures import film, film_strip, judged_mask, side_by_side
from ...report.pieces import figure, heading, key_figures, paragraph, table
from ...report.plots import WHOLE, Axis, Series, curves
from ...synth import Scene, surveillance_scene
from ..video import separated_frames
from .judging import COLOURS_IN_WORDS, FALSE_ALARM_RATE, choose_best_mask, find_foreground

Result = TypeVar("Result")

NEIGHBOURS = 15
"""Frames of the moving median."""
PICTURED_FRAMES = 5
"""Moments of the film that the page shows."""
OURS, MEDIAN = 0, 2
"""Places of robust PCA and of the median of all frames among the ways."""


@dataclass(frozen=True, eq=False)
class Way:
    """One way to find what moves, with the mask it leads to and how good that is."""

    name: str
    mask: BoolArray
    score: FMeasure
    seconds: float
    background: Array


@dataclass(frozen=True, eq=False)
class StreetDemo:
    """A scene, its separation by robust PCA, and all ways: robust PCA, the stream, simple ones, the true background."""

    scene: Scene
    part: Decomposition
    ways: list[Way]
    measures: list[float]
    compiling: float
    """Seconds that the first call took to get ready."""


def separate_street(n_frames: int, seed: int, callback: Callback | None) -> StreetDemo:
    """Film the street, separate it, and compare the masks with the truth."""
    scene = surveillance_scene(n_frames, light="changing", random_state=seed)
    X = scene.frames.reshape(n_frames, -1)
    measures: list[float] = []

    def follow(progress: Progress) -> None:
        measures.append(float(progress.measure))
        if callback is not None:
            callback(progress)

    _, compiling = _measure_time(lambda: decompose(X[:, ::32], random_state=seed))
    _, also = _measure_time(lambda: list(separated_frames(scene.frames[:40])))
    part, seconds = _measure_time(lambda: decompose(X, callback=follow, random_state=seed))
    ways = [
        _find_by_noise("robust PCA", scene, part.low_rank.reshape(scene.frames.shape), seconds),
        _find_by_stream(scene),
        _find_by_best_threshold("median of all frames", scene, lambda: np.median(scene.frames, axis=0)),
        _find_by_best_threshold(
            f"median of {NEIGHBOURS} frames", scene, lambda: median_filter(scene.frames, (NEIGHBOURS, 1, 1))
        ),
        _find_by_best_threshold(
            f"plain PCA, rank {part.rank}", scene, lambda: _approximate_by_pca(X, part.rank).reshape(scene.frames.shape)
        ),
        _find_by_noise("the true background", scene, scene.background, 0.0),
    ]
    return StreetDemo(scene, part, ways, measures, compiling + also)


def _approximate_by_pca(X: Array, n_components: int) -> Array:
    """Return the best approximation of the given rank in the sense of least squares."""
    directions = np.linalg.eigh(X @ X.T)[1][:, X.shape[0] - n_components :]
    return directions @ (directions.T @ X)


def _measure_time(work: Callable[[], Result]) -> tuple[Result, float]:
    begin = perf_counter()
    return work(), perf_counter() - begin


def _find_by_stream(scene: Scene) -> Way:
    found, seconds = _measure_time(lambda: list(separated_frames(scene.frames)))
    mask = np.stack([one.mask for one in found])
    background = np.stack([one.background for one in found])
    return Way("frame by frame (unmingle video)", mask, f_measure(mask, scene.masks), seconds, background)


def _find_by_noise(name: str, scene: Scene, background: Array, seconds: float) -> Way:
    mask = find_foreground(scene.frames - background)
    return Way(name, mask, f_measure(mask, scene.masks), seconds, background)


def _find_by_best_threshold(name: str, scene: Scene, find_background: Callable[[], Array]) -> Way:
    background, seconds = _measure_time(find_background)
    background = np.broadcast_to(background, scene.frames.shape)
    mask = choose_best_mask(scene.frames - background, scene.masks)
    return Way(name, mask, f_measure(mask, scene.masks), seconds, background)


def summarise_street(demo: StreetDemo) -> dict[str, Any]:
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


def compare_street(demo: StreetDemo) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the table that compares the ways."""
    head = ["background from", "F-measure", "precision", "recall", "seconds"]
    return head, [
        [way.name, *(f"{way.score[k]:.3f}" for k in (2, 0, 1)), _write_seconds(way.seconds)] for way in demo.ways
    ]


def _write_seconds(seconds: float) -> str:
    return f"{seconds:.2f}" if seconds else "–"


def _choose_busy_frames(masks: BoolArray) -> list[int]:
    """Return the busiest frame of each of several equal spans of time."""
    activity = np.count_nonzero(masks, axis=(1, 2))
    spans = np.array_split(np.arange(len(masks)), min(PICTURED_FRAMES, len(masks)))
    return [int(span[np.argmax(activity[span])]) for span in spans]


def picture_street(demo: StreetDemo) -> dict[str, list[Array]]:
    """The film strip: columns of pictures at the busy frames."""
    scene, frames = demo.scene, _choose_busy_frames(demo.scene.masks)
    ours, median = demo.ways[OURS], demo.ways[MEDIAN]

    def masks(way: Way) -> list[Array]:
        return [judged_mask(way.mask[frame], scene.masks[frame]) for frame in frames]

    return {
        "camera": [scene.frames[frame] for frame in frames],
        "median: background": [median.background[frame] for frame in frames],
        "median: what moves": masks(median),
        "robust PCA: background": [ours.background[frame] for frame in frames],
        "robust PCA: what moves": masks(ours),
    }


def write_street(demo: StreetDemo, columns: dict[str, list[Array]]) -> list[str]:
    """Everything about the street."""
    return [*_describe_film(demo), *_show_film(demo), *_show_strip(demo, columns), *_compare_ways(demo)]


def _describe_film(demo: StreetDemo) -> list[str]:
    ours, median = demo.ways[OURS], demo.ways[MEDIAN]
    text = (
        "People and cars pass a fixed camera. It gets dark, the sun comes and goes, and a lamp is switched on. Who "
        "moves? The usual way is to take the middle value of each pixel over the whole film as the empty street, and "
        "call everything else moving. Here that fails: no single picture is the empty street, since its light changes. "
        "Robust PCA finds a street whose light may change, and the people and cars in front of it."
    )
    return [
        heading("A film: who passes while the light changes?"),
        paragraph(text),
        key_figures(
            {
                "of the moving pixels found by robust PCA": share(ours.score.recall),
                "of what it marks is right": share(ours.score.precision),
                "of what the median marks is right": share(median.score.precision),
                f"seconds for {len(demo.scene.frames)} frames": f"{ours.seconds:.1f}",
            }
        ),
    ]


def _show_film(demo: StreetDemo) -> list[str]:
    scene = demo.scene
    verdicts = (
        [judged_mask(mask, truth) for mask, truth in zip(demo.ways[place].mask, scene.masks, strict=True)]
        for place in (MEDIAN, OURS)
    )
    views = zip(scene.frames, *verdicts, strict=True)
    pictures = [side_by_side(*view) for view in views]
    still = pictures[_choose_busy_frames(scene.masks)[0]]
    caption = (
        "Left, what the camera saw. Middle, what the median calls moving. Right, what robust PCA calls moving. "
        + COLOURS_IN_WORDS
    )
    return [figure(film(pictures, still, "The film, and what moves in it by two ways"), caption)]


def _show_strip(demo: StreetDemo, columns: dict[str, list[Array]]) -> list[str]:
    frames: Sequence[int] = _choose_busy_frames(demo.scene.masks)
    caption = (
        f"Five moments of the film (frames {', '.join(map(str, frames))}). The background of the median is the same "
        "picture all the time; that of robust PCA follows the light."
    )
    return [figure(film_strip(columns, frames), caption)]


def _compare_ways(demo: StreetDemo) -> list[str]:
    text = (
        "Precision is the share of the marked pixels that do move, recall the share of the moving pixels that are "
        "marked, and the F-measure is high only if both are (1 is best). The median and plain PCA get the threshold "
        "that gives them the highest F-measure, which only somebody who knows the truth can choose. Robust PCA and "
        "unmingle video choose theirs from the noise of the film (robust PCA: one false alarm in "
        f"{1 / FALSE_ALARM_RATE:,.0f} pixels). A median of a few frames follows the light, too, but takes whoever "
        "stops walking for background. unmingle video sees each frame once, as it comes, in a fraction of the time. "
        "The last row, which knows the empty street, shows the best that is possible here. Getting ready took "
        f"{demo.compiling:.1f} s; the first time on a computer compiles, which takes some seconds."
    )
    return [table(*compare_street(demo)), paragraph(text)]


def write_solution(demo: StreetDemo) -> list[str]:
    """The problem, its certificate, and two curves, for those who want to know."""
    formula = (
        '<p class="formula">minimise over <i>L</i>, <i>O</i>:&ensp; ½ ‖<i>X</i> − <i>L</i> − <i>O</i>‖² '
        "+ λ<sub>∗</sub> ‖<i>L</i>‖<sub>∗</sub> + λ ‖<i>O</i>‖<sub>1</sub></p>"
    )
    problem = (
        "Each frame is one row of X. The first penalty keeps the rank of the background L low: few pictures, mixed "
        f"differently in each frame, make it up (here {demo.part.rank}). The second keeps the outliers O few. Both "
        "come from the noise in the film: "
        f"λ∗\u00a0=\u00a0{demo.part.rank_penalty:.3g}, λ\u00a0=\u00a0{demo.part.outlier_penalty:.3g}."
    )
    certificate = (
        f"The problem is convex, and the answer comes with a proof of how good it is: a relative duality gap of "
        f"{demo.part.gap:.1e} means that no other answer has a cost lower by more than that share."
    )
    return [
        heading("For those who want to know: what was solved, and how well"),
        formula,
        paragraph(problem),
        paragraph(certificate),
        f'<div class="plots">{_plot_spectra(demo)}{_plot_descent(demo)}</div>',
    ]


def _plot_spectra(demo: StreetDemo) -> str:
    n_frames = len(demo.scene.frames)
    shown = min(30, n_frames)
    camera = np.linalg.svd(demo.scene.frames.reshape(n_frames, -1), compute_uv=False)[:shown]
    values = {"background": demo.part.singular_values[:shown], "camera": camera}
    plot = curves(
        [Series(name, range(1, len(found) + 1), found.tolist(), "dots") for name, found in values.items()],
        x=Axis("number", steps=WHOLE),
        y=Axis("singular value", log=True),
    )
    return figure(plot, "Noise and passers-by give the film full rank; the background needs few patterns.")


def _plot_descent(demo: StreetDemo) -> str:
    curve = Series("relative duality gap", range(1, len(demo.measures) + 1), demo.measures)
    plot = curves([curve], x=Axis("iteration", steps=WHOLE), y=Axis("gap", log=True))
    return figure(plot, "How far the answer is, at most, from the best one, after each iteration.")
