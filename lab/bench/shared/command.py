"""`python -m lab bench`: run sections, write the report."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from ...data import DATA_VARIABLE
from .comparisons import LAB, compare, reports
from .environment import facts, pin_threads, thread_pools
from .progress import say

RESULTS = LAB / "results"


def run(folder: Path | None, *, sections: Sequence[str], quick: bool, out: Path | None) -> None:
    """Run all sections, or those that are named, and print the report; the others keep their last results."""
    if folder is not None:
        os.environ[DATA_VARIABLE] = str(folder)
    pin_threads()
    command = " ".join(["python -m lab bench", *sections, *["--quick"] * quick])
    target = out or (None if quick else RESULTS)
    results = _earlier(target) if sections else {}
    for name in reports():
        if name in sections or not sections:
            results[name] = _under_conditions(name, quick, command)
            _write(target, results)
    from .report import markdown

    print(markdown(results))


def _under_conditions(name: str, quick: bool, command: str) -> dict[str, Any]:
    say(f"{name}:")
    conditions, begin = facts(command), perf_counter()
    found = compare(name, quick)
    minutes = round((perf_counter() - begin) / 60, 1)
    after = {"load_average_after": round(os.getloadavg()[0], 2), "minutes": minutes, "threads": thread_pools()}
    return found | {"conditions": conditions | after}


def _earlier(folder: Path | None) -> dict[str, Any]:
    path = folder / "latest.json" if folder else None
    return json.loads(path.read_text()) if path and path.exists() else {}


def _write(folder: Path | None, results: dict[str, Any]) -> None:
    """After every comparison, so that a run cut short is not lost."""
    from .report import markdown

    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "latest.json").write_text(json.dumps(results, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
        (folder / "latest.md").write_text(markdown(results))
