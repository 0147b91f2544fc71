"""The experiment: the paper's figure, and tables of errors, times and costs."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unmingle.core.iterate import Callback, Progress

from ..results import Table, write_text
from ._data import read_sets
from ._gradients import GRADIENTS, gradient_trials, has_torch
from ._page import alignment_page, figure_of
from ._shaking import films_in, shaking_tables, shaking_trials
from ._trials import RASL, family_trials, opencv, original_costs, rasl_trials, shift_trials

TRIALS = 1000
"""With each set, at least."""
FAMILIES = ("similarity", "affine", "projective")


def run(folder: Path, out: Path, *, callback: Callback | None = None) -> dict[str, Any]:
    """All trials with the two sets of faces and with films, see `lab.registry.Experiment`; no training."""
    sets, films, torch = read_sets(folder), films_in(folder), has_torch()
    result: dict[str, Any] = {"opencv": opencv() is not None, "torch": torch}
    result |= {"shifts": [], "families": [], "originals": {}, "shaking": []}
    gore, dummy = sets
    parts = [(gore, False), (gore, True), (dummy, False)]
    total = len(parts) + len(sets) * (1 + len(FAMILIES)) + len(films)
    done = 0

    def advance() -> None:
        nonlocal done
        done += 1
        if callback is not None:
            callback(Progress(done, total))

    for faces, cover in parts:
        entry = shift_trials(faces, -(-TRIALS // len(faces.images)), cover=cover)
        if torch:
            entry["methods"][GRADIENTS] = gradient_trials(faces, cover=cover)
        entry["methods"][RASL] = rasl_trials(faces, cover=cover)
        result["shifts"].append(entry)
        advance()
    for faces in sets:
        result["originals"][faces.name] = original_costs(faces)
        advance()
        for family in FAMILIES:
            result["families"].append(family_trials(faces, family, -(-TRIALS // (2 * len(faces.images)))))
            advance()
    for name, path in films:
        result["shaking"] += shaking_trials(name, path)
        advance()
    write_text(out / "alignment.json", json.dumps(result))
    write_text(out / "alignment.html", alignment_page(result, [figure_of(faces) for faces in sets]))
    return result


def tables(result: Mapping[str, Any]) -> list[Table]:
    """Errors and times."""
    found = []
    for entry in result["shifts"]:
        title = f"{entry['set']}{', a tenth covered' if entry['cover'] else ''}: shifts"
        rows = [
            [name, *(f"{row[key]:.4f}" for key in ("mean", "p95")), f"{row['beyond_1']:.1%}", f"{row['ms']:.2f}"]
            for name, row in entry["methods"].items()
        ]
        found.append(([title, "mean error, px", "95 %", "beyond 1 px", "ms an image"], rows))
    rows = [
        [f"{row['set']}, {row['family']}", f"{row['angle']:.3f}", f"{row['scale']:.2%}", f"{row['corner']:.3f}"]
        for row in result["families"]
    ]
    found.append((["other changes, 95 %", "degrees", "size", "corners, px"], rows))
    rows = [
        [
            f"{entry['set']}, {'covered' if entry['cover'] else 'shifted'}",
            *(f"{entry['cost'][part]:.4f}" for part in ("shifted", "aligned")),
            f"{entry['cost']['lower']:.1%}",
        ]
        for entry in result["shifts"]
    ]
    rows += [
        [f"{name}, as it is", f"{row['plain']:.4f}", f"{row['aligned']:.4f}", f"{row['not_higher']:.1%}"]
        for name, row in result["originals"].items()
    ]
    found.append((["mean cost", "not aligned", "aligned", "lower in"], rows))
    return found + shaking_tables(result["shaking"])
