"""Comparison "cells": flags, low-rank parts and imputation, on made tables with truth and on real ones."""

import warnings
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer

from unmingle import RobustPCA, decompose
from unmingle.core.cells.columns import column_scales
from unmingle.core.penalties import noise_level

from ..shared.progress import say
from .data import (
    Array,
    Kind,
    kinds,
    mad_rule,
    made_table,
    planted,
    real_tables,
    removed,
)

SEEDS, SIZE, QUICK_TABLES = 5, 8.0, 4
PEERS = {
    "IterativeImputer": lambda seed: IterativeImputer(random_state=seed),
    "KNNImputer": lambda seed: KNNImputer(),
}


def run(quick: bool) -> dict[str, Any]:
    seeds = 1 if quick else SEEDS
    tables = [kind for kind in kinds() if kind.n < 500][:QUICK_TABLES] if quick else kinds()
    names = ("wine",) if quick else tuple(real_tables())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "seeds": seeds,
            "made": [_made(kind, seeds) for kind in tables],
            "real": [_real(name, seeds) for name in names],
        }


def _made(kind: Kind, seeds: int) -> dict[str, Any]:
    """Flags pooled over the seeds, error of the low-rank part over that of least squares, and its rank."""
    hits = flags = faults = 0
    errors, ranks, levels, gaps = [], [], [], []
    for seed in range(seeds):
        table = made_table(kind, seed)
        part = decompose(table.X, scale="columns" if kind.decades else None, debias=True, random_state=0)
        found = part.flags()
        hits, flags, faults = hits + (found & table.bad).sum(), flags + found.sum(), faults + table.bad.sum()
        errors.append(table.error(part.low_rank) / table.error(table.least_squares()))
        ranks.append(part.rank == kind.rank)
        scales = part.column_scale if kind.decades else np.ones(kind.m)
        noise = np.sqrt(np.mean((table.units / scales) ** 2))
        levels.append(noise_level(table.X / scales, np.random.default_rng(0)) / noise)
        gaps.append(part.gap)
    say(f"  {kind.told()}: precision {hits / flags:.3f}, recall {hits / faults:.3f}, error {median(errors):.2f}")
    return {
        "kind": kind._asdict(),
        "told": kind.told(),
        "precision": float(hits / max(flags, 1)),
        "recall": float(hits / faults),
        "faults": int(faults),
        "error": median(errors),
        "worst_error": max(errors),
        "rank": float(np.mean(ranks)),
        "sigma": median(levels),
        "gap": max(gaps),
    }


def _real(name: str, seeds: int) -> dict[str, Any]:
    """Planted faults found, other cells flagged, and imputation beside others."""
    table = real_tables()[name]
    before = decompose(table, scale="columns", debias=True, random_state=0)
    alone = before.flags()
    model = RobustPCA(scale="columns", debias=True, random_state=0).fit(table).cells_
    sizes = {"column": column_scales(table), "noise": model.noise, "residual": column_scales(table - before.low_rank)}
    sizes = {kind: SIZE * size for kind, size in sizes.items()}
    rows = [_planted_faults(table, sizes, alone, seed) for seed in range(seeds)]
    rows = [row | _imputed(table, sizes["column"], seed) for seed, row in enumerate(rows)]
    means = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
    say(f"  {name}: {means}")
    return {"name": name, "shape": table.shape, "rank": before.rank, "untouched": float(alone.mean()), **means}


def _planted_faults(table: Array, sizes: dict[str, Array], alone: Array, seed: int) -> dict[str, float]:
    found: dict[str, float] = {}
    for kind, size in sizes.items():
        X, bad = planted(table, size, seed)
        flags = decompose(X, scale="columns", random_state=0).flags()
        found |= {f"recall_{kind}": flags[bad].mean(), f"new_{kind}": np.mean(flags & ~alone & ~bad)}
        found[f"mad_{kind}"] = mad_rule(X)[bad].mean()
    return found


def _imputed(table: Array, columns: Array, seed: int) -> dict[str, float]:
    """Errors and times of imputation of removed cells, with faults present, over those of others."""
    X, bad = planted(table, columns, seed)
    gaps = removed(table, seed)
    X = np.where(gaps, np.nan, X)
    scales, judged = column_scales(table), gaps & ~bad

    def error(filled: Array) -> float:
        return float(np.sqrt(np.mean(((filled - table) / scales)[judged] ** 2)))

    begin = process_time()
    ours = decompose(X, scale="columns", debias=True, random_state=0).low_rank
    cpu, found = process_time() - begin, {"error": error(ours)}
    for name, peer in PEERS.items():
        begin = process_time()
        filled = peer(seed).fit_transform(X / scales) * scales
        found |= {f"over_{name}": found["error"] / error(filled), f"time_{name}": cpu / (process_time() - begin)}
    return found
