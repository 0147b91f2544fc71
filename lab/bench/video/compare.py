"""Comparison "video": our stream against OpenCV's background subtractors, from frame to mask, without decoding."""

import gc
import os
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmingle.apps.video import Stream
from unmingle.media import Planes

from ...data import DATA_VARIABLE
from ...paper.video import (
    HIGHWAY,
    Rival,
    View,
    find_film,
    make_scene,
    one_thread,
    opencv,
    ours,
    read_labelled,
    subtractor,
)
from ..shared.progress import say
from . import memory

Array = NDArray[Any]
START = 40
"""Frames before the clock runs: our stream learns its first background from 30 of them."""
ROUNDS = 5
OURS, OURS_SUBSET, REFERENCE = "unmingle", "unmingle, 10 % of the pixels", "MOG2"
OURS_COLOUR, OURS_RGB, COLOUR_REFERENCE = "unmingle, colour", "unmingle, RGB to RGB background", "MOG2, colour"


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
    def peer(name: str, view: View = "grey") -> Rival:
        return Rival(name if view == "grey" else f"{name}, colour", lambda: subtractor(cv2, name).apply, view)

    known = [ours(OURS), ours(OURS_SUBSET, pixel_share=0.1), peer(REFERENCE), peer("KNN")]
    known += [peer("CNT")] if hasattr(cv2, "bgsegm") else []
    coloured = [ours(OURS_COLOUR, view="planes"), Rival(OURS_RGB, _rgb_to_rgb, "colour")]
    return [*known, *coloured, peer(REFERENCE, "blue first"), peer("KNN", "blue first")]


def _rgb_to_rgb() -> Callable[[Array], Array]:
    stream = Stream()
    return lambda frame: np.asarray(stream.push(frame).background)


def run(quick: bool) -> dict[str, Any]:
    checkpoints = memory.QUICK_CHECKPOINTS if quick else memory.CHECKPOINTS
    peaks = {kind: memory.peaks(checkpoints, kind == "colour") for kind in ("grey", "colour")}
    cv2 = opencv()
    if cv2 is None:
        return {"skipped": "OpenCV is not installed: pip install opencv-contrib-python-headless", "memory": peaks}
    source, film = _film()
    with one_thread(cv2):
        tables = [_race(size, film, 2 if quick else ROUNDS, cv2) for size in (QUICK_SIZES if quick else SIZES)]
    return {"source": source, "opencv": cv2.__version__, "start": START, "tables": tables, "memory": peaks}


def _film() -> tuple[str, Array]:
    """Frames of 320x240 in red, green and blue, and where they come from."""
    folder = os.environ.get(DATA_VARIABLE)
    path = find_film(folder, HIGHWAY) if folder else None
    if path is not None:
        return "CDnet's highway", read_labelled(path).colours
    grey = make_scene("water", 0, START + max(size.frames for size in SIZES)).frames
    return "a made scene, synth.water_scene, grey in colours too", np.repeat(grey[..., None], 3, axis=3)


def _race(size: Size, film: Array, rounds: int, cv2: Any) -> dict[str, Any]:
    wanted = film[np.arange(START + size.frames) % len(film)]
    how = cv2.INTER_AREA if size.width < film.shape[2] else cv2.INTER_LINEAR
    colours = [cv2.resize(frame, (size.width, size.height), interpolation=how) for frame in wanted]
    frames: dict[str, Sequence[Any]] = {
        "colour": colours,
        "planes": [Planes.from_rgb(frame) for frame in colours],
        "blue first": [np.ascontiguousarray(frame[..., ::-1]) for frame in colours],
        "grey": [cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in colours],
    }
    entered = contenders(cv2)
    turns = []
    for k in range(rounds + 1):
        say(f"  video, {size.label}: round {k}/{rounds}")
        turns.append(_turn(entered, frames, size.block))
    return {"size": size.label, "frames": size.frames, "rounds": rounds, "rows": _rows(entered, turns[1:])}


def _turn(entered: Sequence[Rival], frames: Mapping[str, Sequence[Any]], block: int) -> dict[str, float]:
    """CPU seconds of each contender for a frame, the mean over all frames after the start."""
    watching = {rival.name: (rival.begin(), frames[rival.view]) for rival in entered}
    seconds = dict.fromkeys(watching, 0.0)
    for find, seen in watching.values():
        for frame in seen[:START]:
            find(frame)
    gc.collect()
    n_frames = len(frames["grey"])
    for place in range(START, n_frames, block):
        for name, (find, seen) in watching.items():
            some = seen[place : place + block]
            begin = process_time()
            for frame in some:
                find(frame)
            seconds[name] += process_time() - begin
    return {name: total / (n_frames - START) for name, total in seconds.items()}


def _rows(entered: Sequence[Rival], turns: Sequence[dict[str, float]]) -> list[dict[str, Any]]:
    """Medians over the rounds, of times and of ratios within a round. The first round, which compiles, is left out."""
    return [
        {
            "contender": rival.name,
            "cpu": median(turn[rival.name] for turn in turns),
            "ratio": median(turn[reference(rival)] / turn[rival.name] for turn in turns),
            "grey": median(turn[rival.name] / turn[OURS] for turn in turns),
            "turns": [turn[rival.name] for turn in turns],
        }
        for rival in entered
    ]


def reference(rival: Rival) -> str:
    """MOG2 on frames of the same kind."""
    return REFERENCE if rival.view == "grey" else COLOUR_REFERENCE
