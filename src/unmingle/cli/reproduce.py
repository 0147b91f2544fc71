"""The command `unmingle reproduce`."""

from pathlib import Path
from typing import Annotated

import typer

from ..reproduce import EXPERIMENTS, data_folder
from ._shared import console
from ._shared.options import Json, Quiet, one_of
from ._shared.paths import ready_folder


def run(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="|".join(EXPERIMENTS),
            help=" ".join(f"{name}: {one.help}." for name, one in EXPERIMENTS.items()),
            callback=one_of(EXPERIMENTS),
        ),
    ],
    data: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder of the data; by default that in the variable UNMINGLE_DATA."),
    ] = None,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FOLDER", help="Folder for the results.")] = Path(
        "unmingle-reproduce"
    ),
    max_steps: Annotated[
        int, typer.Option(min=1, help="Most training steps of an encoder, each of 64 samples.")
    ] = 1000,
    jobs: Annotated[int, typer.Option(min=-1, help="Processes for table1 and audio; -1: one for each processor.")] = -1,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Repeat an experiment of the paper on your copy of the data: a JSON file and a page with figures.

    The folder contains known sets of faces, or pictures of your own (all of one size, in one sub-folder for each
    person, or in the order of time); for video the known films, for audio the clips of MIR-1K. With OpenCV installed,
    its video methods are compared, too. Finished parts of table1 and audio are kept: the same command goes on from
    them.
    """
    chosen = EXPERIMENTS[experiment]
    with console.warnings_as_sentences():
        folder, target = data_folder(data), ready_folder(out)
        with console.counter(f"Reproducing {experiment}", None, quiet=quiet) as advance:
            result = chosen.run(folder, target, max_steps=max_steps, n_jobs=jobs or -1, callback=advance)
    if as_json:
        console.print_json(result)
    elif not quiet:
        tables = [console.table(head, rows) for head, rows in chosen.tables(result)]
        console.show(*tables, Page=target / f"{experiment}.html")
