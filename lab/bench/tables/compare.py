"""Comparison "tables": `read_table`, which is told nothing, beside `pandas.read_csv`, which is told what it needs."""

from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from unmingle.apps.tables import read_table

from ..shared.progress import say

ROWS, QUICK_ROWS, COLUMNS, ROUNDS = 20_000, 500, 20, 15


class Kind(NamedTuple):
    """A kind of text file, and what pandas must be told of it."""

    name: str
    options: dict[str, str]
    dated: bool


KINDS = (
    Kind("plain", {}, False),
    Kind("European, with dates", {"sep": ";", "decimal": ","}, True),
)


def run(quick: bool) -> dict[str, Any]:
    rows, rounds = (QUICK_ROWS, 3) if quick else (ROWS, ROUNDS)
    with TemporaryDirectory() as folder:
        found = [_compare(kind, _write(Path(folder) / "table.csv", kind, rows), rounds) for kind in KINDS]
    return {"rounds": rounds, "n": rows, "m": COLUMNS, "rows": found}


def _write(path: Path, kind: Kind, rows: int) -> Path:
    """Normal numbers with four decimals; in the other kind the hour of each row stands first."""
    values = 100 * np.random.default_rng(0).standard_normal((rows, COLUMNS))
    frame = pd.DataFrame(values.round(4)).add_prefix("sensor ")
    if kind.dated:
        hours = pd.date_range("2001-01-01", periods=rows, freq="h")
        frame.insert(0, "time", hours.strftime("%d.%m.%Y %H:%M"))
    frame.to_csv(path, index=False, **kind.options)
    return path


def _compare(kind: Kind, path: Path, rounds: int) -> dict[str, Any]:
    turns = []
    for turn in range(rounds + 1):
        say(f"  tables, {kind.name}: round {turn}/{rounds}")
        ours = _cpu(lambda: read_table(path))
        turns.append({"ours": ours, "pandas": _cpu(lambda: pd.read_csv(path, **kind.options))})
    told = pd.read_csv(path, **kind.options).select_dtypes("number").to_numpy()
    difference = float(np.abs(read_table(path).values - told).max())
    ratio = median(turn["ours"] / turn["pandas"] for turn in turns[1:])
    ms = 1e3 * median(turn["ours"] for turn in turns[1:])
    return {"name": kind.name, "times_pandas": ratio, "ms": ms, "difference": difference, "turns": turns[1:]}


def _cpu(read: Callable[[], object]) -> float:
    begin = process_time()
    read()
    return process_time() - begin
