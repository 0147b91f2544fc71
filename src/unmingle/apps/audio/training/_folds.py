"""Songs and singers left out, to see how well a network does on those it never heard."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ._stems import StemPair

_SHARE = 5
"""One in so many songs is left out."""


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
        chosen = np.random.default_rng(seed).permutation(songs)[: max(1, len(songs) // _SHARE)]
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
