"""Table 1 of the paper: how good encoders of several depths and trainings are on faces they have not seen."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from unmingle.core.iterate import Callback, Progress

from ..results import Table, write_text
from ._cells import BATCH, METHODS, OUTLIER_PENALTY, RANK_PENALTY, STEPS, Case
from ._data import FaceSet, read_faces
from ._page import table1_page

LAYERS = (1, 2, 5, 10)


def table1(
    sets: Iterable[FaceSet],
    out: str | Path,
    *,
    layers: Sequence[int] = LAYERS,
    max_steps: int = STEPS,
    seed: int = 0,
    n_jobs: int = -1,
    callback: Callback | None = None,
) -> dict[str, Any]:
    """Train and test all cells, and keep each in a file as soon as it is done: a second call goes on where one ended.

    Parameters
    ----------
    sets : list of FaceSet
        The faces.
    out : path
        Folder for ``table1.json``.
    layers : sequence of int
        Depths.
    max_steps : int
        Training steps of a cell, of 64 samples.
    seed : int
        Of splits and training.
    n_jobs : int
        Processes, each with one thread; -1 for as many as processors.
    callback : callable, optional
        Called with an `unmingle.core.iterate.Progress` of the cells.

    Returns
    -------
    dict
        For each set and split the costs of the exact answers and of all cells.
    """
    from joblib import Parallel, delayed, parallel_config

    path = Path(out) / "table1.json"
    sets = list(sets)
    settings = {"layers": list(layers), "steps": max_steps, "batch": BATCH, "seed": seed,
                "rank_penalty": RANK_PENALTY, "outlier_penalty": OUTLIER_PENALTY,
                "data": {faces.name: faces.digest for faces in sets}}  # fmt: skip
    result = _kept(path, settings)
    total = sum(len(faces.splits(seed)) for faces in sets) * len(METHODS) * len(layers)

    def work(key: tuple[str, str, str, int], case: Case) -> tuple[Any, dict[str, float]]:
        return key, case.cell(METHODS[key[2]], key[3], max_steps, seed)

    with parallel_config("loky", inner_max_num_threads=1):
        tasks = (delayed(work)(*cell) for faces in sets for cell in _missing_cells(result, faces, layers, seed))
        for (face_set, split, method, depth), costs in Parallel(n_jobs, return_as="generator_unordered")(tasks):
            result["sets"][face_set][split]["cells"].setdefault(method, {})[str(depth)] = costs
            _keep(path, result)
            if callback is not None:
                callback(Progress(_count(result), total))
    _keep(path, result)
    return result


def _missing_cells(
    result: dict[str, Any], faces: FaceSet, layers: Sequence[int], seed: int
) -> Iterator[tuple[tuple[str, str, str, int], Case]]:
    for split, (train, test) in faces.splits(seed).items():
        entry = result["sets"].setdefault(faces.name, {}).setdefault(split, {"cells": {}})
        keys = [
            (faces.name, split, method, depth)
            for depth in sorted(layers, reverse=True)
            for method in METHODS
            if str(depth) not in entry["cells"].get(method, {})
        ]
        if not keys:
            continue
        case = Case.of(faces.X[train], faces.X[test], faces.n_components)
        entry |= {
            "n_train": len(train),
            "n_test": len(test),
            "n_features": faces.X.shape[1],
            "n_components": faces.n_components,
            "exact": {name: case.exact(name) for name in case.dictionaries},
        }
        yield from ((key, case) for key in keys)


def _count(result: dict[str, Any]) -> int:
    entries = (entry for splits in result["sets"].values() for entry in splits.values())
    return sum(len(cells) for entry in entries for cells in entry["cells"].values())


def _kept(path: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """What an earlier call with the same settings has done."""
    fresh: dict[str, Any] = {"settings": settings, "sets": {}}
    try:
        kept = json.loads(path.read_text())
    except (OSError, ValueError):
        return fresh
    return kept if isinstance(kept, dict) and kept.get("settings") == settings else fresh


def _keep(path: Path, result: dict[str, Any]) -> None:
    write_text(path, json.dumps(result, indent=1))


def run(
    folder: Path, out: Path, *, max_steps: int, n_jobs: int = -1, callback: Callback | None = None
) -> dict[str, Any]:
    """The table of all faces in a folder, see `lab.registry.Experiment`."""
    result = table1(read_faces(folder), out, max_steps=max_steps, n_jobs=n_jobs, callback=callback)
    write_text(out / "table1.html", table1_page(result))
    return result


def tables(result: Mapping[str, Any]) -> list[Table]:
    """Costs of the deepest encoders and of the exact answers."""
    deepest = str(max(result["settings"]["layers"]))
    found = []
    for name, splits in result["sets"].items():
        for split, entry in splits.items():
            costs = {f"{method}, {deepest} layers": depths[deepest] for method, depths in entry["cells"].items()}
            costs |= {f"exact, {which}": exact for which, exact in entry["exact"].items()}
            rows = [[method, f"{cost['f']:.4f}", f"{cost['F']:.4f}"] for method, cost in costs.items()]
            found.append(([f"{name}, split by {split}", "f", "F"], rows))
    return found
