"""Comparison "stream": online robust PCA on samples that come block by block."""

from typing import Any

from . import accuracy, memory
from .contenders import (
    Follower,
    by_default,
    dictionary_learning,
    incremental,
    orpca_variants,
    our_variants,
    plain,
    with_forgetting,
)
from .racing import FULL, QUICK, race


def contenders() -> list[Follower]:
    return [
        *our_variants(),
        incremental(),
        dictionary_learning(),
        plain(1.0),
        plain(0.99),
        *orpca_variants(),
    ]


def run(quick: bool) -> dict[str, Any]:
    entered = [follower for follower in contenders() if not (quick and follower.slow)]
    short = {"samples": 2000} if quick else {}
    seeds = range(1 if quick else 5)
    raced = race(entered, QUICK if quick else FULL)
    able = {row["contender"] for row in raced["rows"] if "cpu" in row}
    peers = [follower for follower in entered if follower.package != "unmingle" and follower.limit is None]
    peers = [follower for follower in peers if follower.name in able]
    return {
        "race": raced,
        "stationary": accuracy.stationary(
            [by_default(), with_forgetting(), *peers], accuracy.STATIONARY._replace(**short), seeds
        ),
        "rotation": accuracy.turning([with_forgetting(), by_default(), incremental()], accuracy.TURNING, seeds[:3]),
        "memory": memory.peaks(memory.QUICK_CHECKPOINTS if quick else memory.CHECKPOINTS),
    }
