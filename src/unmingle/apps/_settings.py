"""What is asked of `fit` and `apply`; light to import, since commands make options of them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from .._fields import check_settings
from .._rules import Count, Flag, Number, maybe
from .tables import ModelSettings


@dataclass(frozen=True)
class ApplyOutputs:
    """What is written of new data; nothing without a folder."""

    out: Annotated[Path | None, "Folder for the results."] = None
    report: Annotated[bool, Flag(), "Write a page with pictures."] = False

    def __post_init__(self) -> None:
        check_settings(self)
        if self.out is not None:
            object.__setattr__(self, "out", Path(self.out))


@dataclass(frozen=True)
class FitOutputs:
    """Where the model goes; without a file it is in the result only."""

    out: Annotated[Path | None, "The model file; by default DATA with .safetensors."] = None
    checkpoint: Annotated[Path | None, "For arrays: file for unfinished work; the same command continues from it."] = (
        None
    )
    every: Annotated[int, Count(1), "Samples between two checkpoints."] = 10_000

    def __post_init__(self) -> None:
        check_settings(self)
        for name in ("out", "checkpoint"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, Path(getattr(self, name)))


@dataclass(frozen=True)
class FitSettings(ModelSettings):
    """What is learnt, and where the work is done."""

    forgetting: Annotated[Any, "For arrays: weight of the past at each new row."] = "auto"
    scheduler: Annotated[str | None, "Work on a Dask cluster, such as tcp://10.0.0.1:8786."] = None
    workers: Annotated[
        int | None, maybe(Count(1)), "Work on a Dask cluster of this many processes on this machine."
    ] = None
    max_passes: Annotated[int, Count(1), "On a cluster: largest number of passes over the data."] = 20
    tol: Annotated[float, Number(0.0), "On a cluster: stop at this accuracy."] = 1e-3

    @property
    def on_cluster(self) -> bool:
        """Whether several processes do the work."""
        return self.scheduler is not None or self.workers is not None
