"""The commands, as a typer application."""

import inspect
import traceback
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from .. import __version__
from .._validation import is_panic
from . import align, apply, audio, decompose, demo, export, fit, info, train, train_audio, video
from ._shared import console
from ._shared.interrupts import exit_code, heeding_termination, what_happened

COMMANDS = ("demo", "decompose", "fit", "apply", "train", "video", "audio", "align", "export", "info")


class Plain(TyperGroup):
    """A group of commands whose failures are one sentence each."""

    def list_commands(self, ctx: Any) -> list[str]:
        """In the order in which people meet them."""
        return sorted(super().list_commands(ctx), key=COMMANDS.index)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; exit with code 1 after a failure, 130 after an interrupt."""
        try:
            with heeding_termination():
                return super().invoke(ctx)
        except KeyboardInterrupt as error:
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
            console.say_failure(error)
        raise typer.Exit(1)


def show_version(wanted: bool) -> None:
    """Print the version and end."""
    if wanted:
        print(f"unmingle {__version__}")
        raise typer.Exit


app = typer.Typer(cls=Plain, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


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


for command in (demo, decompose, fit, apply, video, audio, align, export, info):
    app.command(command.__name__.rpartition(".")[2], help=unwrapped(command.run))(command.run)
train.kinds.command("audio", help=unwrapped(train_audio.run))(train_audio.run)
app.add_typer(train.kinds, name="train")
