"""Figure of the paper on online learning: an encoder that learns from the faces it is shown, in the order of time."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import report
from ..._validation import require
from ...encoder import Encoder, exact_answer
from ...estimators import LearnedRobustPCA
from ...iterate import Callback, Progress
from ...objective import projection
from ...store import write_atomically
from .._missing import DataMissing
from ._data import FaceSet
from ._table1 import OUTLIER_PENALTY, RANK_PENALTY, STEPS

Array = NDArray[np.float32]

WINDOW, STEP, LAYERS = 100, 10, 5
SETTLED = 200
"""Faces after which the online encoder has had time to adapt."""


def online_faces(
    faces: FaceSet,
    out: str | Path,
    *,
    max_steps: int = STEPS,
    seed: int = 0,
    callback: Callback | None = None,
) -> dict[str, Any]:
    """Encode faces in the order of time, each before anything is learnt from it.

    All methods start from the first window of faces: the exact algorithm and the offline encoder keep its dictionary,
    the online encoder goes on learning, dictionary and layers. Costs are F = f + lam_*/(2 w) ||U||^2, w the window.

    Parameters
    ----------
    faces : FaceSet
        In the order of time.
    out : path
        Folder for ``online.json``.
    max_steps : int
        Training steps on the first window.
    seed : int
        Of training.
    callback : callable, optional
        Called with the number of faces done and of all faces.
    """
    if faces.person is not None:
        raise DataMissing(f"{faces.name} is not in the order of time; the online experiment needs one person's faces.")
    if len(faces.X) < SETTLED + STEP:
        raise DataMissing(f"{faces.name} holds {len(faces.X)} faces; the online experiment needs {SETTLED + STEP}.")
    model = LearnedRobustPCA(
        faces.n_components, n_layers=LAYERS, update_dictionary=True, rank_penalty=RANK_PENALTY,
        outlier_penalty=OUTLIER_PENALTY, window=WINDOW, window_step=STEP, max_steps=max_steps, random_state=seed,
    )  # fmt: skip
    first = faces.X[:WINDOW]
    model.partial_fit(first)
    start = model.encoder_
    untrained = start.untrained()
    costs: dict[str, list[float]] = {name: [] for name in ("exact, first dictionary", "untrained", "offline", "online")}
    for place in range(WINDOW, len(faces.X) - STEP + 1, STEP):
        block = faces.X[place : place + STEP]
        answers = {
            "exact, first dictionary": (start, exact_answer(start, block)),
            "untrained": (untrained, untrained.encode(block)),
            "offline": (start, start.encode(block)),
            "online": (model.encoder_, model.encoder_.encode(block)),
        }
        for name, (encoder, answer) in answers.items():
            costs[name] += [float(cost) for cost in _costs(encoder, block, answer)]
        model.partial_fit(block)
        if callback is not None:
            callback(Progress(place + STEP, len(faces.X)))
    settled = slice(SETTLED - WINDOW, None)
    result = {
        "settings": {"window": WINDOW, "step": STEP, "layers": LAYERS, "steps": max_steps, "seed": seed,
                     "set": faces.name, "rank_penalty": RANK_PENALTY, "outlier_penalty": OUTLIER_PENALTY,
                     "settled": SETTLED},
        "first": WINDOW,
        "F": costs,
        "mean_F_settled": {name: float(np.mean(values[settled])) for name, values in costs.items()},
    }  # fmt: skip
    with write_atomically(Path(out) / "online.json") as aside:
        aside.write_text(json.dumps(result))
    return result


def _costs(encoder: Encoder, X: Array, answer: tuple[Array, Array]) -> Array:
    size = RANK_PENALTY * float(np.sum(encoder.components**2)) / (2 * WINDOW)
    return projection(X, encoder.components, *answer, RANK_PENALTY, OUTLIER_PENALTY) + size


def online_page(result: dict[str, Any]) -> str:
    """The curves as a page.

    Parameters
    ----------
    result : dict
        From `online_faces`.
    """
    plot = require("unmingle.report._curves", "plot")
    settings, first = result["settings"], result["first"]
    window = settings["window"]
    lines = {}
    for name, values in result["F"].items():
        smooth = np.convolve(values, np.full(window, 1 / window), "valid")
        lines[name] = (list(range(first + window, first + window + len(smooth))), smooth.tolist())
    axes = plot.curves(lines, x_label="faces seen", y_label=f"F, mean of the last {window}")
    means = result["mean_F_settled"]
    rows = [[name, f"{value:.4f}", f"{100 * (value / means['exact, first dictionary'] - 1):+.1f} %"]
            for name, value in means.items()]  # fmt: skip
    return report.page(
        "Online learning on faces",
        "<h1>Online learning on faces</h1>",
        report.paragraph(
            f"{settings['set']} faces in the order of time, each encoded before anything is learnt from it, by "
            f"encoders of {settings['layers']} layers. All start from the first {window} faces.",
            "lead",
        ),
        report.figure(plot.svg(axes), "Cost F = f + lam_*/(2w) ||U||², less is better."),
        report.paragraph("Made by: unmingle reproduce online"),
        report.heading(f"Mean after the first {settings['settled']} faces"),
        report.table(["method", "F", "against exact"], rows, chosen=list(means).index("online")),
    )
