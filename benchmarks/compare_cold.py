"""Comparison "cold": the first call of a process whose compile cache is empty, and of the next one.

CPU seconds of a whole process, imports and the start of Python included; a fresh one for each measurement.
"""

import json
import os
import subprocess
import sys
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

FIT, FILM = "RobustPCA().fit, 500x30", "40 frames of 160x120"
TASKS = {
    FIT: "fit",
    "the same, then transform": "transform",
    FILM: "film",
    "OnlineRobustPCA().partial_fit, 500x30": "stream",
    "scikit-learn's PCA().fit, 500x30": "pca",
}
ROUNDS = 3


def compare(quick: bool) -> dict[str, Any]:
    rows = []
    for name, task in TASKS.items():
        turns = [_turn(task) for _ in range(1 if quick else ROUNDS)]
        slowest = max(turns, key=lambda turn: turn["cold"])["functions"]
        print(f"  cold, {name}: {[round(turn['cold'], 2) for turn in turns]}", file=sys.stderr, flush=True)
        times = {key: median(turn[key] for turn in turns) for key in ("cold", "warm")}
        rows.append({"task": name, **times, "rounds": len(turns), "functions": slowest})
    return {"rows": rows}


def _turn(task: str) -> dict[str, Any]:
    """CPU seconds with an empty cache and with that of the first process; and what the first spent on each function."""
    with TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        cold, warm = (
            json.loads(subprocess.check_output([sys.executable, __file__, task], env=environment, text=True))
            for _ in range(2)
        )
    return {"cold": cold["seconds"], "warm": warm["seconds"], "functions": cold["functions"]}


def _run(task: str) -> dict[str, Any]:
    import warnings

    import numpy as np

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 3)) @ rng.standard_normal((3, 30)) + 0.05 * rng.standard_normal((500, 30))
    X[rng.random(X.shape) < 0.01] += 10.0
    if task == "pca":
        from sklearn.decomposition import PCA

        PCA().fit(X)
        return {"seconds": process_time(), "functions": {}}
    import unmingle

    compiling = _listen()
    begin = process_time()
    if task == "film":
        from unmingle.apps.video import Stream

        frames = unmingle.synth.shaking_scene(40, 120, 160, random_state=0).frames
        making = process_time() - begin
        stream = Stream()
        for frame in frames:
            stream.push(frame)
    else:
        making = 0.0
        if task == "stream":
            unmingle.OnlineRobustPCA().partial_fit(X)
        else:
            model = unmingle.RobustPCA().fit(X)
        if task == "transform":
            model.transform(X)
    return {"seconds": process_time() - making, "functions": compiling}


def _listen() -> dict[str, float]:
    """CPU seconds that Numba takes for each function, those that it calls not included; filled as it compiles."""
    from numba.core import event

    seconds: dict[str, float] = {}
    begun: list[list[float]] = []

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            begun.append([process_time(), 0.0])

        def on_end(self, event: Any) -> None:
            begin, inner = begun.pop()
            taken = process_time() - begin
            if begun:
                begun[-1][1] += taken
            function = event.data["dispatcher"].py_func
            name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
            seconds[name] = seconds.get(name, 0.0) + taken - inner

    event.register("numba:compile", Listener())
    return seconds


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print(json.dumps(_run(sys.argv[1])))
