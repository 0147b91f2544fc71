"""`fit`: data in, a model of what is normal out, from a table, an array larger than memory, or a cluster."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from .._numpy_files import DamagedError, map_npy
from .._validation import require
from ..core.iterate import Callback
from ..estimators.online import OnlineRobustPCA
from ._settings import FitOutputs, FitSettings
from .jobs import check_outputs, refuse, sentences_of_warnings
from .tables import NamedTable, TableError, fit_table
from .tables.fitting import read_for_fit
from .tables.reading import is_table, read_table


@dataclass(frozen=True, eq=False)
class FitResult:
    """A model of what is normal.

    Attributes
    ----------
    model : RobustPCA, RobustNMF or OnlineRobustPCA
        The fitted model.
    table : NamedTable or None
        The table that was learnt; None for an array.
    warnings : tuple of str
        What to beware of, a sentence each.
    written : dict of str to Path
        The file of the model, if there is one.
    """

    model: Any
    table: NamedTable | None
    warnings: tuple[str, ...]
    written: dict[str, Path]

    @property
    def notes(self) -> list[str]:
        """What a user should know of how the table was read."""
        return [] if self.table is None else self.table.notes

    def summary(self) -> dict[str, Any]:
        """What was learnt in numbers, as plain values."""
        model = self.model
        learnt = {
            "components": int(model.n_components_),
            **({} if self.table is not None else {"noise_level": float(model.noise_level_)}),
            "rank_penalty": float(model.rank_penalty_),
            "outlier_penalty": float(model.outlier_penalty_),
        }
        written = {"written": {name: str(path) for name, path in self.written.items()}}
        if self.table is None:
            sizes = {"samples": int(model.n_samples_seen_), "features": int(model.n_features_in_)}
            return {**sizes, **learnt, "jumps": int(model.n_jumps_), **written}
        samples, features = self.table.values.shape
        names = {"columns": list(self.table.columns), "aside": self.table.skipped}
        return {
            "samples": samples, "features": features, **learnt, "converged": bool(model.converged_), **names, **written
        }  # fmt: skip

    def summary_text(self) -> dict[str, str]:
        """The figures that people read first, in words."""
        figures = self.summary()
        return {
            "samples": f"{figures['samples']} of {figures['features']} features",
            "components": str(figures["components"]),
            **({"noise level": f"{figures['noise_level']:.4g}"} if "noise_level" in figures else {}),
            "penalties": f"rank {figures['rank_penalty']:.4g}, outliers {figures['outlier_penalty']:.4g}",
            **({"jumps": str(figures["jumps"])} if "jumps" in figures else {}),
        }


def fit(
    source: Any,
    outputs: FitOutputs = FitOutputs(),  # noqa: B008 (frozen)
    settings: FitSettings = FitSettings(),  # noqa: B008 (frozen)
    *,
    progress: Callback | None = None,
) -> FitResult:
    """Learn what is normal from a table, or from an array that may be larger than memory.

    A table is learnt as a whole, with equal weight for all columns; the model keeps their names and what is usual in
    each. Arrays (.npy, .npz, .zarr) are read once, row by row, or on a cluster in several passes.

    Parameters
    ----------
    source : path, DataFrame, array or NamedTable
        Rows are samples.
    outputs : FitOutputs
        Where the model goes, and unfinished work.
    settings : FitSettings
        What to learn, and where the work is done.
    progress : callable, optional
        Called with an `unmingle.core.iterate.Progress`: after each iteration for a table, and for an array with the
        rows that were read.

    Returns
    -------
    FitResult
        With ``model``, ``summary()``, ``warnings`` and ``written``.
    """
    path = Path(source) if isinstance(source, str | PathLike) else None
    files = {"out": outputs.out, "checkpoint": outputs.checkpoint}
    _check_cluster(outputs, settings)
    with sentences_of_warnings() as warnings:
        if learns_whole(source) and not settings.on_cluster:
            if outputs.checkpoint is not None or settings.forgetting != "auto":
                sentence = "{0} and {1} are for arrays (.npy, .zarr), which are read in turn."
                raise refuse(sentence, "checkpoint", "forgetting")
            table: NamedTable | None = read_for_fit(source, settings)
            check_outputs(files, {"the source": path})
            model: Any = fit_table(table, settings, progress=progress)
        else:
            if settings.nonnegative:
                raise refuse("{0} is for tables (.csv, .tsv, Excel, Parquet).", "nonnegative")
            rows, table = open_rows(source), None
            check_outputs(files, {"the source": path})
            model = OnlineRobustPCA(
                forgetting=settings.forgetting,
                n_components=settings.n_components,
                random_state=settings.random_state,
                rank_penalty=settings.rank_penalty,
                outlier_penalty=settings.outlier_penalty,
            )
            if settings.on_cluster:
                _learn_on_cluster(model, path, settings, progress)
            else:
                learn_rows(model, rows, outputs, progress)
        if outputs.out is not None:
            model.save(outputs.out)
    return FitResult(model, table, tuple(warnings), {} if outputs.out is None else {"model": outputs.out})


def learns_whole(source: Any) -> bool:
    """Whether the data are a table whose columns may have names, which is learnt as a whole."""
    if not isinstance(source, str | PathLike):
        return True
    path = Path(source)
    return is_table(path) and path.suffix.lower() not in (".npy", ".npz")


def _check_cluster(outputs: FitOutputs, settings: FitSettings) -> None:
    if settings.scheduler is not None and settings.workers is not None:
        raise refuse("{0} and {1} exclude each other.", "scheduler", "workers")
    if settings.on_cluster and outputs.checkpoint is not None:
        raise refuse("{0} is for one pass on this machine; a cluster repeats what it lost.", "checkpoint")


def learn_rows(model: OnlineRobustPCA, rows: Any, outputs: FitOutputs, progress: Callback | None) -> None:
    """Learn from the rows one after the other, here."""
    model.fit(rows, checkpoint=outputs.checkpoint, every=outputs.every, callback=progress)


def _learn_on_cluster(
    model: OnlineRobustPCA, path: Path | None, settings: FitSettings, progress: Callback | None
) -> None:
    """Learn in several passes over all chunks of a zarr array, on a cluster or on processes of this machine."""
    distributed = require("unmingle.distributed", "dask")
    if path is None or path.suffix.lower() != ".zarr":
        raise ValueError(f"{path} is no .zarr array: a cluster reads its data in chunks, so convert it to zarr.")
    array = require("dask.array", "dask").from_zarr(str(path.resolve()))
    with _client(settings):
        distributed.fit(model, array, max_passes=settings.max_passes, tol=settings.tol, callback=progress)


def _client(settings: FitSettings) -> Any:
    client = require("distributed", "dask").Client
    if settings.scheduler is None:
        return client(n_workers=settings.workers, threads_per_worker=1, dashboard_address=":0")
    try:
        return client(settings.scheduler, timeout=10)
    except (OSError, ValueError) as error:
        reason = str(error) or type(error).__name__
        raise ValueError(f"There is no scheduler at {settings.scheduler}: {reason}") from None


def open_rows(source: Any) -> Any:
    """Open the rows of an array, without reading all of them where the format of the file allows."""
    path = Path(source)
    if path.suffix.lower() == ".zarr":
        return _open_zarr(path)
    if path.suffix.lower() == ".npy" and path.is_file():
        return _open_npy(path)
    return read_table(path).values


def _open_npy(path: Path) -> Any:
    try:
        rows = map_npy(path)
    except DamagedError:
        raise TableError(f"{path} is damaged or holds Python objects; expected one 2-D array of numbers.") from None
    return _two_dimensional(path, rows)


def _open_zarr(path: Path) -> Any:
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


def _two_dimensional(path: Path, rows: Any) -> Any:
    if rows.ndim != 2 or 0 in rows.shape:
        raise TableError(f"{path} holds an array of shape {rows.shape}; expected 2 dimensions, one sample per row.")
    return rows
