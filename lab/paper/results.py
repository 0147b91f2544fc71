"""Results of an experiment: tables, files, and parts that are kept as they are done."""

import json
from pathlib import Path
from typing import Any

from unmingle.store import write_atomically

Table = tuple[list[str], list[list[str]]]
"""Head and rows."""
Cell = dict[str, Any]


def write_text(path: Path, text: str) -> None:
    """Write a file that is there as a whole or not at all."""
    with write_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


class KeptCells:
    """A file with a line for each cell of a table; a line that was broken off is no cell.

    A cell is found by its key, which names all that it depends on: whatever has changed is computed again, all else is
    not.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._cells = path, _read(path)

    def __contains__(self, key: str) -> bool:
        return key in self._cells

    def __getitem__(self, key: str) -> Cell:
        return self._cells[key]

    def add(self, key: str, cell: Cell) -> None:
        """Keep a cell."""
        self._cells[key] = cell
        with self._path.open("a", encoding="utf-8") as file:
            file.write("\n" + json.dumps({"key": key, "cell": cell}))


def _read(path: Path) -> dict[str, Cell]:
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            kept = json.loads(line)
            found[kept["key"]] = kept["cell"]
        except (ValueError, KeyError, TypeError):
            continue
    return found
