"""A process of comparison "cold": it does one task, and prints its CPU seconds and what compiling took by function.

A script of its own, so that nothing but the task is imported.
"""

import json
import os
import sys
from time import process_time
from typing import Any


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
