"""How well a method does on songs and singers that it did not learn from."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from .... import metrics
from .._split import split
from ..method import Method
from .stems import RATE, StemFiles, StemPair

_ONE_IN = 5
"""One song in five is left out."""


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


class Fold(NamedTuple):
    """Songs to learn from, and songs that judge."""

    name: str
    """What is left out."""
    kept: list[StemPair]
    judged: list[StemPair]


def folds(pairs: Sequence[StemPair], left_out: str, seed: int = 0) -> list[Fold]:
    """What to leave out, in turn.

    Parameters
    ----------
    pairs : sequence of StemPair
        All songs.
    left_out : str
        "songs" for a fifth of the songs, with all their clips; "singers" for each singer in turn; otherwise names of
        singers or songs, SINGER or SINGER_SONG, with commas between them.
    seed : int
        Of the choice of songs.
    """
    songs, singers = sorted({pair.source.song for pair in pairs}), sorted({pair.source.singer for pair in pairs})
    if left_out == "songs":
        chosen = np.random.default_rng(seed).permutation(songs)[: max(1, len(songs) // _ONE_IN)]
        return [_fold("songs", pairs, set(chosen.tolist()))]
    if left_out == "singers":
        return [_fold(singer, pairs, {singer}) for singer in singers]
    names = set(left_out.split(","))
    if missing := sorted(names - {*songs, *singers}):
        raise ValueError(f"No song or singer is called {', '.join(missing)}; there are {', '.join(singers)}.")
    return [_fold(left_out.replace(",", "+"), pairs, names)]


def _fold(name: str, pairs: Sequence[StemPair], out: set[str]) -> Fold:
    fold = Fold(name, [], [])
    for pair in pairs:
        (fold.judged if out & {pair.source.song, pair.source.singer} else fold.kept).append(pair)
    if not fold.kept:
        raise ValueError(f"Without {name} there is nothing to learn from; leave fewer songs out.")
    return fold
