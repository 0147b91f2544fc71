"""The comparisons, found by their folders.

Their modules are imported late: threads must be pinned before numpy comes in.
"""

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(__file__).resolve().parents[1]


def names() -> list[str]:
    return sorted(path.parent.name for path in FOLDER.glob("*/compare.py"))


def run(name: str, quick: bool) -> dict[str, Any]:
    return import_module(f"benchmarks.{name}.compare").run(quick)


def reports() -> dict[str, ModuleType]:
    """The modules that report, by the names of their comparisons, in the order of the sections."""
    found = {name: import_module(f"benchmarks.{name}.report") for name in names()}
    return dict(sorted(found.items(), key=lambda item: item[1].PLACE))
