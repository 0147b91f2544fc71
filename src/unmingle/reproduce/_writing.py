"""Files of results."""

from pathlib import Path

from ..store import write_atomically


def write_text(path: Path, text: str) -> None:
    """Write a file that is there as a whole or not at all."""
    with write_atomically(path) as aside:
        aside.write_text(text, encoding="utf-8")
