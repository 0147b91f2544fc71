"""The command `unmingle train [KIND] DATA`: what is trained on is a kind of its own, and samples in rows need no name.

The kind comes first, before all options. A word that names one is one; a folder of that name is given as ./KIND.
"""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from .._validation import require
from ..core.iterate import Callback, Progress
from ..learn import LOSSES
from ._shared import console
from ._shared.config import take_settings
from ._shared.interrupts import resumable
from ._shared.options import Json, OutlierPenalty, Quiet, RankPenalty, Seed, one_of, suffixed
from ._shared.paths import ready_outputs

if TYPE_CHECKING:
    from ..estimators.learned import LearnedRobustPCA
    from ._shared.tables import Samples


class Kinds(TyperGroup):
    """What can be trained on; samples, if nothing is said."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the first word for a kind only if it is one."""
        known = args and args[0] in self.commands
        return super().parse_args(ctx, args if known else ["samples", *args])


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
        take_settings(ctx, path, run)
    return path


Data = Annotated[Path, typer.Argument(metavar="DATA", help="A .npy, .npz or .csv file, or a folder of images.")]
Out = Annotated[
    Path,
    typer.Option(
        "-o", "--out", callback=suffixed(".safetensors"), help="The model file to write, such as model.safetensors."
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.toml",
        callback=take_config,
        is_eager=True,
        help="File of settings, named like these options; options on the command line win.",
    ),
]
Components = Annotated[int | None, typer.Option(min=1, help="Largest number of components.")]
Layers = Annotated[int, typer.Option(min=1, max=1000, help="Layers of the network.")]
Aim = Annotated[
    str,
    typer.Option(
        metavar="|".join(LOSSES),
        callback=one_of(LOSSES),
        help="What training minimises: the cost; the distance from exact answers, from the true parts, or "
        "of masked samples from the true foreground.",
    ),
]
Background = Annotated[Path | None, typer.Option(help="With --loss source or masked: the true background.")]
Foreground = Annotated[Path | None, typer.Option(help="With --loss source or masked: the true foreground.")]
UpdateDictionary = Annotated[
    bool, typer.Option("--update-dictionary/--keep-dictionary", help="Whether the components are trained too.")
]
Untied = Annotated[bool, typer.Option("--untied/--tied", help="Whether each layer has its own numbers.")]
Nonnegative = Annotated[
    bool, typer.Option("--nonnegative", help="Components, codes and outliers are never negative; nor may DATA be.")
]
Form = Annotated[Structure, typer.Option(help="The form of the layers; full is for few features only.")]
Passes = Annotated[float, typer.Option(min=0.0, help="Passes over the data, at most.")]
MaxSteps = Annotated[int, typer.Option(min=1, help="Steps of training, at most.")]
BatchSize = Annotated[int, typer.Option(min=1, help="Samples in each step.")]
StepSize = Annotated[float, typer.Option(min=0.0, help="Size of the steps, relative to the numbers that are trained.")]
Validation = Annotated[float, typer.Option(min=0.0, max=1.0, help="Share of the samples that are kept for checking.")]
Size = Annotated[Any, typer.Option(parser=image_size, metavar="HxW", help="Bring all images to this size.")]
Checkpoint = Annotated[
    Path | None,
    typer.Option(help="File for unfinished work; by default the model file with .training added to its name."),
]

kinds = typer.Typer(
    cls=Kinds, help="Train an encoder: a small network that finds the low-rank part and outliers of new data fast."
)


@kinds.command("samples")
def run(
    data: Data,
    out: Out,
    config: Config = None,
    components: Components = None,
    layers: Layers = 5,
    loss: Aim = "unsupervised",
    background: Background = None,
    foreground: Foreground = None,
    update_dictionary: UpdateDictionary = False,
    untied: Untied = False,
    nonnegative: Nonnegative = False,
    structure: Form = Structure.LOW_RANK,
    rank_penalty: RankPenalty = "auto",
    outlier_penalty: OutlierPenalty = "auto",
    passes: Passes = 500.0,
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
    """Train an encoder: a small network that quickly finds the low-rank part and outliers of new data.

    The kind of training comes first; `samples` may be left out, and a folder of that name is given as ./samples. To
    train on songs, see `unmingle train audio --help`.

    DATA has samples in rows, or is a folder of images, which become grey and are read in the order of their names.
    Training that was interrupted continues when the same command is run again. The model is for `unmingle.load` in
    Python and for `unmingle export`.
    """
    work = checkpoint or Path(f"{out}.training")
    _check(data, size, loss, background, foreground)
    require("torch", "train")
    from ..estimators.learned import LearnedRobustPCA
    from ..estimators.learned_nmf import LearnedRobustNMF
    from ._shared.tables import read_parts, read_samples

    samples = read_samples(data, size, nonnegative=nonnegative)
    if not quiet:
        console.say_notes(samples.notes)
    parts = read_parts(background, foreground, samples.X.shape, size) if background and foreground else None
    inputs = {"DATA": data, "--config": config, "--background": background, "--foreground": foreground}
    ready_outputs({"--out": out, "--checkpoint": work}, inputs)
    kind = LearnedRobustNMF if nonnegative else LearnedRobustPCA
    model = kind(
        components, n_layers=layers, loss=loss, update_dictionary=update_dictionary, tied=not untied,
        structure=structure.value, rank_penalty=rank_penalty, outlier_penalty=outlier_penalty, max_passes=passes,
        max_steps=max_steps, batch_size=batch_size, step_size=step_size, validation=validation, random_state=seed,
    )  # fmt: skip
    with console.warnings_as_sentences(), resumable(work):
        with console.counter(f"Training on {data.name}", None, quiet=quiet) as advance:
            learn(model, samples, parts, work, advance, quiet=quiet)
        model.save(out)
        work.unlink(missing_ok=True)
    if model.n_components_ == 0 and not quiet:
        console.say("Note: the data ask for no components, so nothing was learnt; a smaller --rank-penalty finds some.")
    if as_json:
        console.print_json({"data": data, "card": model.card_, "model": out})
    elif not quiet:
        console.show(console.facts(console.card_facts(model.card_)), model=out)


def _check(data: Path, size: Any, loss: str, background: Path | None, foreground: Path | None) -> None:
    """Sizes are for images; true parts come in pairs, and only where the loss looks at them."""
    if size is not None and data.exists() and not data.is_dir():
        raise typer.BadParameter(f"--size is for a folder of images; {data} is a file.")
    given = (background is not None) + (foreground is not None)
    if given != (2 if LOSSES[loss].true_parts else 0):
        raise typer.BadParameter(
            "--loss source and masked need --background and --foreground; other losses take neither."
        )


def learn(
    model: "LearnedRobustPCA", samples: "Samples", parts: Any, checkpoint: Path, callback: Callback, *, quiet: bool
) -> None:
    """Train a model, from a checkpoint on if there is one that fits, and write into its card what it was trained on."""
    news = [f"Going on from {checkpoint}."] if checkpoint.exists() and not quiet else []

    def advance(progress: Progress) -> None:
        while news:
            console.say(news.pop())
        callback(progress)

    model.fit(samples.X, parts, callback=advance, checkpoint=checkpoint)
    while news:
        console.say(news.pop())
    model.card_ = {"data": samples.told, **model.card_}
