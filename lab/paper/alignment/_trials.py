"""How exactly displaced faces are found again.

The error of a trial is answer(displaced) - answer(as it was) - displacement, each method compared with its own answer:
none is the judge of another. Every face is tested once with a model of three quarters of the others.
"""

from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmingle.alignment.families import compose, inverse
from unmingle.alignment.learning import Learned, align_new, learn_alignment, split_without_search
from unmingle.alignment.pyramid import Pyramid
from unmingle.alignment.result import Alignment
from unmingle.alignment.search import Model, find_place
from unmingle.alignment.settings import AlignmentSettings

from ._data import FacesApart, covered, random_change, shifted, warped
from ._rasl import rasl

Array = NDArray[Any]

LARGEST = 3.0
"""Pixels that faces are shifted by, at most, along each axis."""
PENALTIES = (0.1, 0.01)
"""The paper's."""
WITHOUT_OPENCV = "OpenCV is not installed, so ECC is left out: pip install opencv-contrib-python-headless."
OURS, SEARCH, ECC, RASL = "unmingle", "its search alone", "ECC to the mean face", "RASL, the whole set at once"
_ROUNDS, _EPS, _BLUR = 200, 1e-6, 5
"""Of ECC: iterations and precision at which it is most exact here, and its default blur."""


def learnt_from(faces: FacesApart, train: Array, family: str = "translation") -> tuple[Learned, Alignment]:
    """A model of some of the faces."""
    return learn_alignment(
        [faces.images[number] for number in train],
        AlignmentSettings(family, faces.shape, faces.n_components, *PENALTIES),
        starts=faces.starts[train],
    )


def opencv() -> Any:
    """The module cv2; None where it is not installed."""
    try:
        return import_module("cv2")
    except ImportError:
        return None


def shift_trials(faces: FacesApart, per_face: int, *, cover: bool, seed: int = 0) -> dict[str, Any]:
    """Shifts by up to 3 pixels: errors and times of our search and of ECC, and costs before and after.

    Parameters
    ----------
    faces : FacesApart
        The set.
    per_face : int
        Trials with each face.
    cover : bool
        Whether a square covers a tenth of the frame.
    seed : int
        Of shifts and squares.
    """
    rng, cv2 = np.random.default_rng(seed), opencv()
    rows: dict[str, list[tuple[float, float]]] = defaultdict(list)
    costs: list[Array] = []
    for train, test in faces.folds():
        learned, aligned = learnt_from(faces, train)
        methods = {OURS: _ours(learned), SEARCH: _search_of(learned.model)}
        if cv2 is not None:
            methods[ECC] = _ecc(cv2, np.nanmean(aligned.images, axis=0))
        for number in test:
            image, start = faces.images[number], faces.starts[number]
            still = {name: method(image, start) for name, method in methods.items()}
            for _ in range(per_face):
                shift = rng.uniform(-LARGEST, LARGEST, 2)
                new = shifted(image, shift)
                if cover:
                    new = covered(new, still[OURS], faces.shape, rng)
                for name, method in methods.items():
                    begun = perf_counter()
                    found = method(new, start)
                    taken = perf_counter() - begun
                    rows[name].append((float(np.linalg.norm((found - still[name])[:2, 2] - shift)), taken))
                costs.append(_costs(learned, new, start))
    before, after = np.stack(costs).T
    return {
        "set": faces.name,
        "cover": cover,
        "methods": {name: summary(np.array(row)) for name, row in rows.items()},
        "cost": {
            "shifted": float(before.mean()),
            "aligned": float(after.mean()),
            "lower": float(np.mean(after < before)),
        },
    }


def _costs(learned: Learned, image: Array, start: Array) -> Array:
    """The cost of an image where it starts, and where it is aligned."""
    return np.array(
        [split_without_search(learned, [image], start[None]).cost[0], align_new(learned, [image], start[None]).cost[0]]
    )


def _ours(learned: Learned) -> Callable[[Array, Array], Array]:
    return lambda image, start: align_new(learned, [image], start[None]).matrices[0]


def _search_of(model: Model) -> Callable[[Array, Array], Array]:
    return lambda image, start: find_place(model, Pyramid.of(image, len(model.levels)), start).matrix


def _ecc(cv2: Any, template: Array) -> Callable[[Array, Array], Array]:
    cv2.setNumThreads(1)
    face, criteria = np.ascontiguousarray(template, np.float32), (3, _ROUNDS, _EPS)

    def find(image: Array, start: Array) -> Array:
        found = start[:2].astype(np.float32)
        with suppress(cv2.error):  # it says that it did not converge
            cv2.findTransformECC(face, image, found, cv2.MOTION_TRANSLATION, criteria, None, _BLUR)
        return np.vstack([found, [0, 0, 1]])

    return find


def summary(rows: Array) -> dict[str, float]:
    """Errors and times of trials, (n, 2), in short."""
    errors, times = rows.T
    return {
        "trials": len(errors),
        "mean": float(errors.mean()),
        "p95": float(np.quantile(errors, 0.95)),
        "largest": float(errors.max()),
        "beyond_1": float(np.mean(errors > 1)),
        "ms": float(1e3 * np.median(times)),
    }


def rasl_trials(faces: FacesApart, *, cover: bool, seed: int = 0) -> dict[str, float]:
    """The whole set by RASL, as it is and with every face shifted; a common drift does not count."""
    rng = np.random.default_rng(seed)
    shifts = rng.uniform(-LARGEST, LARGEST, (len(faces.images), 2))
    still = rasl(faces.images, faces.shape, faces.starts)
    moved = [shifted(image, shift) for image, shift in zip(faces.images, shifts, strict=True)]
    if cover:
        moved = [covered(image, matrix, faces.shape, rng) for image, matrix in zip(moved, still, strict=True)]
    begun = perf_counter()
    found = rasl(moved, faces.shape, faces.starts)
    taken = (perf_counter() - begun) / len(moved)
    off = (found - still)[:, :2, 2] - shifts
    errors = np.linalg.norm(off - np.median(off, axis=0), axis=1)
    return summary(np.column_stack([errors, np.full(len(errors), taken)]))


def family_trials(faces: FacesApart, family: str, per_face: int, seed: int = 0) -> dict[str, Any]:
    """Turns and sizes, or corners, of faces that were changed by a family's members: how far the answer is off."""
    rng = np.random.default_rng(seed)
    angles, scales, corners = [], [], []
    for train, test in faces.folds():
        learned, _ = learnt_from(faces, train, family)
        frame = learned.model.frame
        still = align_new(learned, [faces.images[number] for number in test], faces.starts[test]).matrices
        for number, rest in zip(test, still, strict=True):
            places = rest @ frame.corners
            for _ in range(per_face):
                change = random_change(rng, family, (places[:2] / places[2]).T)
                image = warped(faces.images[number], change)
                found = align_new(learned, [image], faces.starts[number][None]).matrices[0]
                wanted = compose(inverse(change), rest)
                corners.append(float(frame.moves(found, wanted)))
                turn = np.linalg.inv(wanted[:2, :2]) @ found[:2, :2]
                angles.append(abs(float(np.rad2deg(np.arctan2(turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1])))))
                scales.append(abs(float(np.sqrt(abs(np.linalg.det(turn)))) - 1))
    p95 = {name: float(np.quantile(values, 0.95)) for name, values in
           (("angle", angles), ("scale", scales), ("corner", corners))}  # fmt: skip
    return {
        "set": faces.name,
        "family": family,
        "trials": len(corners),
        **p95,
        "beyond_1": float(np.mean(np.array(corners) > 1)),
    }


def original_costs(faces: FacesApart) -> dict[str, float]:
    """Faces as they are, roughly aligned: the cost of encoding them so, and of aligning them."""
    plain, aligned = [], []
    for train, test in faces.folds():
        learned, _ = learnt_from(faces, train)
        images = [faces.images[number] for number in test]
        plain.append(split_without_search(learned, images, faces.starts[test]).cost)
        aligned.append(align_new(learned, images, faces.starts[test]).cost)
    before, after = np.concatenate(plain), np.concatenate(aligned)
    return {
        "plain": float(before.mean()),
        "aligned": float(after.mean()),
        "not_higher": float(np.mean(after <= before)),
    }
