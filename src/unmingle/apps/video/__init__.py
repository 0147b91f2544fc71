"""Video of a fixed camera: background, foreground and mask, events and a report."""

from ._events import Event, EventFinder, EventPlace, write_events
from ._highlights import Highlights
from ._outputs import Outputs
from ._report import report_page
from ._result import Box, Separation
from ._separate import separate, separated
from ._stream import Stream
from ._watch import watch
from ._watched import Watched

__all__ = [
    "Box",
    "Event",
    "EventFinder",
    "EventPlace",
    "Highlights",
    "Outputs",
    "Separation",
    "Stream",
    "Watched",
    "report_page",
    "separate",
    "separated",
    "watch",
    "write_events",
]
