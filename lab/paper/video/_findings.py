"""What the video experiment found."""

from typing import Any, NamedTuple

from ._data import Bytes
from ._hall import Hall
from ._rivals import Mask
from ._worst import WorstFrame


class Strip(NamedTuple):
    """A frame of a film and its masks."""

    frame: Bytes
    truth: Bytes
    masks: dict[str, Mask]


class VideoFindings(NamedTuple):
    """What the experiment found."""

    figures: dict[str, Any]
    """Plain numbers."""
    hall: Hall | None
    strips: dict[str, Strip]
    """By film."""
    worst: dict[str, WorstFrame]
    """By film, of our stream."""
