"""What a comparison says while it goes on."""

import sys


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
