"""The command `unmingle align`."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from .._fields import bounds_of
from ..apps.alignment import Outputs, Settings
from ._shared import console
from ._shared.declare import with_options
from ._shared.options import Json, OutlierWeight, Quiet, RankWeight

_LEAST, _ = bounds_of(Settings, "n_components")
_FIRST, _LAST = bounds_of(Settings, "n_starts")
_OPTIONS = {
    "n_components": Annotated[int, typer.Option("--components", min=_LEAST)],
    "rank_penalty": RankWeight,
    "outlier_penalty": OutlierWeight,
    "n_starts": Annotated[
        int,
        typer.Option(
            "--starts",
            min=_FIRST,
            max=_LAST,
            help="With --model: starting places along each axis; 3 or 5 for large shifts.",
        ),
    ],
    "model": Annotated[
        Path | None, typer.Option(metavar="FILE", help="Align to this model, instead of to each other.")
    ],
}
"""Options with names or parsers of their own."""


@partial(with_options, given=_OPTIONS, without=["shape"])
def run(
    images: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder of images, of one or of several sizes.")],
    settings: Settings,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the results.")] = Path(
        "aligned"
    ),
    height: Annotated[int | None, typer.Option(min=8, help="Pixels of the aligned frame; with --width.")] = None,
    width: Annotated[int | None, typer.Option(min=8, help="Pixels of the aligned frame; with --height.")] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Align images of the same thing, and separate what all have in common from what stands out in each.

    Writes the aligned images, their low-rank parts and outliers, a table of the transformations, a page to look at, and
    the model, which aligns other images of the same thing. Coloured images are aligned by their brightness and keep
    their colours; their low-rank parts and outliers are grey.
    """
    settings = _with_shape(settings, height, width)
    if settings.model is None and settings.n_starts != 1:
        raise typer.BadParameter("--starts goes with --model.")
    with console.warnings_as_sentences():
        from ..apps.alignment import separate

        with console.counter(f"Aligning {images.name}", None, quiet=quiet) as advance:
            result = separate(images, Outputs(out), settings, progress=advance)
    for warning in result.warnings:
        console.say(warning)
    if as_json:
        console.print_json(result.summary())
    elif not quiet:
        console.show(console.facts(result.summary_text()), **result.written)


def _with_shape(settings: Settings, height: int | None, width: int | None) -> Settings:
    if height is None and width is None:
        return settings
    if height is None or width is None:
        raise typer.BadParameter("--height and --width belong together.")
    try:
        return replace(settings, shape=(height, width))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
