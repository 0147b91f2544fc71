"""The command `unmingle`: thin commands over the library, for people and for scripts."""

import sys

from .._validation import require


def main() -> None:
    """Run the command line; a failure is one sentence on standard error and exit code 1."""
    try:
        require("rich", "cli")
        commands = require("unmingle.cli.commands", "cli")
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        words = " ".join(str(_first_cause(error)).split()) or type(error).__name__
        sys.exit(f"Error: {words}")
    commands.app()


def _first_cause(error: BaseException) -> BaseException:
    """What was raised first; packages that miss something of their own tell it at length."""
    while error.__cause__ is not None and not isinstance(error.__cause__, ModuleNotFoundError):
        error = error.__cause__
    return error
