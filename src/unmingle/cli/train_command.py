"""The command `unmingle train`."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .._validation import require
from . import console
from .config import take_settings
from .options import Json, Quiet, Seed, penalty


class Loss(StrEnum):
    """What training makes small."""

    UNSUPERVISED = "unsupervised"
    IMITATION = "imitation"
    SOURCE = "source"


class Structure(StrEnum):
    """How the layers are built."""

    LOW_RANK = "low_rank"
    FULL = "full"


def image_size(text: str) -> tuple[int, int]:
    """Read the height and width of images, such as 48x64."""
    height, cross, width = text.lower().partition("x")
    if not (cross and height.isdecimal() and width.isdecimal() and int(height) * int(width)):
        raise typer.BadParameter(f"expected HEIGHTxWIDTH, such as 48x64; got {text!r}.")
    return int(height), int(width)


def take_config(ctx: typer.Context, path: Path | None) -> Path | None:
    """Read the file of settings, before all other options."""
    if path is not None:
        take_settings(ctx, path, train)
    return path


Data = Annotated[Path, typer.Argument(metavar="DATA", help="A .npy, .npz or .csv file, or a folder of images.")]
Out = Annotated[Path, typer.Option(help="The model file to write, such as model.safetensors.")]
Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.toml",
        callback=take_config,
        is_eager=True,
        help="File of settings, by the names of these options; the command line wins.",
    ),
]
Components = Annotated[int | None, typer.Option(min=1, help="Largest number of components.")]
Layers = Annotated[int, typer.Option(min=1, max=1000, help="Layers of the network.")]
Aim = Annotated[
    Loss, typer.Option(help="What training makes small: the cost, the distance from exact answers or from true parts.")
]
Background = Annotated[Path | None, typer.Option(help="With --loss source: the true background, as DATA.")]
Foreground = Annotated[Path | None, typer.Option(help="With --loss source: the true foreground, as DATA.")]
UpdateDictionary = Annotated[
    bool, typer.Option("--update-dictionary/--keep-dictionary", help="Whether the components are trained too.")
]
Untied = Annotated[bool, typer.Option("--untied/--tied", help="Whether each layer has its own numbers.")]
Form = Annotated[Structure, typer.Option(help="The form of the layers; full is for few features only.")]
RankPenalty = Annotated[Any, typer.Option(parser=penalty, metavar="X|auto", help="Weight of the rank.")]
OutlierPenalty = Annotated[Any, typer.Option(parser=penalty, metavar="X|auto", help="Weight of the outliers.")]
Passes = Annotated[float, typer.Option(min=0.0, help="Passes over the data, at most.")]
MaxSteps = Annotated[int, typer.Option(min=1, help="Steps of training, at most.")]
BatchSize = Annotated[int, typer.Option(min=1, help="Samples of a step.")]
StepSize = Annotated[float, typer.Option(min=0.0, help="Size of the steps, relative to that of the numbers trained.")]
Validation = Annotated[float, typer.Option(min=0.0, max=1.0, help="Share of the samples that only judge.")]
Size = Annotated[Any, typer.Option(parser=image_size, metavar="HxW", help="Bring all images to this size.")]
Checkpoint = Annotated[
    Path | None,
    typer.Option(help="File to keep the work in; by default the model file with .training added to its name."),
]


def train(
    data: Data,
    out: Out,
    config: Config = None,
    components: Components = None,
    layers: Layers = 5,
    loss: Aim = Loss.UNSUPERVISED,
    background: Background = None,
    foreground: Foreground = None,
    update_dictionary: UpdateDictionary = False,
    untied: Untied = False,
    structure: Form = Structure.LOW_RANK,
    rank_penalty: RankPenalty = "auto",
    outlier_penalty: OutlierPenalty = "auto",
    passes: Passes = 100.0,
    max_steps: MaxSteps = 1500,
    batch_size: BatchSize = 64,
    step_size: StepSize = 0.04,
    validation: Validation = 0.1,
    size: Size = None,
    checkpoint: Checkpoint = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train an encoder: a small network that finds low-rank part and outliers of new samples in a fixed, short time.

    DATA has samples in rows, or is a folder of images, which become grey and are read in the order of their names.
    Training that was interrupted goes on when the same command is given again. The model is for `unmingle.load` in
    Python and for `unmingle export`.
    """
    work = checkpoint or Path(f"{out}.training")
    _check_paths(data, out, work, size)
    _check_parts(loss, background, foreground)
    require("unmingle.learn", "train")
    from ..estimators import LearnedRobustPCA
    from . import training
    from .files import ready_folder

    samples = training.read_samples(data, size)
    parts = training.read_parts(background, foreground, samples.X.shape, size) if background and foreground else None
    ready_folder(out.parent)
    ready_folder(work.parent, "--checkpoint")
    model = LearnedRobustPCA(
        components, n_layers=layers, loss=loss.value, update_dictionary=update_dictionary, tied=not untied,
        structure=structure.value, rank_penalty=rank_penalty, outlier_penalty=outlier_penalty, max_passes=passes,
        max_steps=max_steps, batch_size=batch_size, step_size=step_size, validation=validation, random_state=seed,
    )  # fmt: skip
    with console.warnings_as_sentences(), _resumable(work):
        with console.counter(f"Training on {data.name}", None, quiet=quiet) as count:
            training.learn(model, samples, parts, work, count, _silent if quiet else console.say)
        model.save(out)
        work.unlink(missing_ok=True)
    if model.n_components_ == 0 and not quiet:
        console.say("Note: the data ask for no components, so nothing was learnt; a smaller --rank-penalty finds some.")
    if as_json:
        console.print_json({"data": str(data), "card": model.card_, "model": str(out)})
    elif not quiet:
        console.print_training(model.card_, out)


def _check_paths(data: Path, out: Path, checkpoint: Path, size: Any) -> None:
    """Refuse to write where something else lies."""
    if out.is_dir() or (out.exists() and data.exists() and out.samefile(data)):
        raise typer.BadParameter(f"--out {out} is a folder or the data itself; name a file for the model.")
    if checkpoint.is_dir() or checkpoint.absolute() in (out.absolute(), data.absolute()):
        raise typer.BadParameter(f"--checkpoint {checkpoint} is a folder, the data or the model; name another file.")
    if size is not None and data.exists() and not data.is_dir():
        raise typer.BadParameter(f"--size is for a folder of images; {data} is a file.")


def _check_parts(loss: Loss, background: Path | None, foreground: Path | None) -> None:
    """True parts come in pairs, and only where the loss looks at them."""
    given = (background is not None) + (foreground is not None)
    if given != (2 if loss is Loss.SOURCE else 0):
        raise typer.BadParameter("--loss source goes with --background and --foreground, other losses with neither.")


def _silent(sentence: str) -> None:
    """Tell nobody."""


@contextmanager
def _resumable(checkpoint: Path) -> Iterator[None]:
    """After an interrupt, tell how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        if not checkpoint.exists():
            raise
        console.say(f"Interrupted; the same command goes on from {checkpoint}.")
        raise typer.Exit(130) from None
