"""Whole jobs, each a module that is imported when first used: arrays or files in, results out, streaming first."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import alignment, audio, demo, tables, video

__all__ = ["alignment", "audio", "demo", "tables", "video"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
