"""Images of one thing, from a folder or from arrays: aligned, taken apart, written, and shown on a page."""

from typing import TYPE_CHECKING

from ..._lazy import lazy_names

if TYPE_CHECKING:
    from ._separate import Result as Result
    from ._separate import separate as separate
    from ._settings import Outputs as Outputs
    from ._settings import Settings as Settings

_HOMES = {"Outputs": "_settings", "Result": "_separate", "Settings": "_settings", "separate": "_separate"}
__all__ = ["Outputs", "Result", "Settings", "separate"]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
