"""Comparison "cold": the first call of a process whose compile cache is empty, and of the next one.

CPU seconds of a whole process, imports and the start of Python included; a fresh one for each measurement.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from ..shared.progress import say

FIT, FILM = "RobustPCA().fit, 500x30", "40 frames of 160x120"
TASKS = {
    FIT: "fit",
    "the same, then transform": "transform",
    FILM: "film",
    "OnlineRobustPCA().partial_fit, 500x30": "stream",
    "scikit-learn's PCA().fit, 500x30": "pca",
}
ROUNDS = 3
FIRST_CALL = Path(__file__).with_name("first_call.py")


def run(quick: bool) -> dict[str, Any]:
    rows = []
    for name, task in TASKS.items():
        turns = [_turn(task) for _ in range(1 if quick else ROUNDS)]
        slowest = max(turns, key=lambda turn: turn["cold"])["functions"]
        say(f"  cold, {name}: {[round(turn['cold'], 2) for turn in turns]}")
        times = {key: median(turn[key] for turn in turns) for key in ("cold", "warm")}
        rows.append({"task": name, **times, "rounds": len(turns), "functions": slowest})
    return {"rows": rows}


def _turn(task: str) -> dict[str, Any]:
    """CPU seconds with an empty cache and with that of the first process; and what the first spent on each function."""
    with TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        cold, warm = (
            json.loads(subprocess.check_output([sys.executable, FIRST_CALL, task], env=environment, text=True))
            for _ in range(2)
        )
    return {"cold": cold["seconds"], "warm": warm["seconds"], "functions": cold["functions"]}
