"""What the project demands of a figure, and what it reached."""

from typing import NamedTuple


class Bar(NamedTuple):
    what: str
    wanted: str
    reached: str
    met: bool
