"""Comparison "distributed": one pass over 4 GB of zarr on one and on two workers, against the cost model."""

import os
import tempfile
import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmingle import OnlineRobustPCA
from unmingle.synth import subspace_stream

from ..shared.progress import say
from .cost_model import Machine, Work, seconds_per_pass

WORK = Work(n=500_000, m=2000, q=10, rows_per_chunk=5000, itemsize=4)
QUICK = Work(n=20_000, m=2000, q=10, rows_per_chunk=2000, itemsize=4)
PASSES = 2
TURNS = (1, 2, 2, 1)
"""Workers of each run: a drift of the machine's speed falls on both alike."""


def run(quick: bool) -> dict[str, Any]:
    work = QUICK if quick else WORK
    with tempfile.TemporaryDirectory(prefix="unmingle-") as folder:
        path = Path(folder) / "X.zarr"
        _write_data(path, work)
        machine = _calibrate(path, work)
        runs = [_run(path, workers) for workers in TURNS]
    rows = [_row(work, machine, runs, workers) for workers in sorted(set(TURNS))]
    return {"work": vars(work), "passes": PASSES, "machine": vars(machine), "runs": runs, "rows": rows}


def _write_data(path: Path, work: Work) -> None:
    import zarr

    say(f"  writing {work.bytes_read / 1e9:.1f} GB")
    size = {"shape": (work.n, work.m), "chunks": (work.rows_per_chunk, work.m)}
    array = zarr.create_array(path, **size, dtype="f4", compressors=None)
    stream = subspace_stream(
        work.n, work.m, work.q, noise=0.05, block_size=work.rows_per_chunk, dtype=np.float32, random_state=0
    )
    for k, block in enumerate(stream):
        array[k * work.rows_per_chunk : (k + 1) * work.rows_per_chunk] = block.X


def _calibrate(path: Path, work: Work) -> Machine:
    """Rates of this machine, from one chunk that is read and passed over."""
    import zarr

    array = zarr.open_array(path, mode="r")
    begin = perf_counter()
    rows = array[: work.rows_per_chunk]
    reading = perf_counter() - begin
    marks: list[float] = []
    _pass_over(rows, passes=4, callback=lambda _: marks.append(perf_counter()))
    seconds = median(after - before for before, after in pairwise(marks))
    return Machine(work.flops * len(rows) / work.n / seconds, rows.nbytes / reading)


def _pass_over(rows: NDArray[Any], passes: int, callback: Callable[[Any], object] | None = None) -> None:
    """Without workers: in this thread, as one chunk."""
    import dask
    import dask.array as da

    from unmingle import distributed

    with dask.config.set(scheduler="synchronous"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = da.from_array(rows, chunks=rows.shape)
        distributed.fit(OnlineRobustPCA(random_state=0), X, max_passes=passes, tol=1e-30, callback=callback)


def _run(path: Path, workers: int) -> dict[str, Any]:
    """Wall time and CPU time of all workers per pass; the start, which is not divided, is left out of both."""
    import dask.array as da
    from distributed import Client, LocalCluster

    from unmingle import distributed

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.run(_warm_up)
        marks = []

        def mark(_: Any) -> None:
            marks.append((perf_counter(), sum(client.run(process_time).values())))

        X = da.from_zarr(str(path))
        distributed.fit(OnlineRobustPCA(random_state=0), X, max_passes=PASSES + 1, tol=1e-30, callback=mark)
    walls = [after[0] - before[0] for before, after in pairwise(marks)]
    cpus = [after[1] - before[1] for before, after in pairwise(marks)]
    say(f"  {workers} worker(s): {median(walls):.1f} s a pass, {median(cpus):.1f} s of CPU")
    return {"workers": workers, "wall": walls, "cpu": cpus, "load": round(os.getloadavg()[0], 2)}


def _warm_up() -> None:
    size = {"m": QUICK.m, "rank": QUICK.q, "block_size": 1000}
    _pass_over(next(subspace_stream(1000, **size, noise=0.05, dtype=np.float32, random_state=0)).X, passes=1)


def _row(work: Work, machine: Machine, runs: Sequence[dict[str, Any]], workers: int) -> dict[str, Any]:
    mine = [run for run in runs if run["workers"] == workers]
    return {
        "workers": workers,
        "wall": median(wall for run in mine for wall in run["wall"]),
        "cpu": median(cpu for run in mine for cpu in run["cpu"]),
        "predicted_wall": seconds_per_pass(work, machine, workers),
        "load": max(run["load"] for run in mine),
    }
