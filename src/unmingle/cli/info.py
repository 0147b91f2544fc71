"""The command `unmingle info`."""

import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from ._shared import console
from ._shared.described import summary
from ._shared.options import Json

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
    from ..store import peek
    from ._shared.models import path_of

    file = path_of(file)
    header = peek(file)
    if as_json:
        arrays = {name: array._asdict() for name, array in header.arrays.items()}
        about = summary(header, _without_card(header.parameters)[1])
        told = {
            "file": file,
            "summary": about,
            **header._asdict(),
            "arrays": arrays,
            "encoder": _encoder_in(file, header),
        }
        console.print_json({name: value for name, value in told.items() if name != "encoder" or value})
    elif not quiet:
        _show(header, _encoder_in(file, header), details=details)


def _encoder_in(file: Path, header: Any) -> dict[str, Any]:
    """Tell how the encoder of a model is built, if it has one; other models need not be loaded for that."""
    if not any(name.endswith(("readout_feedback", "cell.feedback")) for name in header.arrays):
        return {}
    from ._shared.models import encoder_of

    return encoder_of(file)


def _show(header: Any, encoder: Mapping[str, Any], *, details: bool) -> None:
    """Print what a model is, how its encoder is built and its card, if any; with details all that its file holds."""
    parameters, card = _without_card(header.parameters)
    sections: dict[str, dict[str, str]] = {}
    if encoder:
        from ._shared.models import encoder_facts

        sections["encoder"] = encoder_facts(encoder)
    if card:
        sections["card"] = console.card_facts(card)
    if details:
        sections |= _details(header, parameters)
    console.show(console.facts({**summary(header, card), "format": str(header.version)}))
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


def _without_card(parameters: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Take the card of a model, what it tells of its training, out of its parameters."""
    match parameters:
        case {"fitted": {"card_": dict(card), **others}}:
            return {**parameters, "fitted": others}, card
        case {"card": dict(card), **others}:
            return others, card
        case _:
            return parameters, {}
