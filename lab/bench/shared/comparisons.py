"""The comparisons, found by their folders.

Their modules are imported late: threads must be pinned before numpy comes in.
"""

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

LAB = Path(__file__).resolve().parents[2]


def names() -> list[str]:
    return sorted(path.parent.name for path in LAB.glob("bench/*/compare.py"))


def compare(name: str, quick: bool) -> dict[str, Any]:
    return import_module(f"lab.bench.{name}.compare").run(quick)


def reports() -> dict[str, ModuleType]:
    """The modules that report, by the names of their comparisons, in the order of the sections."""
    found = {name: import_module(f"lab.bench.{name}.report") for name in names()}
    return dict(sorted(found.items(), key=lambda item: item[1].PLACE))
