"""Comparison "video": our stream against OpenCV's background subtractors, from frame to mask, without decoding."""

import gc
import os
from collections.abc import Sequence
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmingle.reproduce.video import (
    HIGHWAY,
    Rival,
    find_film,
    make_scene,
    one_thread,
    opencv,
    ours,
    read_labelled,
    subtractor,
)

from .._shared.environment import DATA_VARIABLE
from .._shared.progress import say
from . import memory

Array = NDArray[Any]
START = 40
"""Frames before the clock runs: our stream learns its first background from 30 of them."""
ROUNDS = 5
OURS, OURS_SUBSET, REFERENCE = "unmingle", "unmingle, 10 % of the pixels", "MOG2"


class Size(NamedTuple):
    width: int
    height: int
    frames: int
    """Frames that are timed."""
    block: int
    """Frames that a contender gets before the next one's turn."""

    @property
    def label(self) -> str:
        return f"{self.width}x{self.height}"


SIZES = (Size(88, 72, 400, 40), Size(320, 240, 200, 20), Size(1920, 1080, 60, 10))
QUICK_SIZES = (Size(88, 72, 80, 40),)


def contenders(cv2: Any) -> list[Rival]:
    def peer(name: str) -> Rival:
        return Rival(name, lambda: subtractor(cv2, name).apply)

    known = [ours(OURS), ours(OURS_SUBSET, pixel_share=0.1), peer(REFERENCE), peer("KNN")]
    return [*known, peer("CNT")] if hasattr(cv2, "bgsegm") else known


def run(quick: bool) -> dict[str, Any]:
    peaks = memory.peaks(memory.QUICK_CHECKPOINTS if quick else memory.CHECKPOINTS)
    cv2 = opencv()
    if cv2 is None:
        return {"skipped": "OpenCV is not installed (it comes with unmingle[bench])", "memory": peaks}
    source, film = _film()
    with one_thread(cv2):
        tables = [_race(size, film, 2 if quick else ROUNDS, cv2) for size in (QUICK_SIZES if quick else SIZES)]
    return {"source": source, "opencv": cv2.__version__, "start": START, "tables": tables, "memory": peaks}


def _film() -> tuple[str, Array]:
    """Grey frames of 320x240, and where they come from."""
    folder = os.environ.get(DATA_VARIABLE)
    path = find_film(folder, HIGHWAY) if folder else None
    if path is not None:
        return "CDnet's highway", read_labelled(path).frames
    return "a made scene, synth.water_scene", make_scene("water", 0, START + max(size.frames for size in SIZES)).frames


def _race(size: Size, film: Array, rounds: int, cv2: Any) -> dict[str, Any]:
    wanted = film[np.arange(START + size.frames) % len(film)]
    how = cv2.INTER_AREA if size.width < film.shape[2] else cv2.INTER_LINEAR
    frames = [cv2.resize(frame, (size.width, size.height), interpolation=how) for frame in wanted]
    entered = contenders(cv2)
    turns = []
    for k in range(rounds + 1):
        say(f"  video, {size.label}: round {k}/{rounds}")
        turns.append(_turn(entered, frames, size.block))
    return {"size": size.label, "frames": size.frames, "rounds": rounds, "rows": _rows(entered, turns[1:])}


def _turn(entered: Sequence[Rival], frames: Sequence[Array], block: int) -> dict[str, float]:
    """CPU seconds of each contender for a frame, the mean over all frames after the start."""
    watching = {rival.name: rival.begin() for rival in entered}
    seconds = dict.fromkeys(watching, 0.0)
    for find in watching.values():
        for frame in frames[:START]:
            find(frame)
    gc.collect()
    for place in range(START, len(frames), block):
        some = frames[place : place + block]
        for name, find in watching.items():
            begin = process_time()
            for frame in some:
                find(frame)
            seconds[name] += process_time() - begin
    return {name: total / (len(frames) - START) for name, total in seconds.items()}


def _rows(entered: Sequence[Rival], turns: Sequence[dict[str, float]]) -> list[dict[str, Any]]:
    """Medians over the rounds, of times and of ratios within a round. The first round, which compiles, is left out."""
    return [
        {
            "contender": rival.name,
            "cpu": median(turn[rival.name] for turn in turns),
            "ratio": median(turn[REFERENCE] / turn[rival.name] for turn in turns),
            "turns": [turn[rival.name] for turn in turns],
        }
        for rival in entered
    ]
