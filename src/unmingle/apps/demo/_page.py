"""The report of the demo."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import __version__, report, store
from ._run import FALSE_ALARM_RATE, Demo, comparison
from ._song import song_section

Array = NDArray[Any]

PICTURED_FRAMES = 5


def write_report(demo: Demo, folder: str | PathLike[str]) -> Path:
    """Write `report.html` and, for use elsewhere, its film strip as `film_strip.png`; return the path of the report."""
    folder, frames = Path(folder), _busy_frames(demo.scene.masks)
    columns = _pictures(demo, frames)
    with store.write_atomically(folder / "film_strip.png") as aside:
        aside.write_bytes(report.png(report.contact_sheet(columns)))
    path = folder / "report.html"
    with store.write_atomically(path) as aside:
        aside.write_text(_whole_page(demo, columns, frames), encoding="utf-8")
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


def _whole_page(demo: Demo, columns: dict[str, list[Array]], frames: Sequence[int]) -> str:
    return report.page(
        "A street, unmingled",
        "<h1>A street, unmingled</h1>",
        *_opening(demo),
        *_film(demo, frames),
        *_strip(columns, frames),
        *_compared(demo),
        *_explained(demo),
        *song_section(demo.song),
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
    values = {"background": demo.part.singular_values[:shown], "camera": camera}
    plot = report.curves(
        [report.Series(name, range(1, len(found) + 1), found.tolist(), "dots") for name, found in values.items()],
        x=report.Axis("number", steps=report.WHOLE),
        y=report.Axis("singular value", log=True),
    )
    return report.figure(
        plot, "Noise and passers-by give the film full rank; the background needs only a few patterns."
    )


def _descent(demo: Demo) -> str:
    curve = report.Series("relative duality gap", range(1, len(demo.measures) + 1), demo.measures)
    plot = report.curves([curve], x=report.Axis("iteration", steps=report.WHOLE), y=report.Axis("gap", log=True))
    return report.figure(plot, "How far the answer is, at most, from the best one, after each iteration.")
