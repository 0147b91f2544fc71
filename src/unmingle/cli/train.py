"""The command `unmingle train [KIND] DATA`: what is trained on is a kind of its own, and samples in rows need no name.

The kind comes first, before all options. A word that names one is one; a folder of that name is given as ./KIND.
"""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from .._rules import Count, maybe
from .._validation import require
from ..core.iterate import Callback, Progress
from ..learn import LOSSES, Training
from ._shared import console
from ._shared.config import take_settings
from ._shared.declare import with_options
from ._shared.interrupts import resumable
from ._shared.options import Json, OutlierWeight, Quiet, RankWeight, Seed, one_of, suffixed
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
Size = Annotated[Any, typer.Option(parser=image_size, metavar="HxW", help="Bring all images to this size.")]
Checkpoint = Annotated[
    Path | None,
    typer.Option(help="File for unfinished work; by default the model file with .training added to its name."),
]


@dataclass(frozen=True)
class EncoderOptions:
    """What is trained, and towards what."""

    components: Annotated[int | None, maybe(Count(1)), "Largest number of components."] = None
    layers: Annotated[int, Count(1, 1000), "Layers of the network."] = 5
    loss: str = "unsupervised"
    background: Annotated[Path | None, "With --loss source or masked: the true background."] = None
    foreground: Annotated[Path | None, "With --loss source or masked: the true foreground."] = None
    update_dictionary: bool = False
    untied: bool = False
    nonnegative: bool = False
    structure: Annotated[Structure, "The form of the layers; full is for few features only."] = Structure.LOW_RANK
    rank_penalty: Annotated[Any, "Weight of the rank."] = "auto"
    outlier_penalty: Annotated[Any, "Weight of the outliers."] = "auto"

    def untrained(self, training: Training, seed: int) -> "LearnedRobustPCA":
        """The estimator."""
        from ..estimators.learned import LearnedRobustPCA
        from ..estimators.learned_nmf import LearnedRobustNMF

        kind = LearnedRobustNMF if self.nonnegative else LearnedRobustPCA
        return kind(
            self.components, n_layers=self.layers, loss=self.loss, update_dictionary=self.update_dictionary,
            tied=not self.untied, structure=self.structure.value, rank_penalty=self.rank_penalty,
            outlier_penalty=self.outlier_penalty, training=training, random_state=seed,
        )  # fmt: skip


AS_SWITCHES = {
    "loss": Annotated[
        str,
        typer.Option(
            metavar="|".join(LOSSES),
            callback=one_of(LOSSES),
            help="What training minimises: the cost; the distance from exact answers, from the true parts, or "
            "of masked samples from the true foreground.",
        ),
    ],
    "update_dictionary": Annotated[
        bool, typer.Option("--update-dictionary/--keep-dictionary", help="Whether the components are trained too.")
    ],
    "untied": Annotated[bool, typer.Option("--untied/--tied", help="Whether each layer has its own numbers.")],
    "nonnegative": Annotated[
        bool, typer.Option("--nonnegative", help="Components, codes and outliers are never negative; nor may DATA be.")
    ],
    "rank_penalty": RankWeight,
    "outlier_penalty": OutlierWeight,
}
"""Options that are more than their fields say."""

kinds = typer.Typer(
    cls=Kinds, help="Train an encoder: a small network that finds the low-rank part and outliers of new data fast."
)


def train_on_samples(
    data: Data,
    out: Out,
    model: EncoderOptions,
    training: Training,
    config: Config = None,
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
    _check(data, size, model)
    require("torch", "train")
    from ._shared.tables import read_parts, read_samples

    samples = read_samples(data, size, nonnegative=model.nonnegative)
    if not quiet:
        console.say_notes(samples.notes)
    background, foreground = model.background, model.foreground
    parts = read_parts(background, foreground, samples.X.shape, size) if background and foreground else None
    inputs = {"DATA": data, "--config": config, "--background": background, "--foreground": foreground}
    ready_outputs({"--out": out, "--checkpoint": work}, inputs)
    learned = model.untrained(training, seed)
    with console.warnings_as_sentences(), resumable(work):
        with console.counter(f"Training on {data.name}", None, quiet=quiet) as advance:
            learn(learned, samples, parts, work, advance, quiet=quiet)
        learned.save(out)
        work.unlink(missing_ok=True)
    if learned.n_components_ == 0 and not quiet:
        console.say("Note: the data ask for no components, so nothing was learnt; a smaller --rank-penalty finds some.")
    if as_json:
        console.print_json({"data": data, "card": learned.card_, "model": out})
    elif not quiet:
        console.show(console.facts(console.card_facts(learned.card_)), model=out)


run = with_options(train_on_samples, given=AS_SWITCHES, without=("window", "window_step"))
kinds.command("samples")(run)


def _check(data: Path, size: Any, model: EncoderOptions) -> None:
    """Sizes are for images; true parts come in pairs, and only where the loss looks at them."""
    if size is not None and data.exists() and not data.is_dir():
        raise typer.BadParameter(f"--size is for a folder of images; {data} is a file.")
    given = (model.background is not None) + (model.foreground is not None)
    if given != (2 if LOSSES[model.loss].true_parts else 0):
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
