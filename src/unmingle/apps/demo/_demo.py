"""The demo: a street with known truth, separated and reported."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import __version__, report, store
from ...decomposition import Decomposition, decompose
from ...iterate import Callback, Progress
from ...metrics import FMeasure, f_measure
from ...penalties import robust_scale
from ...synth import Scene, surveillance_scene

Array = NDArray[Any]

FALSE_ALARM_RATE = 1e-4
"""Share of background pixels that Gaussian noise may push into a mask."""

PICTURED_FRAMES = 5


@dataclass(frozen=True, eq=False)
class Way:
    """One way to find the background, with the mask it leads to and how good that is."""

    name: str
    mask: Array
    score: FMeasure
    seconds: float


@dataclass(frozen=True, eq=False)
class Demo:
    """A scene, its separation, and simpler ways for comparison; the separation is the first of the ways."""

    scene: Scene
    part: Decomposition
    ways: list[Way]
    measures: list[float]
    n_frames: int
    seed: int

    @property
    def command(self) -> str:
        """What to type to get the same again."""
        return f"unmingle demo --seed {self.seed} --frames {self.n_frames}"


def run(n_frames: int, seed: int, callback: Callback) -> Demo:
    """Make the scene, separate it by robust PCA and by simpler means, and compare the masks with the truth."""
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
    return Demo(scene, part, ways, measures, n_frames, seed)


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


def write_report(demo: Demo, folder: Path) -> Path:
    """Write `report.html` and, for use elsewhere, its film strip as `film_strip.png`; return the path of the report."""
    frames = _busy_frames(demo.scene.masks)
    columns = _pictures(demo, frames)
    with store.write_atomically(folder / "film_strip.png") as aside:
        aside.write_bytes(report.png(report.contact_sheet(columns)))
    path = folder / "report.html"
    with store.write_atomically(path) as aside:
        aside.write_text(_page(demo, columns, frames), encoding="utf-8")
    return path


def _busy_frames(masks: Array) -> list[int]:
    """Return the busiest frame of each of several equal spans of time."""
    activity = np.count_nonzero(masks, axis=(1, 2))
    spans = np.array_split(np.arange(len(masks)), min(PICTURED_FRAMES, len(masks)))
    return [int(span[np.argmax(activity[span])]) for span in spans]


def _pictures(demo: Demo, frames: Sequence[int]) -> dict[str, list[Array]]:
    scene = demo.scene
    background = demo.part.low_rank.reshape(scene.frames.shape)
    moving = _on_grey(demo.part.outliers.reshape(scene.frames.shape))
    return {
        "camera": [scene.frames[frame] for frame in frames],
        "background (low rank)": [background[frame] for frame in frames],
        "foreground (outliers)": [moving[frame] for frame in frames],
        "mask": [_judged(demo.ways[0].mask[frame], scene.masks[frame]) for frame in frames],
        "truth": [scene.masks[frame].astype(np.float32) for frame in frames],
    }


def _on_grey(outliers: Array) -> Array:
    return np.clip(0.5 + 0.75 * outliers, 0.0, 1.0)


def _judged(mask: Array, truth: Array) -> Array:
    """Colour a mask: white is right, orange a false alarm, blue a miss."""
    picture = np.zeros((*mask.shape, 3), dtype=np.float32)
    picture[mask & truth] = (1.0, 1.0, 1.0)
    picture[mask & ~truth] = (0.94, 0.5, 0.2)
    picture[~mask & truth] = (0.25, 0.55, 0.85)
    return picture


def _page(demo: Demo, columns: dict[str, list[Array]], frames: Sequence[int]) -> str:
    return report.page(
        "A street, unmingled",
        "<h1>A street, unmingled</h1>",
        *_opening(demo),
        *_film(demo, frames),
        *_strip(columns, frames),
        *_compared(demo),
        *_explained(demo),
        f"<footer>Made by unmingle {__version__} with <code>{demo.command}</code></footer>",
    )


def _opening(demo: Demo) -> list[str]:
    best = demo.ways[0]
    text = (
        "A camera looks at a street: people pass, cars pass, clouds drift, a lamp flickers. Robust PCA splits what it "
        "saw into what repeats and what stands out. Nothing was trained, and no threshold was set by hand."
    )
    return [
        report.paragraph(text, "lead"),
        report.key_figures(
            {
                "F-measure of the mask": f"{best.score.f:.3f}",
                "rank of the background": str(demo.part.rank),
                "certified relative gap": f"{demo.part.gap:.1e}",
                f"seconds for {demo.n_frames} frames, {demo.part.n_iter} iterations": f"{best.seconds:.2f}",
            }
        ),
    ]


def _film(demo: Demo, frames: Sequence[int]) -> list[str]:
    background = demo.part.low_rank.reshape(demo.scene.frames.shape)
    moving = _on_grey(demo.part.outliers.reshape(demo.scene.frames.shape))
    pictures = [report.side_by_side(*views) for views in zip(demo.scene.frames, background, moving, strict=True)]
    description = "The camera's film, the background found in it, and what moves in front of it"
    caption = (
        "Left, what the camera saw. Middle, the low-rank part: an empty street that follows the light. "
        "Right, the outliers, with zero as mid-grey."
    )
    return [report.figure(report.film(pictures, pictures[frames[0]], description), caption)]


def _strip(columns: dict[str, list[Array]], frames: Sequence[int]) -> list[str]:
    caption = (
        "One row for each moment, at frames "
        + ", ".join(map(str, frames))
        + ". In the masks white is right, orange a false alarm and blue a miss."
    )
    return [
        report.heading("What repeats, what stands out"),
        report.figure(report.film_strip(columns, frames), caption),
    ]


def _compared(demo: Demo) -> list[str]:
    text = (
        "All masks follow one rule: a pixel is foreground if it departs from the background by more than noise does, "
        f"with the noise level taken from the departures themselves and one false alarm allowed in "
        f"{1 / FALSE_ALARM_RATE:,.0f} pixels. "
        "The last row, which knows the empty street, shows how far this rule can go."
    )
    return [
        report.heading("Beside simpler ways to find the background"),
        report.paragraph(text),
        report.table(*comparison(demo)),
    ]


def _explained(demo: Demo) -> list[str]:
    formula = (
        '<p class="formula">minimise over <i>L</i>, <i>O</i>:&ensp; ½ ‖<i>X</i> − <i>L</i> − <i>O</i>‖² '
        "+ λ<sub>∗</sub> ‖<i>L</i>‖<sub>∗</sub> + λ ‖<i>O</i>‖<sub>1</sub></p>"
    )
    problem = (
        "Each frame is one row of X. The nuclear norm of L keeps the background simple, the sum of absolute values "
        "keeps the outliers O few. Both penalties came from the noise in the film: "
        f"λ∗\u00a0=\u00a0{demo.part.rank_penalty:.3g}, λ\u00a0=\u00a0{demo.part.outlier_penalty:.3g}."
    )
    certificate = (
        f"The problem is convex, and the answer carries its proof: a relative duality gap of {demo.part.gap:.1e} means "
        "that no other answer lowers the cost by more than that share."
    )
    return [
        report.heading("What was solved, and how well"),
        formula,
        report.paragraph(problem),
        report.paragraph(certificate),
        f'<div class="plots">{_spectra(demo)}{_descent(demo)}</div>',
    ]


def _spectra(demo: Demo) -> str:
    X = demo.scene.frames.reshape(demo.n_frames, -1)
    shown = min(30, demo.n_frames)
    camera = np.linalg.svd(X, compute_uv=False)[:shown]
    plot = report.log_plot(
        [
            report.Series("background", demo.part.singular_values[:shown].tolist(), "dots"),
            report.Series("camera", camera.tolist(), "dots"),
        ],
        x_label="number",
        y_label="singular value",
    )
    return report.figure(
        plot, "Noise and passers-by give the film full rank; the background needs only a few patterns."
    )


def _descent(demo: Demo) -> str:
    curve = report.Series("relative duality gap", demo.measures)
    plot = report.log_plot([curve], x_label="iteration", y_label="gap")
    return report.figure(plot, "How far the answer is, at most, from the best one, after each iteration.")
