"""The command `unmingle fit`."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..apps import FitOutputs, FitSettings
from ..apps.tables import Reading
from ._shared import console
from ._shared.declare import with_options
from ._shared.interrupts import resumable
from ._shared.options import Json, Quiet, penalty, suffixed
from ._shared.paths import named_as_options
from ._shared.table_options import LEARNING, READING

_OPTIONS: dict[str, Any] = {
    **READING,
    **LEARNING,
    "out": Annotated[Path | None, typer.Option("-o", "--out", callback=suffixed(".safetensors"))],
    "n_components": Annotated[int | None, typer.Option("--components", min=1)],
    "nonnegative": Annotated[bool, typer.Option("--nonnegative")],
    "forgetting": Annotated[Any, typer.Option(parser=penalty, metavar="X|auto")],
    "scheduler": Annotated[str | None, typer.Option(metavar="ADDRESS")],
    "max_passes": Annotated[int, typer.Option("--passes", min=1)],
}
"""Options with names, parsers or checks of their own; their help is that of their fields."""


@partial(with_options, given=_OPTIONS, without=["reading"])
def run(
    data: Annotated[
        Path,
        typer.Argument(metavar="DATA", help="A table (.csv, .tsv, Excel, Parquet), or an array (.zarr, .npy, .npz)."),
    ],
    outputs: FitOutputs,
    reading: Reading,
    settings: FitSettings,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Learn what is normal from a table, or from an array that may be larger than memory.

    Rows are samples. A table is learnt as a whole, with equal weight for all columns; the model keeps their names and
    what is usual in each. Arrays are read once, row by row, or on a cluster in several passes. Use the model with
    `unmingle apply`, or `unmingle.load` in Python.

    unmingle fit readings.csv -o readings.safetensors
    """
    from ..apps import fit
    from ..apps.fitting import learns_whole
    from ..apps.tables.writing import stem_of

    outputs = replace(outputs, out=outputs.out or data.with_name(f"{stem_of(data)}.safetensors"))
    title = f"Learning from {data.name}"
    in_turn = not (learns_whole(data) or settings.on_cluster)
    bar = console.counter(title, None, quiet=quiet) if in_turn else console.progress(title, quiet=quiet)
    with resumable(outputs.checkpoint), named_as_options({"the source": "DATA"}), bar as advance:
        result = fit(data, outputs, replace(settings, reading=reading), progress=advance)
    console.say_remarks([] if quiet else result.notes, result.warnings)
    if as_json:
        figures = result.summary()
        written = figures.pop("written")
        console.print_json({"data": data, **figures, **written})
    elif not quiet:
        console.show(console.facts(result.summary_text()), **result.written)
