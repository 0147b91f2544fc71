"""Lamps that are switched: for how long a mask is full of light."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._data import Advance
from ._rivals import MEDIAN, Rival

Bytes = NDArray[np.uint8]

FULL = 0.05
"""Share of the pixels from which on a mask is full of light."""
SUDDEN = 4.0
"""Frames whose mean difference from the one before is so many times the usual one begin a switch."""


def find_switches(frames: Bytes) -> list[int]:
    """The first frames after each lamp was switched, by their difference from the frame before."""
    steps = np.array([_difference(one, other) for one, other in pairwise(frames)])
    sudden = np.flatnonzero(steps > SUDDEN * np.median(steps)) + 1
    return [int(frame) for frame in sudden if frame - 1 not in sudden]


def shares(frames: Bytes, rivals: Sequence[Rival], advance: Advance | None = None) -> dict[str, list[float]]:
    """The share of the pixels that is in the mask of each frame, by method; OpenCV's masks are cleaned."""
    watching = {rival.name: rival.begin() for rival in rivals}
    found: dict[str, list[float]] = {_name(rival): [] for rival in rivals}
    for frame in frames:
        for rival in rivals:
            mask = watching[rival.name](frame)
            mask = mask if rival.cleaned_by is None else rival.cleaned_by(mask)
            found[_name(rival)].append(float(np.count_nonzero(mask)) / mask.size)
        if advance is not None:
            advance(1)
    return found


def settling(share: Sequence[float], switches: Sequence[int], full: float = FULL) -> list[dict[str, Any]]:
    """After each switch, frames until a mask is no longer full and stays so until the next one.

    Parameters
    ----------
    share : sequence of float
        Of each frame, how much of it is in the mask.
    switches : sequence of int
        First frames of the switches.
    full : float
        From which share on a mask is full.

    Returns
    -------
    list of dict
        ``frames``: 0 if it never was full; ``settled``: False if it still was at the next switch; ``peak``: the
        largest share; ``of``: frames until the next switch.
    """
    found = []
    for begin, end in zip(switches, [*switches[1:], len(share)], strict=True):
        window = np.asarray(share[begin:end])
        frames = int(np.max(np.flatnonzero(window >= full), initial=-1)) + 1
        found.append(
            {"switch": begin, "of": len(window), "frames": frames, "settled": frames < len(window),
             "peak": float(window.max())}
        )  # fmt: skip
    return found


def _name(rival: Rival) -> str:
    return rival.name if rival.cleaned_by is None else rival.name + MEDIAN


def _difference(one: Bytes, other: Bytes) -> float:
    return float(np.abs(other.astype(np.int16) - one).mean())
