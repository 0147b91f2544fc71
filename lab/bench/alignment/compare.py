"""Comparison "alignment": what it costs to find a face again, against OpenCV's ECC and a plain RASL."""

from collections.abc import Callable
from importlib import import_module
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from unmingle import Aligner
from unmingle.alignment.pyramid import Pyramid
from unmingle.alignment.search import find_place
from unmingle.synth import displaced_faces

from ...paper.alignment import rasl
from ..shared.progress import say

SHAPE, IMAGE, COMPONENTS = (66, 48), (88, 72), 8
OURS, SEARCH, ECC, RASL = "Aligner.align", "its search alone", "OpenCV ECC", "plain RASL, all at once"
FULL, QUICK = (60, 200, 7), (20, 30, 3)
"""Faces to learn from, faces to find, and rounds."""


def run(quick: bool) -> dict[str, Any]:
    n_train, n_test, rounds = QUICK if quick else FULL
    train, test, still = (
        displaced_faces(n, shape=IMAGE, shift=shift, random_state=seed)
        for n, shift, seed in ((n_train, 3.0, 0), (n_test, 3.0, 1), (n_test, 0.0, 1))
    )
    model = Aligner(shape=SHAPE, n_components=COMPONENTS)
    aligned = model.fit_align(train.images)
    methods = _methods(model, aligned, test.images)
    rest = {name: find(still.images) for name, (find, _) in methods.items()}
    times: dict[str, list[float]] = {name: [] for name in methods}
    rows: dict[str, dict[str, Any]] = {}
    for _ in range(rounds):
        for name, (find, _) in methods.items():
            begun = process_time()
            found = find(test.images)
            times[name].append((process_time() - begun) / n_test)
            off = found[:, :2, 2] - rest[name][:, :2, 2] - test.matrices[:, :2, 2]
            off = off - np.median(off, axis=0)
            rows[name] = {"error": float(np.linalg.norm(off, axis=1).mean())}
    for name, taken in times.items():
        rows[name] |= {"cpu": median(taken), "package": methods[name][1]}
        say(f"  {name}: {1e3 * median(taken):.3f} ms, {rows[name]['error']:.4f} px")
    return {"train": n_train, "test": n_test, "rounds": rounds, "shape": list(SHAPE), "rows": rows}


def _methods(model: Aligner, aligned: Any, images: Any) -> dict[str, tuple[Callable[[Any], Any], str]]:
    inner = model._learned.model
    start = np.eye(3)
    start[:2, 2] = [(IMAGE[1] - SHAPE[1]) / 2, (IMAGE[0] - SHAPE[0]) / 2]
    starts = np.tile(start, (len(images), 1, 1))
    methods: dict[str, tuple[Callable[[Any], Any], str]] = {
        OURS: (lambda faces: model.align(faces).matrices, "unmingle"),
        SEARCH: (
            lambda faces: np.stack(
                [find_place(inner, Pyramid.of(face, len(inner.levels)), start).matrix for face in faces]
            ),
            "unmingle",
        ),
        RASL: (lambda faces: rasl(list(faces), SHAPE, starts), "unmingle"),
    }
    try:
        cv2 = import_module("cv2")
    except ImportError:
        return methods
    cv2.setNumThreads(1)
    template = np.ascontiguousarray(aligned.images.mean(axis=0))

    def ecc(faces: Any) -> Any:
        found = []
        for face in faces:
            matrix = start[:2].astype(np.float32)
            cv2.findTransformECC(template, face, matrix, cv2.MOTION_TRANSLATION, (3, 200, 1e-6), None, 5)
            found.append(matrix)
        return np.stack(found)

    return methods | {ECC: (ecc, f"opencv {cv2.__version__}")}
