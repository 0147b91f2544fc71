"""What `unmingle fit` does: a model of data that may be larger than memory."""

from pathlib import Path
from typing import Any

from .._numpy_files import DamagedError, map_npy
from .._validation import require
from ..estimators import OnlineRobustPCA
from ..iterate import Callback
from ..store import StoreError
from .files import TableError, read_table

Source = Any
"""Rows that can be sliced: an array in memory, a memory map or a zarr array."""


def open_rows(path: Path) -> Source:
    """Open a data file without reading all of it, where its format allows."""
    if path.suffix.lower() == ".zarr":
        return _open_zarr(path)
    if path.suffix.lower() == ".npy" and path.is_file():
        return _open_npy(path)
    if not path.exists() or path.suffix.lower() in (".csv", ".npz"):
        return read_table(path).values
    raise TableError(f"{path} is none of .zarr, .npy, .npz and .csv; convert it to one of these.")


def _open_npy(path: Path) -> Source:
    try:
        rows = map_npy(path)
    except DamagedError:
        raise TableError(f"{path} is damaged or holds Python objects; expected one 2-D array of numbers.") from None
    return _two_dimensional(path, rows)


def _open_zarr(path: Path) -> Source:
    zarr = require("zarr", "dask")
    if not path.is_dir():
        raise TableError(f"{path} does not exist.")
    try:
        opened = zarr.open(path, mode="r")
    except Exception as error:
        raise TableError(f"{path} is no readable zarr array: {error}.") from None
    if not hasattr(opened, "shape"):
        names = ", ".join(sorted(opened.array_keys())) or "none"
        raise TableError(f"{path} is a group of arrays, not an array; give the path of one of them: {names}.")
    return _two_dimensional(path, opened)


def _two_dimensional(path: Path, rows: Source) -> Source:
    if rows.ndim != 2 or 0 in rows.shape:
        raise TableError(f"{path} holds an array of shape {rows.shape}; expected 2 dimensions, one sample per row.")
    return rows


def learn(model: OnlineRobustPCA, rows: Source, checkpoint: Path | None, every: int, callback: Callback) -> None:
    """Learn from the rows one after the other, here."""
    model.fit(rows, checkpoint=checkpoint, every=every, callback=callback)


def learn_on_cluster(
    model: OnlineRobustPCA,
    path: Path,
    scheduler: str | None,
    workers: int | None,
    options: dict[str, Any],
) -> None:
    """Learn in several passes over all chunks of a zarr array, on a cluster or on processes of this machine."""
    distributed = require("unmingle.distributed", "dask")
    if path.suffix.lower() != ".zarr":
        raise TableError(f"{path} is no .zarr array: a cluster reads its data in chunks, so convert it to zarr.")
    array = require("dask.array", "dask").from_zarr(str(path.resolve()))
    with _client(scheduler, workers):
        distributed.fit(model, array, **options)


def _client(scheduler: str | None, workers: int | None) -> Any:
    client = require("distributed", "dask").Client
    if scheduler is None:
        return client(n_workers=workers, threads_per_worker=1, dashboard_address=":0")
    try:
        return client(scheduler, timeout=10)
    except (OSError, ValueError) as error:
        reason = str(error) or type(error).__name__
        raise StoreError(f"There is no scheduler at {scheduler}: {reason}") from None


def figures(model: OnlineRobustPCA) -> dict[str, Any]:
    """Return what was learnt in numbers."""
    return {
        "samples": int(model.n_samples_seen_),
        "features": int(model.n_features_in_),
        "components": int(model.n_components_),
        "noise_level": float(model.noise_level_),
        "rank_penalty": float(model.rank_penalty_),
        "outlier_penalty": float(model.outlier_penalty_),
        "jumps": int(model.n_jumps_),
    }
