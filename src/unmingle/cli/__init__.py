"""The command `unmingle`: thin commands over the library, for people and for scripts."""

import sys

from .._validation import require


def main() -> None:
    """Run the command line; a failure is one sentence on standard error and exit code 1."""
    try:
        require("rich", "cli")
        commands = require("unmingle.cli.commands", "cli")
    except ImportError as missing:
        sys.exit(f"Error: {missing}")
    except KeyboardInterrupt:
        sys.exit(130)
    commands.app()
