"""Part "memory" of comparison "video": peak memory of a process in which a camera goes on and on.

The high-water mark of the resident memory is reset after imports, compilation and the making of frames; what was
resident then is the baseline.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from unmingle.apps.video import Stream
from unmingle.media import Planes

from ..shared.peak_memory import baseline, in_fresh_process, obey, peak, resident

WIDTH, HEIGHT, COMPONENTS = 640, 480, 5
CHECKPOINTS = (1000, 10_000)
QUICK_CHECKPOINTS = (100, 300)
BACKGROUNDS = 8
"""Noisy pictures of the background that take turns."""


def bar() -> int:
    """1.5 m (2 q + 6) floats, in bytes."""
    return int(1.5 * WIDTH * HEIGHT * (2 * COMPONENTS + 6) * 4)


def peaks(checkpoints: Sequence[int], colour: bool) -> dict[str, Any]:
    """Bytes: the baseline, and until each checkpoint the peak and what is resident; None where not measured."""
    facts = {"width": WIDTH, "height": HEIGHT, "components": COMPONENTS, "checkpoints": list(checkpoints), "bar": bar()}
    found = in_fresh_process("lab.bench.video.memory", [int(colour), *checkpoints])
    return facts | (found or {"baseline": None, "peaks": None, "resident": None})


def camera(width: int, height: int, colour: bool) -> Iterator[Any]:
    """Frames without end, all in one place: noise before a still picture, and a bright square that goes round."""
    rng = np.random.default_rng(0)
    still = rng.integers(40, 160, (height, width), dtype=np.uint8)
    noisy = [still + rng.integers(0, 7, still.shape, dtype=np.uint8) for _ in range(BACKGROUNDS)]
    planes = Planes(np.full(width * height * 3 // 2, 128, dtype=np.uint8), height, width)
    frame = planes.luma if colour else np.empty_like(still)
    side, time = height // 6, 0
    yield planes if colour else frame
    while True:
        frame[:] = noisy[time % BACKGROUNDS]
        left, top = 5 * time % (width - side), 3 * time % (height - side)
        frame[top : top + side, left : left + side] += 80
        yield planes if colour else frame
        time += 1


def _measure(request: Sequence[int]) -> dict[str, Any]:
    colour, *checkpoints = request
    practice = Stream(n_components=COMPONENTS)
    for frame in islice(camera(64, 48, bool(colour)), 1, 200):
        practice.push(frame)
    frames = camera(WIDTH, HEIGHT, bool(colour))
    next(frames)
    stream = Stream(n_components=COMPONENTS)
    del practice
    found: dict[str, Any] = {"baseline": baseline(), "peaks": [], "resident": []}
    for number, frame in enumerate(islice(frames, checkpoints[-1]), 1):
        stream.push(frame)
        if number in checkpoints:
            found["peaks"].append(peak())
            found["resident"].append(resident())
    return found


if __name__ == "__main__":
    obey(_measure)
