"""The command `unmingle apply`."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..apps import ApplyOutputs, ApplySettings
from ..apps.tables import Reading
from ._shared import console
from ._shared.declare import with_options
from ._shared.options import Json, Quiet
from ._shared.paths import named_as_options
from ._shared.table_options import CLEANING, READING
from .train import Size

_MOST_PRINTED = 10
_MOST_EVENTS = 20
_OPTIONS: dict[str, Any] = {
    **READING,
    **CLEANING,
    "out": Annotated[Path | None, typer.Option("-o", "--out", metavar="DIR", show_default="applied")],
    "report": Annotated[bool, typer.Option("--report")],
    "size": Size,
}
"""Options with names or parsers of their own."""


@partial(with_options, given=_OPTIONS, without=["reading", "use", "skip", "false_share"])
def run(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A model file, or voice or phone, which come with unmingle.")
    ],
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="What the model is for: a table, a folder of images, a film, songs.")
    ],
    outputs: ApplyOutputs,
    settings: ApplySettings,
    reading: Reading,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Apply a saved model to new data; the model learns nothing from them.

    A table is cleaned, its outliers are listed, and every row gets codes and a score, larger for more normal rows;
    columns are matched by their names. Films, songs and images are separated; a model from
    `unmingle align` also aligns the images.

    unmingle apply readings.safetensors may.csv -o may

    unmingle apply street.safetensors street.mp4 -o street
    """
    names = {"the source": "DATA", "the model": "MODEL"}
    with (
        console.warnings_as_sentences(),
        console.counter(f"Applying {model.name}", None, quiet=quiet) as advance,
        named_as_options(names),
    ):
        from ..apps import apply

        outputs = replace(outputs, out=outputs.out or Path("applied"))
        result = apply(model, data, outputs, replace(settings, reading=reading), progress=advance)
    failures = _failures_of(result)
    remarks = [sentence for sentence in result.warnings if sentence not in map(str, failures)]
    console.say_remarks([] if quiet else getattr(result, "notes", []), remarks)
    if as_json:
        console.print_json({"model": model, "data": data, **result.summary()})
    elif not quiet:
        _show(result)
    _end(failures, interrupted=getattr(result, "interrupted", False))


def _show(result: Any) -> None:
    parts = [
        console.facts(result.summary_text()),
        *console.outlier_table(getattr(result, "outliers", [])[:_MOST_PRINTED]),
    ]
    head, events = getattr(result, "event_table", None) or ((), ())
    if events:
        parts.append(console.table(head, events[:_MOST_EVENTS]))
    console.show(*parts, **result.written)


def _failures_of(result: Any) -> list[Exception]:
    """The parts of the work that could not be done."""
    return list(getattr(result, "errors", ()) or getattr(result, "failures", ()))


def _end(failures: list[Exception], *, interrupted: bool) -> None:
    """What could not be done is said, and ends the command with its exit code."""
    for failure in failures:
        console.say_failure(failure)
    if failures:
        raise typer.Exit(1)
    if interrupted:
        raise KeyboardInterrupt
