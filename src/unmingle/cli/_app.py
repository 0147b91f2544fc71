"""The commands, as a typer application."""

import inspect
import traceback
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command, get_group

from .. import __version__
from .._validation import is_panic
from ._shared.interrupts import exit_code, heeding_termination, what_happened

COMMANDS = {
    "demo": "Separate a film, a table and a song, compare with simpler methods, and write a page with pictures and "
    "sound.",
    "decompose": "Clean a table: find cells that do not fit the rest, and estimate what belongs there and in the gaps.",
    "fit": "Learn what is normal from a table, or from an array that may be larger than memory.",
    "apply": "Apply a saved model to new data; the model learns nothing from them.",
    "train": "Train an encoder: a small network that finds the low-rank part and outliers of new data fast.",
    "video": "Separate the film of a fixed camera into background, foreground and mask, and list when something was "
    "there.",
    "audio": "Separate songs into voice and music, DIR/NAME.voice.flac and DIR/NAME.music.flac, which add up to the "
    "song.",
    "align": "Align images of the same thing, and separate what all have in common from what stands out in each.",
    "export": "Write the encoder of a model as an ONNX file, which runs without Python and unmingle.",
    "info": "Describe a model: its kind, what it was trained on, what goes in, how good it is, and how it is built.",
}
"""What each command does, in the order in which people meet them. The module of a command, of the same name, is
imported when the command is run or its own help is asked for, so that the list of commands is there at once."""


class LazyGroup(TyperGroup):
    """A group of commands that are imported when they are run, and whose failures are one sentence each."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.commands = {name: TyperCommand(name, help=line) for name, line in COMMANDS.items()}

    def list_commands(self, ctx: Any) -> list[str]:
        """In the order in which people meet them."""
        return list(COMMANDS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is to be run, imported."""
        name, found, others = super().resolve_command(ctx, args)
        return name, found and load_command(str(found.name)), others

    def invoke(self, ctx: Any) -> Any:
        """Run the command; exit with code 1 after a failure, 130 after an interrupt."""
        try:
            with heeding_termination():
                return super().invoke(ctx)
        except KeyboardInterrupt as error:
            from ._shared import console

            console.say(f"{what_happened(error)}; incomplete results are not kept.")
            raise typer.Exit(exit_code(error)) from None
        except TyperException as error:
            error.message = error.message.removeprefix("Value error, ")  # of pydantic, for a word that is not known
            raise
        except (BrokenPipeError, typer.Exit, typer.Abort):
            raise
        except BaseException as error:
            if not isinstance(error, Exception) and not is_panic(error):
                raise
            if ctx.params.get("debug"):
                traceback.print_exc()
            from ._shared import console

            console.say_failure(error)
        raise typer.Exit(1)


def show_version(wanted: bool) -> None:
    """Print the version and end."""
    if wanted:
        print(f"unmingle {__version__}")
        raise typer.Exit


app = typer.Typer(cls=LazyGroup, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def unmingle(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="After an error, show where in the program it happened.")
    ] = False,
) -> None:
    """Split data into a low-rank part, what repeats, and sparse outliers, what stands out."""


def unwrapped(command: Callable[..., object]) -> str:
    """The docstring of a command with one line for each paragraph, so that it is wrapped to the terminal."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


@cache
def load_command(name: str) -> Any:
    """Import the module of a command and make of its function `run` what typer runs."""
    module = import_module(f"{__package__}.{name}")
    if name == "train":
        from . import train_audio

        module.kinds.command("audio", help=unwrapped(train_audio.run))(train_audio.run)
        group = get_group(module.kinds)
        group.name = name
        return group
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    alone.command(name, help=unwrapped(module.run))(module.run)
    return get_command(alone)
