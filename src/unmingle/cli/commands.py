"""The commands, as a typer application."""

import traceback
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .. import __version__
from .._validation import is_panic
from ..reproduce import EXPERIMENTS
from . import console
from .interrupts import exit_code
from .options import Json, Quiet, Seed, penalty
from .train_command import train
from .video_command import video

USAGE_ERROR: Any = typer.BadParameter.__mro__[1]
"""Of click, which typer may carry within itself."""


class Plain(TyperGroup):
    """A group of commands whose failures are one sentence each."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; exit with code 1 after a failure, 130 after an interrupt."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            console.say("Interrupted; results that were not complete are not kept.")
            raise typer.Exit(exit_code(error)) from None
        except (BrokenPipeError, typer.Exit, typer.Abort, USAGE_ERROR):
            raise
        except BaseException as error:
            if not isinstance(error, Exception) and not is_panic(error):
                raise
            if ctx.params.get("debug"):
                traceback.print_exc()
            console.say_failure(error)
        raise typer.Exit(1)


class Solver(StrEnum):
    """The solvers of `unmingle.decompose`."""

    PROXIMAL = "proximal"
    ALTERNATING = "alternating"
    PCP = "pcp"


def show_version(wanted: bool) -> None:
    """Print the version and end."""
    if wanted:
        print(f"unmingle {__version__}")
        raise typer.Exit


NOTEWORTHY_RATIO = 20.0

app = typer.Typer(cls=Plain, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def unmingle(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="After a failure, show where in the program it was.")] = False,
) -> None:
    """Split data into a low-rank part, what repeats, and sparse outliers, what stands out."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("unmingle-demo"),
    seed: Seed = 0,
    frames: Annotated[int, typer.Option(min=10, max=2000, help="Length of the film.")] = 120,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Separate a synthetic surveillance film with known truth and write a report with pictures."""
    with console.progress("Separating the film", quiet=quiet) as advance, console.warnings_as_sentences():
        from . import demo as street
        from .files import ready_folder

        folder = ready_folder(out)
        done = street.run(frames, seed, advance)
        report = street.write_report(done, folder)
    if as_json:
        console.print_json({**street.figures(done), "report": str(report)})
    elif not quiet:
        console.print_demo(*street.comparison(done), street.figures(done), report)


@app.command()
def decompose(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="A .csv file with a header, a .npy or a .npz file.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the results; by default that of the table.")] = None,
    components: Annotated[int | None, typer.Option(min=1, help="Largest rank allowed.")] = None,
    rank_penalty: Annotated[Any, typer.Option(parser=penalty, metavar="X|auto", help="Weight of the rank.")] = "auto",
    outlier_penalty: Annotated[
        Any, typer.Option(parser=penalty, metavar="X|auto", help="Weight of the outliers.")
    ] = "auto",
    standardize: Annotated[
        bool, typer.Option("--standardize", help="Weigh all columns alike: for columns in different units.")
    ] = False,
    solver: Annotated[
        Solver | None, typer.Option(help="Algorithm; by default proximal, or alternating with --components.")
    ] = None,
    tol: Annotated[float, typer.Option(min=0.0, help="Accuracy at which to stop.")] = 1e-6,
    max_iter: Annotated[int, typer.Option(min=1, help="Iterations after which to stop in any case.")] = 500,
    top: Annotated[int, typer.Option(min=0, help="How many outliers to list.")] = 10,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Split a table into a low-rank table and a table of outliers, and list the strongest outliers.

    Empty cells, NA and NaN are missing: the low-rank table fills them. A first column of text, or without a name, holds
    the names of the rows.
    """
    with console.progress(f"Separating {table.name}", quiet=quiet) as advance, console.warnings_as_sentences():
        from . import separation
        from .files import read_table, ready_folder

        content = read_table(table)
        folder = ready_folder(out or table.parent)
        if not quiet:
            _give_notes(content, standardize)
        done = separation.separate(
            content,
            standardize=standardize,
            n_components=components,
            rank_penalty=rank_penalty,
            outlier_penalty=outlier_penalty,
            solver=(solver or (Solver.ALTERNATING if components else Solver.PROXIMAL)).value,
            tol=tol,
            max_iter=max_iter,
            callback=advance,
            random_state=seed,
        )
        written = separation.write_parts(done, folder, table)
    figures, outliers = separation.figures(done), separation.strongest_outliers(done, top)
    if as_json:
        console.print_json({"table": str(table), **figures, "strongest_outliers": outliers, "written": written})
    elif not quiet:
        console.print_separation(figures, outliers, written)


def _give_notes(table: Any, standardize: bool) -> None:
    """Point out what may not be meant so."""
    from .separation import ratio_of_scales

    if table.header_is_numeric:
        console.say("Note: the first line was read as column names although they are all numbers.")
    ratio = 1.0 if standardize else ratio_of_scales(table.values)
    if ratio > NOTEWORTHY_RATIO:
        console.say(
            f"Note: some columns vary {ratio:.0f} times more than others and outweigh them; "
            "--standardize gives all columns the same weight."
        )


@app.command()
def fit(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A .zarr array, a .npy, .npz or .csv file.")],
    out: Annotated[Path | None, typer.Option(help="The model file; by default DATA with .safetensors.")] = None,
    components: Annotated[int | None, typer.Option(min=1, help="Largest number of components.")] = None,
    rank_penalty: Annotated[Any, typer.Option(parser=penalty, metavar="X|auto", help="Weight of the rank.")] = "auto",
    outlier_penalty: Annotated[
        Any, typer.Option(parser=penalty, metavar="X|auto", help="Weight of the outliers.")
    ] = "auto",
    forgetting: Annotated[
        Any, typer.Option(parser=penalty, metavar="X|auto", help="Weight of the past, from sample to sample.")
    ] = "auto",
    checkpoint: Annotated[
        Path | None, typer.Option(help="File to keep the work in; the same command goes on from it.")
    ] = None,
    every: Annotated[int, typer.Option(min=1, help="Samples between two checkpoints.")] = 10_000,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Work on a Dask cluster, such as tcp://10.0.0.1:8786.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Work on a Dask cluster of so many processes on this machine.")
    ] = None,
    passes: Annotated[int, typer.Option(min=1, help="Passes over the data at most, on a cluster.")] = 20,
    tol: Annotated[float, typer.Option(min=0.0, help="Accuracy at which to stop, on a cluster.")] = 1e-3,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Learn robust components from data that may be larger than memory, in one pass or on a cluster.

    Rows are samples. Without a cluster they are read one after the other, once; on a cluster every chunk of a .zarr
    array is read where it lies, in several passes. The model is for `unmingle.load` in Python.
    """
    from ..estimators import OnlineRobustPCA
    from . import learning
    from .files import ready_folder

    if scheduler is not None and workers is not None:
        raise typer.BadParameter("--scheduler and --workers exclude each other.")
    on_cluster = scheduler is not None or workers is not None
    if on_cluster and checkpoint is not None:
        raise typer.BadParameter("--checkpoint goes with one pass on this machine; a cluster redoes what it lost.")
    rows = learning.open_rows(data)
    target = out or data.with_suffix(".safetensors")
    if target.is_dir() or (target.exists() and data.exists() and target.samefile(data)):
        raise typer.BadParameter(f"--out {target} is a folder or the data itself; name a file for the model.")
    ready_folder(target.parent)
    model = OnlineRobustPCA(
        components,
        rank_penalty=rank_penalty,
        outlier_penalty=outlier_penalty,
        forgetting=forgetting,
        random_state=seed,
    )
    with console.warnings_as_sentences():
        if on_cluster:
            with console.progress(f"Learning from {data.name}", quiet=quiet) as advance:
                options = {"max_passes": passes, "tol": tol, "callback": advance}
                learning.learn_on_cluster(model, data, scheduler, workers, options)
        else:
            with console.counter(f"Learning from {data.name}", rows.shape[0], quiet=quiet) as count:
                try:
                    learning.learn(model, rows, checkpoint, every, count)
                except KeyboardInterrupt:
                    if checkpoint is not None and checkpoint.exists():
                        console.say(f"Interrupted; the same command goes on from {checkpoint}.")
                        raise typer.Exit(130) from None
                    raise
        model.save(target)
    figures = learning.figures(model)
    if as_json:
        console.print_json({"data": str(data), **figures, "model": str(target)})
    elif not quiet:
        console.print_learning(figures, target)


app.command()(train)
app.command()(video)


@app.command()
def export(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A .safetensors file saved by unmingle.")],
    out: Annotated[Path, typer.Argument(metavar="OUT.onnx", help="The ONNX file to write.")],
    layers: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help="For models without an encoder: passes of Algorithm 1; 20 by default."),
    ] = None,
    warm_start: Annotated[
        bool, typer.Option("--warm-start", help="Add an input for codes to start from, as of the frame before.")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write the encoder of a model as an ONNX file, which runs without Python and unmingle.

    It takes samples in rows, NaN where missing, and gives their codes, low-rank part and outliers. A model that has
    components but no trained encoder is exported as Algorithm 1, cut off after some passes. The file is kept only if
    ONNX Runtime, where installed, gives the same answers as unmingle.
    """
    if out.suffix.lower() != ".onnx" or out.is_dir() or (out.exists() and model.exists() and out.samefile(model)):
        raise typer.BadParameter(f"OUT must be a file whose name ends in .onnx, and not the model; got {out}.")
    with console.warnings_as_sentences():
        from . import models
        from .files import ready_folder

        loaded = models.load_encoder(model, layers)
        ready_folder(out.parent, "OUT")
        figures = models.export(loaded, out, warm_start=warm_start)
    if as_json:
        console.print_json({"model": str(model), **figures, "onnx": str(out)})
    elif not quiet:
        console.print_export(figures, out)


def known_experiment(name: str) -> str:
    """Refuse an experiment that there is not."""
    if name not in EXPERIMENTS:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, EXPERIMENTS))}.")
    return name


@app.command()
def reproduce(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="|".join(EXPERIMENTS),
            help=" ".join(f"{name}: {known.help}." for name, known in EXPERIMENTS.items()),
            callback=known_experiment,
            autocompletion=lambda: list(EXPERIMENTS),
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
    from . import reproduction

    reproduction.run(experiment, data, out, max_steps, jobs, quiet=quiet, as_json=as_json)


@app.command()
def info(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A model saved by unmingle.")],
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print nothing; only check that the file is readable.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Tell what a saved model holds, and how the encoder is built if it has one."""
    from ..store import peek

    header = peek(file)
    if as_json:
        arrays = {name: array._asdict() for name, array in header.arrays.items()}
        told = {"file": str(file), **header._asdict(), "arrays": arrays, "encoder": _encoder_in(file, header)}
        console.print_json({name: value for name, value in told.items() if name != "encoder" or value})
    elif not quiet:
        console.print_header(header, _encoder_in(file, header))


def _encoder_in(file: Path, header: Any) -> dict[str, Any]:
    """Tell how the encoder of a model is built, if it has one; other models need not be loaded for that."""
    if not any(name.endswith("readout_feedback") for name in header.arrays):
        return {}
    from .models import described

    return described(file)
