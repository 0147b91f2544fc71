"""The command `unmingle demo`."""

from pathlib import Path
from typing import Annotated

import typer

from ._shared import console
from ._shared.options import Json, Quiet, Seed
from ._shared.paths import ready_folder


def run(
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("unmingle-demo"),
    seed: Seed = 0,
    frames: Annotated[int, typer.Option(min=10, max=2000, help="Length of the film.")] = 120,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Separate a made film and a made song, whose truth is known, and write a report with pictures and sound."""
    with console.progress("Separating the film", quiet=quiet) as advance, console.warnings_as_sentences():
        from ..apps import demo

        folder = ready_folder(out)
        done = demo.run(frames, seed, advance)
        report = demo.write_report(done, folder)
    figures = demo.figures(done)
    if as_json:
        console.print_json({**figures, "report": str(report)})
    elif not quiet:
        compared = console.table(*demo.comparison(done), first_is_ours=True)
        song = f"voice {figures['song']['voice_gain']:+.1f} dB, music {figures['song']['music_gain']:+.1f} dB"
        console.show(compared, console.facts({**console.solved(figures), "song": song}), report=report)
