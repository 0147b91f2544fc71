"""Where a film is worst: the frame with most wrong pixels, its background, and what is wrong in its mask."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmingle.apps.video import Stream
from unmingle.media import Planes
from unmingle.metrics import MaskCounts
from unmingle.report.pictures import judged_mask

from ..results import Table
from ._data import Advance, Bytes, Film

CATEGORIES = {
    "baseline": ("highway", "office", "pedestrians", "PETS2006"),
    "bad weather": ("blizzard", "skating", "snowFall", "wetSnow"),
    "camera jitter": ("badminton", "boulevard", "sidewalk", "traffic"),
    "dynamic background": ("boats", "canoe", "fall", "fountain01", "fountain02", "overpass"),
    "intermittent motion": ("abandonedBox", "parking", "sofa", "streetLight", "tramstop", "winterDriveway"),
    "low frame rate": ("port", "tramCrossroad", "tunnelExit", "turnpike"),
    "night": ("bridgeEntry", "busyBoulvard", "fluidHighway", "streetCornerAtNight", "tramStation", "winterStreet"),
    "moving camera": ("continuousPan", "intermittentPan", "twoPositionPTZCam", "zoomInZoomOut"),
    "shadow": ("backdoor", "bungalows", "busStation", "copyMachine", "cubicle", "peopleInShade"),
    "thermal": ("corridor", "diningRoom", "lakeSide", "library", "park"),
    "turbulence": ("turbulence0", "turbulence1", "turbulence2", "turbulence3"),
    "made": ("water", "shaking", "crowd"),
}
"""Of CDnet 2014, and our own scenes."""


class WorstFrame(NamedTuple):
    """The frame of a film with most wrong pixels."""

    number: int
    frame: Bytes
    background: Bytes
    judged: NDArray[np.float32]
    """The mask: white is right, orange a false alarm, blue a miss."""
    counts: MaskCounts


def category_of(film: str) -> str:
    """The category of a film of CDnet."""
    return next((name for name, films in CATEGORIES.items() if film in films), "other")


def by_category(methods: Mapping[str, Any], films: Sequence[str]) -> Table:
    """Mean F, precision and recall of each method over the films of a category, and how fast it was."""
    categories: dict[str, list[str]] = {}
    for film in films:
        categories.setdefault(category_of(film), []).append(film)
    rows = []
    for name, row in methods.items():
        cells = []
        for members in categories.values():
            scores = [row["films"][film] for film in members if film in row["films"]]
            means = [sum(one[kind] for one in scores) / max(1, len(scores)) for kind in ("f", "precision", "recall")]
            cells.append(f"{means[0]:.3f} ({100 * means[1]:.0f} / {100 * means[2]:.0f})" if scores else "–")
        rows.append([name, *cells, f"{row['frames_per_second']:.0f}"])
    heads = [f"{name}, {len(members)}" for name, members in categories.items()]
    return ["F (precision / recall, %)", *heads, "frames/s"], rows


def worst_frame(film: Film, first: int, advance: Advance | None = None) -> WorstFrame:
    """Separate a film at the defaults, in colour where it has colours, and keep the frame with most wrong pixels.

    Parameters
    ----------
    film : Film
        With truth.
    first : int
        The first frame that is scored.
    advance : callable, optional
        Called with 1 after each frame.
    """
    stream, worst = Stream(), None
    frames = film.frames if film.colours is None else film.colours
    for number, (frame, truth) in enumerate(zip(frames, film.truth, strict=True)):
        found = stream.push(frame if film.colours is None else Planes.from_rgb(frame))
        if advance is not None:
            advance(1)
        if number < first:
            continue
        counts = MaskCounts.of(found.mask, truth, labels=film.labels)
        if worst is None or _wrong(counts) > _wrong(worst.counts):
            picture = found.background.to_rgb() if isinstance(found.background, Planes) else found.background
            worst = WorstFrame(number, frame, picture, _judged(found.mask, truth, film), counts)
    assert worst is not None, "films have scored frames"
    return worst


def _wrong(counts: MaskCounts) -> int:
    return counts.false_positives + counts.false_negatives


def _judged(mask: NDArray[np.bool_], truth: NDArray[Any], film: Film) -> NDArray[np.float32]:
    if film.labels == "binary":
        return judged_mask(mask, truth.astype(bool))
    unknown = (truth == 85) | (truth == 170)
    judged = judged_mask(mask & ~unknown, truth == 255)
    judged[unknown] = 0.25
    return judged
