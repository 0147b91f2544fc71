"""Part "memory" of comparison "video": peak memory of a process in which a camera goes on and on.

The high-water mark of the resident memory is reset after imports, compilation and the making of frames; what was
resident then is the baseline. Needs Linux (`/proc/self/clear_refs`).
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

WIDTH, HEIGHT, COMPONENTS = 640, 480, 5
CHECKPOINTS = (1000, 10_000)
QUICK_CHECKPOINTS = (100, 300)
BACKGROUNDS = 8
"""Noisy pictures of the background that take turns."""


def bar() -> int:
    """1.5 m (2 q + 6) floats, in bytes."""
    return int(1.5 * WIDTH * HEIGHT * (2 * COMPONENTS + 6) * 4)


def peaks(checkpoints: Sequence[int]) -> dict[str, Any]:
    """Bytes: the baseline, and until each checkpoint the peak and what is resident; None where not measured."""
    facts = {"width": WIDTH, "height": HEIGHT, "components": COMPONENTS, "checkpoints": list(checkpoints), "bar": bar()}
    nothing = {"baseline": None, "peaks": None, "resident": None}
    if not Path("/proc/self/clear_refs").exists():
        return facts | nothing
    done = subprocess.run([sys.executable, __file__, json.dumps(checkpoints)], capture_output=True, text=True)
    if done.returncode:
        print(f"The memory over time was not measured: {done.stderr.strip()}", file=sys.stderr)
        return facts | nothing
    return facts | json.loads(done.stdout.splitlines()[-1])


def camera(width: int, height: int) -> Iterator[Any]:
    """Frames without end, all in one place: noise before a still picture, and a bright square that goes round."""
    import numpy as np

    rng = np.random.default_rng(0)
    still = rng.integers(40, 160, (height, width), dtype=np.uint8)
    noisy = [still + rng.integers(0, 7, still.shape, dtype=np.uint8) for _ in range(BACKGROUNDS)]
    frame = np.empty_like(still)
    side, time = height // 6, 0
    yield frame
    while True:
        frame[:] = noisy[time % BACKGROUNDS]
        left, top = 5 * time % (width - side), 3 * time % (height - side)
        frame[top : top + side, left : left + side] += 80
        yield frame
        time += 1


def _measure(checkpoints: Sequence[int]) -> dict[str, Any]:
    import gc
    from itertools import islice

    from peak_memory import resident

    from unmingle.apps.video import Stream

    practice = Stream(n_components=COMPONENTS)
    for frame in islice(camera(64, 48), 1, 200):
        practice.push(frame)
    frames = camera(WIDTH, HEIGHT)
    next(frames)
    stream = Stream(n_components=COMPONENTS)
    del practice
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    baseline = resident("VmRSS")
    found: dict[str, Any] = {"baseline": baseline, "peaks": [], "resident": []}
    for number, frame in enumerate(islice(frames, checkpoints[-1]), 1):
        stream.push(frame)
        if number in checkpoints:
            found["peaks"].append(resident("VmHWM"))
            found["resident"].append(resident("VmRSS"))
    return found


if __name__ == "__main__":
    from environment import pin_threads

    pin_threads()
    print(json.dumps(_measure(json.loads(sys.argv[1]))))
