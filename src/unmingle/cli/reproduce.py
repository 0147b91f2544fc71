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
        typer.Option(metavar="FOLDER", help="Where the data are; by default the variable UNMINGLE_DATA tells."),
    ] = None,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FOLDER", help="Where results go.")] = Path(
        "unmingle-reproduce"
    ),
    max_steps: Annotated[int, typer.Option(min=1, help="Training steps of an encoder at most, of 64 samples.")] = 1000,
    jobs: Annotated[
        int, typer.Option(min=-1, help="Processes of table1 and audio; -1 for as many as processors.")
    ] = -1,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Repeat an experiment of the paper on your copy of the data: a JSON file and a page with figures.

    The folder holds the files of known sets of faces, or pictures of your own: all of one size, in one sub-folder for
    each person, or in the order of time. Cells of table1 and audio are kept as they are done: the same command goes on
    from them. For video it holds the known films; with OpenCV installed, its methods are compared too. For audio it
    holds the clips of MIR-1K.
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
