"""The command `unmingle info`."""

import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._shared import console
from ._shared.options import Json

if TYPE_CHECKING:
    from ..apps.description import Description

MOST_ARRAYS = 200
"""How many arrays of a file are listed in the terminal."""
LONGEST_FACT = 2000
"""Characters of a parameter that are shown there."""


def run(
    file: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A model file, or voice or phone, which come with unmingle.")
    ],
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print nothing; only check that the file is readable.")
    ] = False,
    details: Annotated[
        bool, typer.Option("--details", help="Also print all parameters and arrays of the file.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Describe a model: its kind, what it was trained on, what goes in, how good it is, and how it is built."""
    from ..apps import describe

    model = describe(file)
    if as_json:
        console.print_json({"file": model.path, **model.summary()})
    elif not quiet:
        _show(model, details=details)


def _show(model: "Description", *, details: bool) -> None:
    """Print what a model is, how its encoder is built and its card, if any; with details all that its file holds."""
    sections: dict[str, dict[str, str]] = {}
    if model.encoder:
        from ..apps.models import encoder_text

        sections["encoder"] = encoder_text(model.encoder)
    if model.card:
        sections["card"] = console.card_facts(model.card)
    header = model.header
    if details:
        sections |= _details(header, model.parameters)
    console.show(console.facts({**model.summary_text(), "format": str(header.version)}))
    for title, facts in sections.items():
        console.show(f"\n{title}", console.facts({f"  {name}": fact for name, fact in facts.items()}))
    if details and len(header.arrays) > MOST_ARRAYS:
        console.show(f"  and {len(header.arrays) - MOST_ARRAYS} more arrays")


def _details(header: Any, parameters: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    arrays = {
        name: f"{array.dtype}, shape {' x '.join(map(str, array.shape)) or 'scalar'}"
        for name, array in islice(header.arrays.items(), MOST_ARRAYS)
    }
    values = {name: _shortened(json.dumps(value)) for name, value in parameters.items()}
    return {**({"parameters": values} if values else {}), "arrays": arrays}


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_FACT else f"{text[:LONGEST_FACT]} ..."
