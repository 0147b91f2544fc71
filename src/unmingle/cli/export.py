"""The command `unmingle export`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ._shared import console
from ._shared.options import Json, Quiet, suffixed
from ._shared.paths import ready_outputs


def run(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A model file, or voice or phone, which come with unmingle.")
    ],
    out: Annotated[
        Path, typer.Argument(metavar="OUT.onnx", callback=suffixed(".onnx"), help="The ONNX file to write.")
    ],
    layers: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1000,
            help="For models without an encoder: passes of Algorithm 1; 20 by default, 500 if nonnegative.",
        ),
    ] = None,
    warm_start: Annotated[
        bool,
        typer.Option("--warm-start", help="Add an input for codes to start from, such as those of the frame before."),
    ] = False,
    input_scale: Annotated[
        float,
        typer.Option(
            min=0.0, help="Let the file divide samples by this number: 255 if it takes bytes instead of 0 to 1."
        ),
    ] = 1.0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write the encoder of a model as an ONNX file, which runs without Python and unmingle.

    It takes samples in rows, NaN where missing, and gives their codes, low-rank part and outliers. A model that has
    components but no trained encoder is exported as Algorithm 1, cut off after some passes. The file is kept only if
    ONNX Runtime, where installed, gives the same answers as unmingle.
    """
    with console.warnings_as_sentences():
        from ..apps import models

        model = models.model_path(model)
        loaded = models.load_encoder(model, layers)
        ready_outputs({"OUT": out}, {"MODEL": model})
        figures = models.export_encoder(loaded, out, warm_start=warm_start, input_scale=input_scale)
    if as_json:
        console.print_json({"model": model, **figures, "onnx": out})
    elif not quiet:
        console.show(console.facts(_facts(figures, models.encoder_text(figures))), onnx=out)


def _facts(figures: dict[str, Any], encoder: dict[str, str]) -> dict[str, str]:
    difference = figures["largest_difference"]
    checked = f"within {difference:.1e} of unmingle" if difference is not None else "no: onnxruntime is not installed"
    origin = f"{figures['kind']}{', untrained' if figures['made_from_components'] else ''}"
    samples = f"samples in rows, {figures['dtype']}"
    inputs = f"{samples}; init, codes to start from" if figures["warm_start"] else samples
    if "outlier_penalty" not in figures:
        inputs = "samples and state, next_state of the samples before"
    if figures["input_scale"] != 1:
        inputs += f"; samples are divided by {figures['input_scale']:g} first"
    return {"model": origin, **encoder, "inputs": inputs, "checked": checked}
