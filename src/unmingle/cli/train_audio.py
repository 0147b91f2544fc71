"""The command `unmingle train audio`."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from .._validation import require
from ..apps.audio.settings import TrainingSettings
from ._shared import console
from ._shared.config import take_settings
from ._shared.declare import with_options
from ._shared.interrupts import resumable
from ._shared.options import Json, Quiet, Seed, suffixed
from ._shared.paths import ready_outputs


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
Validate = Annotated[
    str | None,
    typer.Option(
        metavar="songs|singers|NAME,...",
        help="First train without a fifth of the songs, without each singer in turn, or without those named (SINGER or "
        "SINGER_SONG), and report how well these are separated; then train on everything.",
    ),
]
Half = Annotated[bool, typer.Option("--half")]
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


def train_audio(
    *,
    data: Data,
    out: Out,
    config: Config = None,
    music: Music = None,
    settings: TrainingSettings,
    checkpoint: Checkpoint = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a network that separates voice from music, on songs for which both are known.

    Each step makes new songs: voices at other pitches and with other sounds, with their own music or with that of
    other songs. Names such as SINGER_SONG_CLIP say which clips belong together. Training that was
    interrupted continues when the same command is run again. The model is for `unmingle audio --model`.

    unmingle train audio --data songs --out voice.safetensors --validate songs
    """
    require("torch", "train")
    from ..apps.audio.training.train import train_on_songs

    work = checkpoint or Path(f"{out}.training")
    ready_outputs({"--out": out, "--checkpoint": work}, {"--config": config})
    with console.warnings_as_sentences(), resumable(work):
        watch = partial(console.counter, total=None, quiet=quiet)
        result = train_on_songs(data, out, settings, music=music or [], checkpoint=work, watch=watch)
    if as_json:
        console.print_json(result.summary())
    elif not quiet:
        console.show(console.facts(console.card_facts(result.card)), **result.written)


run = with_options(train_audio, given={"validate": Validate, "half": Half, "seed": Seed})
"""What the command line calls."""
