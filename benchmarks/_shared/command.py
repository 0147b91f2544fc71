"""The command `python benchmarks/run.py`."""

import argparse
import json
import os
from pathlib import Path
from time import perf_counter
from typing import Any

from .comparisons import FOLDER, names, reports, run
from .environment import facts, pin_threads, thread_pools
from .progress import say

RESULTS = FOLDER / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare our solvers with a plain method and with other packages.")
    parser.add_argument("--quick", action="store_true", help="400x400 only, a smoke test; writes only with --out")
    parser.add_argument("--only", choices=names(), help="one comparison; the others keep their last results")
    parser.add_argument("--out", type=Path, help="folder for latest.md and latest.json")
    arguments = parser.parse_args()
    pin_threads()
    options = ["--quick"] * arguments.quick + [f"--only {arguments.only}"] * (arguments.only is not None)
    command = " ".join(["python benchmarks/run.py", *options])
    folder = arguments.out or (None if arguments.quick else RESULTS)
    results = _earlier(folder) if arguments.only else {}
    for name in reports():
        if arguments.only in (None, name):
            results[name] = _under_conditions(name, arguments.quick, command)
            _write(folder, results)
    from .report import markdown

    print(markdown(results))


def _under_conditions(name: str, quick: bool, command: str) -> dict[str, Any]:
    say(f"{name}:")
    conditions, begin = facts(command), perf_counter()
    found = run(name, quick)
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
