"""Comparison "threads": the environment a user has against OMP_NUM_THREADS=1, on an idle machine and on a busy one.

Two processes wait for work, one of each kind, and do every task in turns; what counts is the time on the wall.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from ..shared.environment import THREAD_VARIABLES
from ..shared.progress import say

SHAPES = {"80x12": (80, 12, 2), "500x30": (500, 30, 3), "5000x30": (5000, 30, 4), "1000x1000": (1000, 1000, 10)}
LARGE = {"3000x3000": (3000, 3000, 30)}
FILM = "film 320x240, 60 frames"
TASKS = ("decompose", "fit", "transform", "partial_fit")
PINNED, DEFAULT = "OMP_NUM_THREADS=1", "default"
ROUNDS, LARGE_ROUNDS = 7, 2
WORKER = Path(__file__).with_name("worker.py")


def run(quick: bool) -> dict[str, Any]:
    shapes = {name: SHAPES[name] for name in ("80x12", "500x30")} if quick else SHAPES | LARGE
    tasks = [(task, name) for name in shapes for task in TASKS] + [("film", FILM)]
    with _workers(shapes) as workers:
        rows = {state: _rows(workers, tasks, quick) for state in ("idle",)}
        with _busy_cores():
            rows["busy"] = _rows(workers, tasks, quick)
    return {"cores": os.cpu_count(), "rows": rows, "quick": quick}


def _rows(workers: dict[str, Callable[[str, str], float]], tasks: list[tuple[str, str]], quick: bool) -> list[Any]:
    rows = []
    for task, name in tasks:
        rounds = 3 if quick else LARGE_ROUNDS if name in LARGE else ROUNDS
        order = [(DEFAULT, PINNED), (PINNED, DEFAULT)]
        turns = [{kind: workers[kind](task, name) for kind in order[k % 2]} for k in range(rounds)]
        ratio = median(turn[DEFAULT] / turn[PINNED] for turn in turns)
        seconds = {kind: median(turn[kind] for turn in turns) for kind in (DEFAULT, PINNED)}
        say(f"  threads, {name}, {task}: {ratio:.2f}")
        rows.append({"task": task, "what": name, "ratio": ratio, "seconds": seconds, "rounds": rounds})
    return rows


@contextmanager
def _workers(shapes: dict[str, Any]) -> Iterator[dict[str, Callable[[str, str], float]]]:
    """Two processes, as functions from a task and its data to seconds."""
    free = {name: value for name, value in os.environ.items() if name not in THREAD_VARIABLES}
    environments = {DEFAULT: free, PINNED: free | {"OMP_NUM_THREADS": "1"}}
    command = [sys.executable, WORKER, json.dumps(shapes)]
    started = {
        kind: subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for kind, environment in environments.items()
    }

    def asking(process: subprocess.Popen[str]) -> Callable[[str, str], float]:
        def ask(task: str, name: str) -> float:
            print(json.dumps([task, name]), file=process.stdin, flush=True)
            return float(process.stdout.readline())

        return ask

    try:
        workers = {kind: asking(process) for kind, process in started.items()}
        for worker in workers.values():
            for task in (*TASKS, "film"):
                worker(task, FILM if task == "film" else "80x12")
        yield workers
    finally:
        for process in started.values():
            process.kill()
            process.wait()


@contextmanager
def _busy_cores() -> Iterator[None]:
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
