"""Video of a fixed camera: background, foreground and mask, events and a report. README.md shows the way of a frame."""

from typing import TYPE_CHECKING

from ..._lazy import lazy_names

if TYPE_CHECKING:
    from ._result import Result as Result
    from ._separate import separate as separate
    from ._separate import separated_frames as separated_frames
    from ._separation import Box as Box
    from ._separation import Separation as Separation
    from ._stream import Stream as Stream
    from .events import Event as Event
    from .settings import Outputs as Outputs
    from .settings import Settings as Settings
    from .settings import StreamSettings as StreamSettings

_HOMES = {
    "Box": "_separation",
    "Event": "events",
    "Outputs": "settings",
    "Result": "_result",
    "Separation": "_separation",
    "Settings": "settings",
    "Stream": "_stream",
    "StreamSettings": "settings",
    "separate": "_separate",
    "separated_frames": "_separate",
}
__all__ = [
    "Box",
    "Event",
    "Outputs",
    "Result",
    "Separation",
    "Settings",
    "Stream",
    "StreamSettings",
    "separate",
    "separated_frames",
]
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
