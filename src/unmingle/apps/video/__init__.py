"""Video of a fixed camera: background, foreground and mask."""

from ._result import Box, Separation
from ._separate import separate
from ._stream import Stream

__all__ = ["Box", "Separation", "Stream", "separate"]
