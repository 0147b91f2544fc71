"""Comparison "encoder": the compiled network against the speed of a matrix product and against NumPy."""

import gc
from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmingle.core.encoder.encoder import Encoder

from ..shared.progress import say

Array = NDArray[Any]

ROWS, ROUNDS, SIDE, SINGLES = 1000, 15, 2048, 100
JOBS = 2


class Shape(NamedTuple):
    name: str
    features: int
    atoms: int
    layers: int

    def flops(self, rows: int) -> float:
        """Of the layers alone; the readout, another 2 m q for each sample, is not counted."""
        return 4.0 * self.features * self.atoms * self.layers * rows


VIDEO, AUDIO = Shape("video, 88x72", 6336, 5, 5), Shape("audio, 513 bins", 513, 25, 20)
PRODUCT, BATCH, PLAIN_BATCH, SINGLE, PLAIN_SINGLE = "sgemm", "batch", "batch, numpy", "single", "single, numpy"


def run(quick: bool) -> dict[str, Any]:
    rows, rounds = (100, 3) if quick else (ROWS, ROUNDS)
    found = [_compare_shape(shape, rows, rounds) for shape in (VIDEO, AUDIO)]
    signs = [_compare_signs(shape, rows, rounds) for shape in (VIDEO, AUDIO)]
    return {"rows_per_batch": rows, "rounds": rounds, "side": SIDE, "jobs": JOBS, "rows": found, "signs": signs}


def make_encoder(shape: Shape) -> Encoder:
    U = np.random.default_rng(0).standard_normal((shape.atoms, shape.features)).astype(np.float32)
    return Encoder.from_components(U, rank_penalty=1.0, outlier_penalty=0.1, n_layers=shape.layers)


def make_batch(encoder: Encoder, rows: int, seed: int) -> Array:
    """Low rank, a tenth of outliers, and noise, in float32."""
    rng = np.random.default_rng(seed)
    q, m = encoder.components.shape
    codes = rng.standard_normal((rows, q))
    codes = np.abs(codes) if encoder.nonnegative_codes else codes
    X = codes @ encoder.components + 0.05 * rng.standard_normal((rows, m))
    X += np.where(rng.random((rows, m)) < 0.1, rng.uniform(-3, 3, (rows, m)), 0)
    return X.astype(np.float32)


def _compare_shape(shape: Shape, rows: int, rounds: int) -> dict[str, Any]:
    encoder = make_encoder(shape)
    square = np.random.default_rng(1).standard_normal((SIDE, SIDE), dtype=np.float32)
    turns = []
    for k in range(rounds + 1):
        say(f"  encoder, {shape.name}: round {k}/{rounds}")
        X = make_batch(encoder, rows, k)
        contenders = _contenders(encoder, X, square)
        turns.append({name: _time(run, process_time) for name, run in contenders.items()} | _walls(encoder, X))
    return shape._asdict() | _figures(shape, rows, turns[1:]) | {"difference": _difference(encoder, X)}


def _compare_signs(shape: Shape, rows: int, rounds: int) -> dict[str, Any]:
    """The nonnegative network beside the signed one of the same size, each on samples of its own kind."""
    signed = make_encoder(shape)
    positive = Encoder.from_components(
        np.abs(signed.components), rank_penalty=1.0, outlier_penalty=0.1, n_layers=shape.layers,
        nonnegative_codes=True, nonnegative_outliers=True,
    )  # fmt: skip
    turns = []
    for k in range(rounds + 1):
        say(f"  encoder, signs, {shape.name}: round {k}/{rounds}")
        pairs = ("signed", signed, make_batch(signed, rows, k)), ("positive", positive, make_batch(positive, rows, k))
        turns.append({name: _time(partial(encoder.encode, X), process_time) for name, encoder, X in pairs})
    turns = turns[1:]
    ratio = median(turn["signed"] / turn["positive"] for turn in turns)
    micro = 1e6 * median(turn["positive"] for turn in turns) / (rows * shape.layers)
    difference = _difference(positive, pairs[1][2])
    return shape._asdict() | {"rate": ratio, "us_per_layer": micro, "difference": difference, "turns": turns}


def _contenders(encoder: Encoder, X: Array, square: Array) -> dict[str, Callable[[], object]]:
    def one_by_one(backend: str) -> None:
        for i in range(SINGLES):
            encoder.encode(X[i : i + 1], backend=backend)

    return {
        PRODUCT: lambda: square @ square,
        BATCH: lambda: encoder.encode(X),
        PLAIN_BATCH: lambda: encoder.encode(X, backend="numpy"),
        SINGLE: lambda: one_by_one("numba"),
        PLAIN_SINGLE: lambda: one_by_one("numpy"),
    }


def _walls(encoder: Encoder, X: Array) -> dict[str, float]:
    """Four batches at once: to start threads takes a while, too."""
    longer = np.tile(X, (4, 1))
    runs = {jobs: partial(encoder.encode, longer, n_jobs=jobs) for jobs in (1, JOBS)}
    return {f"wall, {jobs}": _time(run, perf_counter) for jobs, run in runs.items()}


def _time(run: Callable[[], object], clock: Callable[[], float]) -> float:
    gc.collect()
    begin = clock()
    run()
    return clock() - begin


def _figures(shape: Shape, rows: int, turns: list[dict[str, float]]) -> dict[str, Any]:
    """Medians over the rounds, of times and of ratios within a round. The first round, which compiles, is left out."""

    def ratio(first: str, second: str) -> float:
        return median(turn[first] / turn[second] for turn in turns)

    batch, single = median(turn[BATCH] for turn in turns), median(turn[SINGLE] for turn in turns)
    return {
        "rate": shape.flops(rows) / (2.0 * SIDE**3) * ratio(PRODUCT, BATCH),
        "gflops": shape.flops(rows) / batch / 1e9,
        "times_numpy": ratio(PLAIN_BATCH, BATCH),
        "times_numpy_single": ratio(PLAIN_SINGLE, SINGLE),
        "us_per_layer": 1e6 * batch / (rows * shape.layers),
        "us_per_layer_single": 1e6 * single / (SINGLES * shape.layers),
        "times_two_jobs": ratio("wall, 1", f"wall, {JOBS}"),
        "turns": turns,
    }


def _difference(encoder: Encoder, X: Array) -> float:
    """Largest difference between the compiled and the plain answer, relative to the largest number in it."""
    pairs = zip(encoder.encode(X), encoder.encode(X, backend="numpy"), strict=True)
    return max(float(np.abs(mine - plain).max() / np.abs(plain).max()) for mine, plain in pairs)
