"""Compare our solvers with a plain method and with other packages; write a report.

python benchmarks/run.py [--quick] [--only NAME] [--out FOLDER]
"""

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from environment import facts, pin_threads, thread_pools

NAMES = ("pcp", "unconstrained", "projection", "memory", "stream", "encoder", "distributed", "video", "threads", "cold")
RESULTS = Path(__file__).resolve().parent / "results"


def comparisons(quick: bool) -> dict[str, Callable[[], dict[str, Any]]]:
    """The comparisons by name. Imported late: threads must be pinned before numpy comes in."""
    import compare_cold
    import compare_distributed
    import compare_encoder
    import compare_memory
    import compare_pcp
    import compare_projection
    import compare_stream
    import compare_threads
    import compare_unconstrained
    import compare_video
    from tasks import SIZES, SMALL

    sizes = (SMALL,) if quick else SIZES
    return {
        "pcp": lambda: compare_pcp.compare(sizes, quick),
        "unconstrained": lambda: compare_unconstrained.compare(sizes, quick),
        "projection": lambda: compare_projection.compare(40 if quick else compare_projection.FRAMES),
        "memory": lambda: compare_memory.compare((SMALL,) if quick else compare_memory.SIZES),
        "stream": lambda: compare_stream.compare(quick),
        "encoder": lambda: compare_encoder.compare(quick),
        "distributed": lambda: compare_distributed.compare(quick),
        "video": lambda: compare_video.compare(quick),
        "threads": lambda: compare_threads.compare(quick),
        "cold": lambda: compare_cold.compare(quick),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare our solvers with a plain method and with other packages.")
    parser.add_argument("--quick", action="store_true", help="400x400 only, a smoke test; writes only with --out")
    parser.add_argument("--only", choices=NAMES, help="one comparison; the others keep their last results")
    parser.add_argument("--out", type=Path, help="folder for latest.md and latest.json")
    arguments = parser.parse_args()
    pin_threads()
    options = ["--quick"] * arguments.quick + [f"--only {arguments.only}"] * (arguments.only is not None)
    command = " ".join(["python benchmarks/run.py", *options])
    folder = arguments.out or (None if arguments.quick else RESULTS)
    results = _earlier(folder) if arguments.only else {}
    for name, compare in comparisons(arguments.quick).items():
        if arguments.only in (None, name):
            results[name] = _under_conditions(name, compare, command)
            _write(folder, results)
    from report import markdown

    print(markdown(results))


def _under_conditions(name: str, compare: Callable[[], dict[str, Any]], command: str) -> dict[str, Any]:
    from race import say

    say(f"{name}:")
    conditions, begin = facts(command), perf_counter()
    found = compare()
    minutes = round((perf_counter() - begin) / 60, 1)
    after = {"load_average_after": round(os.getloadavg()[0], 2), "minutes": minutes, "threads": thread_pools()}
    return found | {"conditions": conditions | after}


def _earlier(folder: Path | None) -> dict[str, Any]:
    path = folder / "latest.json" if folder else None
    return json.loads(path.read_text()) if path and path.exists() else {}


def _write(folder: Path | None, results: dict[str, Any]) -> None:
    """After every comparison, so that a run cut short is not lost."""
    from report import markdown

    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "latest.json").write_text(json.dumps(results, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
        (folder / "latest.md").write_text(markdown(results))


if __name__ == "__main__":
    main()
