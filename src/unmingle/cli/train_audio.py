"""The command `unmingle train audio`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .._validation import require
from ._shared import console
from ._shared.config import take_settings
from ._shared.interrupts import resumable
from ._shared.options import Json, Quiet, Seed, one_of, suffixed
from ._shared.paths import ready_outputs

NETWORKS = ("voice", "phone", "plain")
LOSSES = ("source", "unsupervised")


def take_config(ctx: typer.Context, path: Path | None) -> Path | None:
    """Read the file of settings, before all other options."""
    if path is not None:
        take_settings(ctx, path, run)
    return path


Data = Annotated[
    Path,
    typer.Option(
        metavar="DIR",
        help="Folder of songs: pairs NAME.voice.* and NAME.music.*, or files with music in the left channel and voice "
        "in the right.",
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        "-o",
        "--out",
        callback=suffixed(".safetensors"),
        metavar="FILE",
        help="The model file to write, such as voice.safetensors.",
    ),
]
Music = Annotated[
    list[Path] | None, typer.Option(metavar="DIR", help="Folder of more music without voice; can be repeated.")
]
Network = Annotated[
    str,
    typer.Option(
        metavar="|".join(NETWORKS),
        callback=one_of(NETWORKS),
        help="voice: the best network; phone: a smaller one; plain: the paper's, with 25 components and 20 tied "
        "layers, one frame at a time.",
    ),
]
Loss = Annotated[
    str,
    typer.Option(
        metavar="|".join(LOSSES),
        callback=one_of(LOSSES),
        help="source: learn from the true voice and music; unsupervised, with --network plain: from mixtures alone.",
    ),
]
Validate = Annotated[
    str | None,
    typer.Option(
        metavar="songs|singers|NAME,...",
        help="First train without a fifth of the songs, without each singer in turn, or without those named (SINGER or "
        "SINGER_SONG), and report how well these are separated; then train on everything.",
    ),
]
Steps = Annotated[int | None, typer.Option(min=1, help="Training steps; by default as many as the network needs.")]
Half = Annotated[bool, typer.Option("--half", help="Round numbers to 16 bits: half the size, nearly the same answers.")]
Checkpoint = Annotated[
    Path | None,
    typer.Option(help="File for unfinished work; by default the model file with .training added to its name."),
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


def run(
    data: Data,
    out: Out,
    config: Config = None,
    music: Music = None,
    network: Network = "voice",
    loss: Loss = "source",
    validate: Validate = None,
    steps: Steps = None,
    half: Half = False,
    checkpoint: Checkpoint = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a network that separates voice from music, on songs for which both are known.

    Each step makes new songs: voices at other pitches and with other sounds, with their own music or with that of
    other songs. Names such as SINGER_SONG_CLIP say which clips belong together. Training that was
    interrupted continues when the same command is run again. The model is for `unmingle audio --model`.

    unmingle train audio --data songs --out voice.safetensors --validate songs
    """
    if loss == "unsupervised" and network != "plain":
        raise typer.BadParameter("--loss unsupervised goes with --network plain; others learn from sources.")
    if half and network == "plain":
        raise typer.BadParameter("--half is for the networks voice and phone; a plain one is small as it is.")
    require("torch", "train")
    from ..apps.audio.training import Fold, find_stems, folds, read_music, train_network

    work = checkpoint or Path(f"{out}.training")
    ready_outputs({"--out": out, "--checkpoint": work}, {"--config": config})
    pairs = [source.read() for source in find_stems(data)]
    pieces = read_music(music or [])
    turns = [*(folds(pairs, validate, seed) if validate else []), Fold("nothing", pairs, [])]
    works = [work.with_name(f"{work.name}.{name}") if judged else work for name, _, judged in turns]
    found: dict[str, Any] = {}
    with console.warnings_as_sentences(), resumable(work):
        for (name, kept, judged), own in zip(turns, works, strict=True):
            title = f"Training without {name}" if judged else f"Training on {data.name}"
            with console.counter(title, None, quiet=quiet) as advance:
                model, told = train_network(
                    kept, pieces, network=network, loss=loss, steps=steps, seed=seed, judged=judged,
                    callback=advance, checkpoint=own,
                )  # fmt: skip
            found |= {f"nsdr_without_{name}": told} if judged else {}
        card = {"data": data.name, "network": network, "loss": loss, **getattr(model, "card_", {}), **found}
        if network == "plain":
            model.save(out)
        else:
            model.card_ = card
            model.save(out, half=half)
        for file in works:
            file.unlink(missing_ok=True)
    if as_json:
        console.print_json({"data": data, "card": card, "model": out})
    elif not quiet:
        console.show(console.facts(console.card_facts(card)), model=out)
