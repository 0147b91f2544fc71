"""How well a method does on songs that it did not learn from."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from .... import metrics
from .._split import split
from ..method import Method
from ._stems import RATE, StemFiles, StemPair


class ClipScore(NamedTuple):
    """NSDR of the voice of a clip, mixed at 0 dB."""

    source: StemFiles
    seconds: float
    nsdr: float


def scores(method: Method, pairs: Iterable[StemPair]) -> list[ClipScore]:
    """NSDR of each clip, BSS-EVAL 2.1 with a gain: how much nearer to the voice than the mixture.

    Parameters
    ----------
    method : Method
        How to tell voice from music.
    pairs : iterable of StemPair
        Voice and music of equal power.
    """
    found = []
    for pair in pairs:
        mixture = pair.voice + pair.music
        voice, music = split(mixture, RATE, method=method)
        nsdr = metrics.nsdr(np.stack([pair.voice, pair.music]), np.stack([voice, music]), mixture)
        found.append(ClipScore(pair.source, len(mixture) / RATE, float(nsdr[0])))
    return found


def mean_nsdr(found: Sequence[ClipScore]) -> float:
    """The mean, clips weighted by their lengths."""
    return float(np.average([one.nsdr for one in found], weights=[one.seconds for one in found]))


def by_group(found: Sequence[ClipScore], group: str) -> dict[str, float]:
    """Means of singers or songs, rounded.

    Parameters
    ----------
    found : sequence of ClipScore
        Of all clips.
    group : {"singer", "song"}
        What clips belong to.
    """
    names = sorted({getattr(one.source, group) for one in found})
    return {name: round(mean_nsdr([one for one in found if getattr(one.source, group) == name]), 2) for name in names}
