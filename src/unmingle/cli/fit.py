"""The command `unmingle fit`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._validation import require
from ..core.iterate import Callback
from ._shared import console
from ._shared.interrupts import resumable
from ._shared.options import Json, OutlierPenalty, Quiet, RankPenalty, Seed, penalty, suffixed
from ._shared.paths import ready_outputs
from ._shared.table_options import Aside, Decimal, Header, Sheet, Use, read

if TYPE_CHECKING:
    from ..apps.tables import NamedTable
    from ..estimators.online import OnlineRobustPCA


Data = Annotated[
    Path,
    typer.Argument(metavar="DATA", help="A table (.csv, .tsv, Excel, Parquet), or an array (.zarr, .npy, .npz)."),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "-o", "--out", callback=suffixed(".safetensors"), help="The model file; by default DATA with .safetensors."
    ),
]
Components = Annotated[int | None, typer.Option(min=1, help="Largest number of components.")]
Nonnegative = Annotated[
    bool,
    typer.Option("--nonnegative", help="For tables: patterns that are never negative and only add up, as for counts."),
]
Forgetting = Annotated[
    Any, typer.Option(parser=penalty, metavar="X|auto", help="For arrays: weight of the past at each new row.")
]
Checkpoint = Annotated[
    Path | None, typer.Option(help="For arrays: file for unfinished work; the same command continues from it.")
]
Every = Annotated[int, typer.Option(min=1, help="Samples between two checkpoints.")]
Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Work on a Dask cluster, such as tcp://10.0.0.1:8786.")
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Work on a Dask cluster of this many processes on this machine.")
]
Passes = Annotated[int, typer.Option(min=1, help="On a cluster: largest number of passes over the data.")]
Tolerance = Annotated[float, typer.Option(min=0.0, help="On a cluster: stop at this accuracy.")]


def run(
    data: Data,
    out: Out = None,
    components: Components = None,
    rank_penalty: RankPenalty = "auto",
    outlier_penalty: OutlierPenalty = "auto",
    nonnegative: Nonnegative = False,
    sheet: Sheet = None,
    header: Header = None,
    decimal: Decimal = None,
    use: Use = None,
    aside: Aside = None,
    forgetting: Forgetting = "auto",
    checkpoint: Checkpoint = None,
    every: Every = 10_000,
    scheduler: Scheduler = None,
    workers: Workers = None,
    passes: Passes = 20,
    tol: Tolerance = 1e-3,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Learn what is normal from a table, or from an array that may be larger than memory.

    Rows are samples. A table is learnt as a whole, with equal weight for all columns; the model keeps their names and
    what is usual in each. Arrays are read once, row by row, or on a cluster in several passes. Use the model with
    `unmingle apply`, or `unmingle.load` in Python.

    unmingle fit readings.csv -o readings.safetensors
    """
    from ..apps.tables import fit_table, stem_of
    from ..estimators.online import OnlineRobustPCA
    from ._shared.tables import open_rows

    on_cluster = scheduler is not None or workers is not None
    _check_cluster(scheduler, workers, checkpoint)
    target = out or data.with_name(f"{stem_of(data)}.safetensors")
    penalties = {"rank_penalty": rank_penalty, "outlier_penalty": outlier_penalty}
    settings: dict[str, Any] = {"n_components": components, "random_state": seed, **penalties}
    title = f"Learning from {data.name}"
    if _is_named(data) and not on_cluster:
        _check_table(checkpoint, forgetting)
        table = read(data, sheet, header, decimal, use, aside, nonnegative=nonnegative, min_shape=(2, 2), quiet=quiet)
        ready_outputs({"--out": target}, {"DATA": data})
        with console.progress(title, quiet=quiet) as advance, console.warnings_as_sentences():
            model = fit_table(table, nonnegative=nonnegative, callback=advance, **settings)
            model.save(target)
        figures = _figures_of_table(model, table)
    else:
        if nonnegative:
            raise typer.BadParameter("--nonnegative is for tables (.csv, .tsv, Excel, Parquet).")
        rows = open_rows(data)
        ready_outputs({"--out": target, "--checkpoint": checkpoint}, {"DATA": data})
        model = OnlineRobustPCA(forgetting=forgetting, **settings)
        bar = console.progress(title, quiet=quiet) if on_cluster else console.counter(title, rows.shape[0], quiet=quiet)
        with console.warnings_as_sentences(), resumable(checkpoint):
            with bar as advance:
                if on_cluster:
                    learn_on_cluster(model, data, scheduler, workers, max_passes=passes, tol=tol, callback=advance)
                else:
                    learn(model, rows, checkpoint, every, advance)
            model.save(target)
        figures = _figures(model)
    if as_json:
        console.print_json({"data": data, **figures, "model": target})
    elif not quiet:
        console.show(console.facts(_facts(figures)), model=target)


def _is_named(data: Path) -> bool:
    """Whether a file is a table whose columns may have names, by its own."""
    from ..apps.tables import is_table

    return is_table(data) and data.suffix.lower() not in (".npy", ".npz")


def _check_table(checkpoint: Path | None, forgetting: float | str) -> None:
    if checkpoint is not None or forgetting != "auto":
        raise typer.BadParameter("--checkpoint and --forgetting are for arrays (.npy, .zarr), which are read in turn.")


def _figures_of_table(model: Any, table: "NamedTable") -> dict[str, Any]:
    """What was learnt of a table, in numbers."""
    return {
        "samples": table.values.shape[0],
        "features": table.values.shape[1],
        "components": int(model.n_components_),
        "rank_penalty": float(model.rank_penalty_),
        "outlier_penalty": float(model.outlier_penalty_),
        "converged": bool(model.converged_),
        "columns": list(table.columns),
        "aside": table.skipped,
    }


def _check_cluster(scheduler: str | None, workers: int | None, checkpoint: Path | None) -> None:
    if scheduler is not None and workers is not None:
        raise typer.BadParameter("--scheduler and --workers exclude each other.")
    if (scheduler is not None or workers is not None) and checkpoint is not None:
        raise typer.BadParameter("--checkpoint is for one pass on this machine; a cluster repeats what it lost.")


def learn(model: "OnlineRobustPCA", rows: Any, checkpoint: Path | None, every: int, callback: Callback) -> None:
    """Learn from the rows one after the other, here."""
    model.fit(rows, checkpoint=checkpoint, every=every, callback=callback)


def learn_on_cluster(
    model: "OnlineRobustPCA", path: Path, scheduler: str | None, workers: int | None, **options: Any
) -> None:
    """Learn in several passes over all chunks of a zarr array, on a cluster or on processes of this machine."""
    distributed = require("unmingle.distributed", "dask")
    if path.suffix.lower() != ".zarr":
        raise ValueError(f"{path} is no .zarr array: a cluster reads its data in chunks, so convert it to zarr.")
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
        raise ValueError(f"There is no scheduler at {scheduler}: {reason}") from None


def _figures(model: "OnlineRobustPCA") -> dict[str, Any]:
    """What was learnt in numbers."""
    return {
        "samples": int(model.n_samples_seen_),
        "features": int(model.n_features_in_),
        "components": int(model.n_components_),
        "noise_level": float(model.noise_level_),
        "rank_penalty": float(model.rank_penalty_),
        "outlier_penalty": float(model.outlier_penalty_),
        "jumps": int(model.n_jumps_),
    }


def _facts(figures: dict[str, Any]) -> dict[str, str]:
    return {
        "samples": f"{figures['samples']} of {figures['features']} features",
        "components": str(figures["components"]),
        **({"noise level": f"{figures['noise_level']:.4g}"} if "noise_level" in figures else {}),
        "penalties": f"rank {figures['rank_penalty']:.4g}, outliers {figures['outlier_penalty']:.4g}",
        **({"jumps": str(figures["jumps"])} if "jumps" in figures else {}),
    }
