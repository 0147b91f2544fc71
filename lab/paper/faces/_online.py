"""Figure of the paper on online learning: an encoder that learns from the faces it is shown, in the order of time."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmingle.core.encoder.answers import exact_answer
from unmingle.core.encoder.encoder import Encoder
from unmingle.core.iterate import Callback, Progress
from unmingle.core.objective import projection
from unmingle.estimators.learned import LearnedRobustPCA
from unmingle.learn import Training

from ...data import DataMissing
from ..results import Table, write_text
from ._cells import OUTLIER_PENALTY, RANK_PENALTY, STEPS
from ._data import FaceSet, read_faces
from ._page import online_page

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
        Called with an `unmingle.core.iterate.Progress` of the faces.
    """
    if faces.person is not None:
        raise DataMissing(f"{faces.name} is not in the order of time; the online experiment needs one person's faces.")
    if len(faces.X) < SETTLED + STEP:
        raise DataMissing(f"{faces.name} contains {len(faces.X)} faces; the online experiment needs {SETTLED + STEP}.")
    model = LearnedRobustPCA(
        faces.n_components, n_layers=LAYERS, update_dictionary=True, rank_penalty=RANK_PENALTY,
        outlier_penalty=OUTLIER_PENALTY, training=Training(max_steps=max_steps, window=WINDOW, window_step=STEP),
        random_state=seed,
    )  # fmt: skip
    costs = _costs_in_time(model, faces.X, callback)
    settled = slice(SETTLED - WINDOW, None)
    result = {
        "settings": {"window": WINDOW, "step": STEP, "layers": LAYERS, "steps": max_steps, "seed": seed,
                     "set": faces.name, "rank_penalty": RANK_PENALTY, "outlier_penalty": OUTLIER_PENALTY,
                     "settled": SETTLED},
        "first": WINDOW,
        "F": costs,
        "mean_F_settled": {name: float(np.mean(values[settled])) for name, values in costs.items()},
    }  # fmt: skip
    write_text(Path(out) / "online.json", json.dumps(result))
    return result


def _costs_in_time(model: LearnedRobustPCA, X: Array, callback: Callback | None) -> dict[str, list[float]]:
    """F of each face after the first window, by method; the model learns from each block once it is encoded."""
    model.partial_fit(X[:WINDOW])
    start = model.encoder_
    untrained = start.untrained()
    costs: dict[str, list[float]] = {name: [] for name in ("exact, first dictionary", "untrained", "offline", "online")}
    for place in range(WINDOW, len(X) - STEP + 1, STEP):
        block = X[place : place + STEP]
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
            callback(Progress(place + STEP, len(X)))
    return costs


def _costs(encoder: Encoder, X: Array, answer: tuple[Array, Array]) -> Array:
    size = RANK_PENALTY * float(np.sum(encoder.components**2)) / (2 * WINDOW)
    return projection(X, encoder.components, *answer, RANK_PENALTY, OUTLIER_PENALTY) + size


def run(folder: Path, out: Path, *, max_steps: int, callback: Callback | None = None) -> dict[str, Any]:
    """The costs of the first faces in a folder that are in the order of time, see `lab.registry.Experiment`."""
    faces = [face_set for face_set in read_faces(folder) if face_set.person is None]
    if not faces:
        raise DataMissing(f"{folder} contains no faces of one person in the order of time.")
    result = online_faces(faces[0], out, max_steps=max_steps, callback=callback)
    write_text(out / "online.html", online_page(result))
    return result


def tables(result: Mapping[str, Any]) -> list[Table]:
    """Mean costs."""
    return [(["mean F of later faces", ""], [[name, f"{cost:.4f}"] for name, cost in result["mean_F_settled"].items()])]
