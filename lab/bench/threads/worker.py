"""A process of comparison "threads": it does what standard input asks for, and prints how long it took."""

import json
import sys
from time import perf_counter
from typing import Any


def _serve(shapes: dict[str, Any]) -> None:
    import warnings

    import unmingle
    from unmingle.apps.video import Stream

    warnings.simplefilter("ignore")
    data = {
        name: unmingle.synth.low_rank_plus_sparse(*shape, noise=0.05, random_state=0).X
        for name, shape in shapes.items()
    }
    models: dict[str, Any] = {}
    frames = unmingle.synth.shaking_scene(60, 240, 320, random_state=0).frames

    def film(_: str) -> None:
        stream = Stream()
        for frame in frames:
            stream.push(frame)

    def transform(name: str) -> None:
        models[name].transform(data[name])

    tasks = {
        "decompose": lambda name: unmingle.decompose(data[name]),
        "fit": lambda name: unmingle.RobustPCA().fit(data[name]),
        "transform": transform,
        "partial_fit": lambda name: unmingle.OnlineRobustPCA().partial_fit(data[name]),
        "film": film,
    }
    for line in sys.stdin:
        task, name = json.loads(line)
        if task == "transform" and name not in models:
            models[name] = unmingle.RobustPCA(max_iter=20).fit(data[name])
        begin = perf_counter()
        tasks[task](name)
        print(perf_counter() - begin, flush=True)


if __name__ == "__main__":
    _serve(json.loads(sys.argv[1]))
