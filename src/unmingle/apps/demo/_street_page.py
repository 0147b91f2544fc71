"""What the page of the demo shows and says of the street."""

from collections.abc import Sequence

import numpy as np

from ..._types import AnyArray
from ...report.numbers_in_words import share
from ...report.pictures import film, film_strip, judged_mask, side_by_side
from ...report.pieces import figure, heading, key_figures, paragraph, table
from ...report.plots import WHOLE, Axis, Series, curves
from ._judging import COLOURS, FALSE_ALARM_RATE
from ._street import StreetDemo, Way, street_comparison

PICTURED_FRAMES = 5
OURS, STREAM, MEDIAN = 0, 1, 2
"""Places among the ways."""


def busy_frames(masks: AnyArray) -> list[int]:
    """Return the busiest frame of each of several equal spans of time."""
    activity = np.count_nonzero(masks, axis=(1, 2))
    spans = np.array_split(np.arange(len(masks)), min(PICTURED_FRAMES, len(masks)))
    return [int(span[np.argmax(activity[span])]) for span in spans]


def street_pictures(demo: StreetDemo) -> dict[str, list[AnyArray]]:
    """The film strip: columns of pictures at the busy frames."""
    scene, frames = demo.scene, busy_frames(demo.scene.masks)
    ours, median = demo.ways[OURS], demo.ways[MEDIAN]

    def masks(way: Way) -> list[AnyArray]:
        return [judged_mask(way.mask[frame], scene.masks[frame]) for frame in frames]

    return {
        "camera": [scene.frames[frame] for frame in frames],
        "median: background": [median.background[frame] for frame in frames],
        "median: what moves": masks(median),
        "robust PCA: background": [ours.background[frame] for frame in frames],
        "robust PCA: what moves": masks(ours),
    }


def street_section(demo: StreetDemo, columns: dict[str, list[AnyArray]]) -> list[str]:
    """Everything about the street."""
    return [*_opening(demo), *_film(demo), *_strip(demo, columns), *_compared(demo)]


def _opening(demo: StreetDemo) -> list[str]:
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


def _film(demo: StreetDemo) -> list[str]:
    scene = demo.scene
    verdicts = (
        [judged_mask(mask, truth) for mask, truth in zip(demo.ways[place].mask, scene.masks, strict=True)]
        for place in (MEDIAN, OURS)
    )
    views = zip(scene.frames, *verdicts, strict=True)
    pictures = [side_by_side(*view) for view in views]
    still = pictures[busy_frames(scene.masks)[0]]
    caption = (
        "Left, what the camera saw. Middle, what the median calls moving. Right, what robust PCA calls moving. "
        + COLOURS
    )
    return [figure(film(pictures, still, "The film, and what moves in it by two ways"), caption)]


def _strip(demo: StreetDemo, columns: dict[str, list[AnyArray]]) -> list[str]:
    frames: Sequence[int] = busy_frames(demo.scene.masks)
    caption = (
        f"Five moments of the film (frames {', '.join(map(str, frames))}). The background of the median is the same "
        "picture all the time; that of robust PCA follows the light."
    )
    return [figure(film_strip(columns, frames), caption)]


def _compared(demo: StreetDemo) -> list[str]:
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
    return [table(*street_comparison(demo)), paragraph(text)]


def solved_section(demo: StreetDemo) -> list[str]:
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
        f'<div class="plots">{_spectra(demo)}{_descent(demo)}</div>',
    ]


def _spectra(demo: StreetDemo) -> str:
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


def _descent(demo: StreetDemo) -> str:
    curve = Series("relative duality gap", range(1, len(demo.measures) + 1), demo.measures)
    plot = curves([curve], x=Axis("iteration", steps=WHOLE), y=Axis("gap", log=True))
    return figure(plot, "How far the answer is, at most, from the best one, after each iteration.")
