"""Table 1 of the paper: how good encoders of several depths and trainings are on faces they have not seen."""

import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import report
from ..._validation import require
from ...decomposition import decompose
from ...encoder import Encoder, exact_answer
from ...iterate import Callback, Progress
from ...objective import projection
from ...store import write_atomically
from ._data import FaceSet

Array = NDArray[np.float32]

RANK_PENALTY, OUTLIER_PENALTY = 0.1, 0.01
LAYERS = (1, 2, 5, 10)
STEPS, BATCH = 1000, 64


class Method(NamedTuple):
    """A column of the table."""

    loss: str | None
    """None: not trained."""
    update_dictionary: bool = False
    start: str = "svd"
    """Which dictionary it starts from."""


METHODS = {
    "untrained": Method(None),
    "imitation": Method("imitation"),
    "unsupervised": Method("unsupervised"),
    "unsupervised + U": Method("unsupervised", True, "(4)"),
    "unsupervised + U, from SVD": Method("unsupervised", True),
}


class Case(NamedTuple):
    """Faces to learn from and to be tested on, with the two dictionaries to start from."""

    train: Array
    test: Array
    dictionaries: dict[str, Array]

    @classmethod
    def of(cls, train: Array, test: Array, n_components: int) -> "Case":
        """Find the dictionaries: singular vectors, scaled as in (3), and the solution of (4)."""
        from threadpoolctl import threadpool_limits

        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            _, values, right = np.linalg.svd(train, full_matrices=False)
            svd = np.sqrt(values[:n_components])[:, None] * right[:n_components]
            part = decompose(
                train, n_components=n_components, rank_penalty=RANK_PENALTY, outlier_penalty=OUTLIER_PENALTY,
                solver="alternating", random_state=0,
            )  # fmt: skip
        return cls(train, test, {"svd": svd, "(4)": part.components})

    def costs(self, components: Array, codes: Array, outliers: Array) -> dict[str, float]:
        """Mean f over the test faces, and F = f + lam_*/(2 n) ||U||^2 with n training faces."""
        f = float(np.mean(projection(self.test, components, codes, outliers, RANK_PENALTY, OUTLIER_PENALTY)))
        return {"f": f, "F": f + RANK_PENALTY * float(np.sum(components**2)) / (2 * len(self.train))}

    def exact(self, dictionary: str) -> dict[str, float]:
        """Costs of the exact robust projection onto a dictionary."""
        problem = _untrained(self.dictionaries[dictionary], 1)
        return self.costs(self.dictionaries[dictionary], *exact_answer(problem, self.test))

    def trained(self, method: Method, n_layers: int, max_steps: int, seed: int) -> Encoder:
        """An encoder trained on the training faces, or not at all."""
        start = _untrained(self.dictionaries[method.start], n_layers)
        if method.loss is None:
            return start
        learn = require("unmingle.learn", "train")
        return learn.train(
            start, self.train, loss=method.loss, update_dictionary=method.update_dictionary, max_steps=max_steps,
            batch_size=BATCH, random_state=seed,
        ).encoder  # fmt: skip


def _untrained(components: Array, n_layers: int) -> Encoder:
    return Encoder.from_components(
        components, rank_penalty=RANK_PENALTY, outlier_penalty=OUTLIER_PENALTY, n_layers=n_layers
    )


def _cell(case: Case, method: Method, n_layers: int, max_steps: int, seed: int) -> dict[str, float]:
    encoder = case.trained(method, n_layers, max_steps, seed)
    return case.costs(encoder.components, *encoder.encode(case.test))


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
        Called with the number of cells done and of all cells.

    Returns
    -------
    dict
        For each set and split the costs of the exact answers and of all cells.
    """
    from joblib import Parallel, delayed, parallel_config

    path = Path(out) / "table1.json"
    settings = {"layers": list(layers), "steps": max_steps, "batch": BATCH, "seed": seed,
                "rank_penalty": RANK_PENALTY, "outlier_penalty": OUTLIER_PENALTY}  # fmt: skip
    sets = list(sets)
    settings["data"] = {faces.name: faces.digest for faces in sets}
    result = _kept(path, settings)
    total = sum(len(faces.splits(seed)) for faces in sets) * len(METHODS) * len(layers)
    done = 0

    def missing() -> Iterator[tuple[Any, ...]]:
        for faces in sets:
            for name, (train, test) in faces.splits(seed).items():
                yield from _missing_cells(result, faces, name, train, test, layers)

    def work(key: tuple[str, str, str, int], case: Case) -> tuple[Any, dict[str, float]]:
        return key, _cell(case, METHODS[key[2]], key[3], max_steps, seed)

    with parallel_config("loky", inner_max_num_threads=1):
        tasks = (delayed(work)(key, case) for key, case in missing())
        for (face_set, split, method, depth), costs in Parallel(n_jobs, return_as="generator_unordered")(tasks):
            result["sets"][face_set][split]["cells"].setdefault(method, {})[str(depth)] = costs
            _keep(path, result)
            done = _count(result)
            if callback is not None:
                callback(Progress(done, total))
    _keep(path, result)
    return result


def _missing_cells(
    result: dict[str, Any], faces: FaceSet, split: str, train: Any, test: Any, layers: Sequence[int]
) -> Iterator[tuple[tuple[str, str, str, int], Case]]:
    entry = result["sets"].setdefault(faces.name, {}).setdefault(split, {"cells": {}})
    keys = [
        (faces.name, split, method, depth)
        for depth in sorted(layers, reverse=True)
        for method in METHODS
        if str(depth) not in entry["cells"].get(method, {})
    ]
    if not keys:
        return
    case = Case.of(faces.X[train], faces.X[test], faces.n_components)
    entry |= {
        "n_train": len(train),
        "n_test": len(test),
        "n_features": faces.X.shape[1],
        "n_components": faces.n_components,
        "exact": {name: case.exact(name) for name in case.dictionaries},
    }
    for key in keys:
        yield key, case


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
    with write_atomically(path) as aside:
        aside.write_text(json.dumps(result, indent=1))


def table1_page(result: dict[str, Any]) -> str:
    """The table as a page, with a figure for each set.

    Parameters
    ----------
    result : dict
        From `table1`.
    """
    settings = result["settings"]
    parts = [
        "<h1>Table 1: trained encoders on faces</h1>",
        report.paragraph(
            "Mean cost on faces that were not trained on; less is better. f is the cost of (11), "
            "F adds lam_*/(2n) ||U||² and compares answers with different dictionaries.",
            "lead",
        ),
        report.paragraph(
            f"Rank penalty {settings['rank_penalty']}, outlier penalty {settings['outlier_penalty']}, at most "
            f"{settings['steps']} steps of {settings['batch']} faces, seed {settings['seed']}. "
            "Made by: unmingle reproduce table1"
        ),
    ]
    for name, splits in result["sets"].items():
        for split, entry in splits.items():
            parts += _section(name, split, entry, settings["layers"])
    return report.page("Table 1: trained encoders on faces", *parts)


def _section(name: str, split: str, entry: dict[str, Any], layers: Sequence[int]) -> list[str]:
    plot = require("unmingle.report._curves", "plot")
    cells, exact = entry["cells"], entry["exact"]
    lines = {m: (list(layers), [cells[m][str(depth)]["F"] for depth in layers]) for m in METHODS}
    levels = {"exact, SVD dictionary": exact["svd"]["F"], "exact, dictionary of (4)": exact["(4)"]["F"]}
    axes = plot.curves(lines, levels=levels, x_label="layers", y_label="F", markers=True)
    how = {"random": "random split", "time": "later faces", "person": "other people"}[split]
    caption = (
        f"{entry['n_train']} faces to train on, {entry['n_test']} to test, {entry['n_features']} pixels, "
        f"{entry['n_components']} components."
    )
    return [
        report.heading(f"{name}, {how}"),
        report.figure(plot.svg(axes), caption),
        *(report.figure(_costs_table(cost, cells, exact, layers), f"Mean cost {cost}.") for cost in "fF"),
    ]


def _costs_table(cost: str, cells: dict[str, Any], exact: dict[str, Any], layers: Sequence[int]) -> str:
    rows = [[str(depth), *(f"{cells[method][str(depth)][cost]:.4f}" for method in METHODS)] for depth in layers]
    rows += [
        [f"exact, {name}", f"{exact[which][cost]:.4f}", *[""] * (len(METHODS) - 1)]
        for which, name in (("svd", "SVD dictionary"), ("(4)", "dictionary of (4)"))
    ]
    return report.table(["layers", *METHODS], rows, chosen=-1)
