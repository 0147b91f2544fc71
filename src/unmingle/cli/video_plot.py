"""A curve over the time of a film, as inline SVG in the look of the reports."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from ..apps.video._words import clock

STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)
"""Seconds from one mark of time to the next."""


def time_plot(
    times: Sequence[float], shares: Sequence[float], *, bands: Sequence[tuple[float, float]] = (), label: str
) -> str:
    """Return shares over time, with bands behind the curve from one time to another.

    Parameters
    ----------
    times, shares : sequences of float
        Points of the curve, in the order of time.
    bands : sequence of pairs of float
        Times at which bands begin and end.
    label : str
        What is shown.
    """
    last = max([*times, *(end for _, end in bands)], default=0.0) or 1.0
    room = _Room(last, _round_up(max(shares, default=0.0)))
    shaded = "".join(
        f'<rect class="area second" x="{room.x(start)}" y="{room.top}" '
        f'width="{max(1.5, round(room.x(end) - room.x(start), 1))}" height="{room.base - room.top}"/>'
        for start, end in bands
    )
    places = [f"{room.x(time)},{room.y(share)}" for time, share in zip(times, shares, strict=True)]
    corners = [f"{room.x(times[0])},{room.base}", *places, f"{room.x(times[-1])},{room.base}"] if times else []
    curve = (
        f'<polygon class="area first" points="{" ".join(corners)}"/>'
        f'<polyline class="line first" style="fill:none" points="{" ".join(places)}"/>'
    )
    name = escape(label)
    return (
        f'<div class="wide"><svg class="plot long" viewBox="0 0 {room.width} {room.height}" role="img" '
        f'aria-label="{name}"><text x="0" y="10">{name}</text>{_marks(room)}{shaded}{curve}</svg></div>'
    )


@dataclass(frozen=True)
class _Room:
    """Places of times and shares."""

    last: float
    most: float
    width: int = 960
    height: int = 250
    left: int = 72
    top: int = 26
    right: int = 16
    bottom: int = 28

    @property
    def base(self) -> int:
        return self.height - self.bottom

    def x(self, time: float) -> float:
        return round(self.left + time / self.last * (self.width - self.left - self.right), 1)

    def y(self, share: float) -> float:
        return round(self.base - share / self.most * (self.base - self.top), 1)


def _marks(room: _Room) -> str:
    end = room.width - room.right
    pieces = []
    for number in range(5):
        share = room.most * number / 4
        y = room.y(share)
        pieces.append(f'<line class="grid" x1="{room.left}" x2="{end}" y1="{y}" y2="{y}"/>')
        pieces.append(f'<text x="{room.left - 8}" y="{y + 4}" text-anchor="end">{100 * share:g} %</text>')
    step = next((step for step in STEPS if step >= room.last / 8), 86400 * math.ceil(room.last / 8 / 86400))
    for number in range(int(room.last / step) + 1):
        time = number * step
        words = clock(time, 0 if step >= 1 else 1)
        pieces.append(f'<text x="{room.x(time)}" y="{room.base + 20}" text-anchor="middle">{words}</text>')
    return "".join(pieces)


def _round_up(share: float) -> float:
    """The next share that is four round steps from 0."""
    rough = max(share, 1e-4)
    unit = 10.0 ** math.floor(math.log10(rough))
    return min(1.0, next(factor * unit for factor in (1, 2, 4, 6, 8, 10) if factor * unit >= rough))
