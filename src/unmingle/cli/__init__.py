"""The command `unmingle`: thin commands over the library, for people and for scripts."""

import sys

from .._validation import first_cause, require


def main() -> None:
    """Run the command line; a failure is one sentence on standard error and exit code 1."""
    try:
        require("rich", "cli")
        application = require("unmingle.cli._app", "cli")
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        words = " ".join(str(first_cause(error)).split()) or type(error).__name__
        sys.exit(f"Error: {words}")
    application.app()
