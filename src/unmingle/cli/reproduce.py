"""The command `unmingle reproduce`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ._shared import console
from ._shared.options import Json, Quiet
from ._shared.paths import ready_folder


class Experiment(StrEnum):
    """What can be reproduced."""

    TABLE1 = "table1"
    ONLINE = "online"
    VIDEO = "video"


def run(
    experiment: Annotated[
        Experiment,
        typer.Argument(
            help="table1: encoders on faces not seen. online: faces in the order of time. video: films, with masks."
        ),
    ],
    data: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where the data are; by default the variable UNMINGLE_DATA tells."),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where results go.")] = Path("unmingle-reproduce"),
    max_steps: Annotated[int, typer.Option(min=1, help="Training steps of an encoder at most, of 64 samples.")] = 1000,
    jobs: Annotated[int, typer.Option(min=-1, help="Processes of table1; -1 for as many as processors.")] = -1,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Repeat an experiment of the paper on your copy of the data: a JSON file and a page with figures.

    The folder holds the files of known sets of faces, or pictures of your own: all of one size, in one sub-folder for
    each person, or in the order of time. Cells of table1 are kept as they are done: the same command goes on from them.
    For video it holds the known films; with OpenCV installed, its methods are compared too.
    """
    with console.warnings_as_sentences():
        from . import reproduction

        folder, target = reproduction.data_folder(data), ready_folder(out)
        with console.counter(f"Reproducing {experiment}", None, quiet=quiet) as advance:
            if experiment is Experiment.TABLE1:
                result = reproduction.table1(folder, target, max_steps, jobs or -1, advance)
            elif experiment is Experiment.ONLINE:
                result = reproduction.online(folder, target, max_steps, advance)
            else:
                result = reproduction.video(folder, target, max_steps, advance)
    if as_json:
        console.print_json(result)
    elif not quiet:
        tables = [console.table(head, rows) for head, rows in reproduction.tables(experiment, result)]
        console.show(*tables, Page=target / f"{experiment}.html")
