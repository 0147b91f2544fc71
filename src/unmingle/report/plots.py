"""Plots as inline SVG, in the classes of the style sheet."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import cycle
from typing import Literal

import numpy as np

COLOURS = ("first", "second", "third", "fourth", "fifth", "sixth")
"""Classes of the series, in their order."""
LEVELS = ("level dashed", "level dotted")
"""Classes of the levels, in their order."""
WHOLE = tuple(float(f"{factor}e{power}") for power in range(12) for factor in (1, 2, 5))
"""Steps between marks on an axis of whole numbers."""


@dataclass(frozen=True)
class Series:
    """Points by their coordinates; without a name they are not in the legend.

    A line joins its points, a marked line shows them too, and an area reaches down to the axis.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    style: Literal["line", "marked", "dots", "area"] = "line"


def _write_number(value: float, step: float) -> str:
    if abs(value) >= 1e7 or step < 1e-6:
        return f"{value:.12g}"
    digits = len(np.format_float_positional(step, trim="-").partition(".")[2])
    return f"{value:.{digits}f}"


@dataclass(frozen=True)
class Axis:
    """What an axis shows, and where it has marks."""

    label: str = ""
    log: bool = False
    """Whether it is logarithmic, with marks at powers of ten."""
    reaches: Sequence[float] = ()
    """Numbers that it covers, whatever the points."""
    steps: Sequence[float] = ()
    """Distances of marks to choose from, rising; by default 1, 2, 2.5 and 5 times powers of ten."""
    words: Callable[[float, float], str] = _write_number
    """What to write at a number, given the distance of marks as well."""
    marks: Sequence[tuple[float, str]] = ()
    """Where to have marks, and what to write there, in place of steps and words."""

    def place(self, value: float) -> float:
        """The number itself or its logarithm; NaN if it has no place on the axis."""
        if not math.isfinite(value) or (self.log and value <= 0):
            return math.nan
        return math.log10(value) if self.log else float(value)


def curves(
    series: Sequence[Series],
    *,
    x: Axis,
    y: Axis,
    levels: Mapping[str, float] | None = None,
    bands: Sequence[tuple[float, float]] = (),
    long: bool = False,
) -> str:
    """Return series of points in one plot, with a legend below it.

    Numbers that are not finite, or have no logarithm where one is needed, are left out.

    Parameters
    ----------
    series : sequence of Series
        The first lies on top.
    x, y : Axis
        From left to right, and upwards.
    levels : mapping of str to float, optional
        Heights of broken lines, by their names.
    bands : sequence of pairs of float
        From where to where along x the background is shaded.
    long : bool, default=False
        Whether the plot is as wide as the page; else it is half as wide, to stand beside another.

    Examples
    --------
    >>> cost = Series("cost", [1, 2, 5], [3.0, 2.0, 1.5])
    >>> plot = curves([cost], x=Axis("layers", steps=WHOLE), y=Axis("F"), levels={"least": 1.0})
    >>> plot.count("<polyline"), plot.count("<i ")
    (1, 2)
    """
    levels = levels or {}
    across = _fit_scale(x, [*(v for s in series for v in s.x), *(v for band in bands for v in band)], 8 if long else 6)
    up = _fit_scale(y, [*(v for s in series for v in s.y), *levels.values()], 5, outwards=True)
    layout = _Layout(across, up, *((960, 300) if long else (480, 270)))
    content = [
        _draw_labels(layout),
        *(_draw_band(layout, *band) for band in bands),
        *(_draw_level(layout, height, kind) for height, kind in zip(levels.values(), cycle(LEVELS), strict=False)),
        *reversed([_draw_series(layout, s, kind) for s, kind in zip(series, cycle(COLOURS), strict=False)]),
    ]
    description = escape(f"{y.label} over {x.label}" if x.label else y.label)
    plot = (
        f'<svg class="plot{" long" if long else ""}" viewBox="0 0 {layout.width} {layout.height}" role="img" '
        f'aria-label="{description}">{"".join(content)}</svg>'
    )
    return (f'<div class="wide">{plot}</div>' if long else plot) + _draw_legend([s.name for s in series], list(levels))


def shades(picture: str, x: Axis, y: Axis, ends: tuple[float, float], description: str) -> str:
    """Return a picture between two axes, both of which begin at 0.

    Parameters
    ----------
    picture : str
        The address of the picture, which may be a data URI; its upper right corner is at the ends.
    x, y : Axis
        What is across, and what is up.
    ends : tuple of float
        Where x and y end.
    description : str
        For those who do not see it.
    """
    layout = _Layout(_fit_scale(x, (0.0, ends[0]), 10), _fit_scale(y, (0.0, ends[1]), 4), 960, 260)
    image = (
        f'<image href="{picture}" x="{layout.left}" y="{layout.top}" width="{layout.end - layout.left}" '
        f'height="{layout.base - layout.top}" preserveAspectRatio="none"/>'
    )
    return (
        f'<div class="wide"><svg class="plot long" viewBox="0 0 {layout.width} {layout.height}" role="img" '
        f'aria-label="{escape(description)}">{_draw_labels(layout)}{image}</svg></div>'
    )


@dataclass(frozen=True)
class _Scale:
    """An axis from one place to another, and what is written where."""

    axis: Axis
    low: float
    high: float
    marks: list[tuple[float, str]]

    def share(self, value: float) -> float:
        """How far along the axis a number is, from 0 to 1; NaN if it has no place."""
        return (self.axis.place(value) - self.low) / (self.high - self.low)


def _fit_scale(axis: Axis, values: Iterable[float], most: int, *, outwards: bool = False) -> _Scale:
    """Fit an axis to numbers, with about as many marks as fit; outwards: it begins and ends at marks."""
    places = [place for place in map(axis.place, (*axis.reaches, *values)) if math.isfinite(place)]
    low, high = min(places, default=0.0), max(places, default=1.0)
    if axis.log:
        first = math.floor(low)
        last = max(math.ceil(high), first + 1)
        powers = range(first, last + 1, math.ceil((last - first) / 6))
        return _Scale(axis, first, last, [(10.0**power, _write_power(power)) for power in powers])
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        high = low + (abs(low) or 1.0)
    if axis.marks:
        return _Scale(axis, low, high, [(value, escape(words)) for value, words in axis.marks])
    step = _choose_step((high - low) / most, axis.steps)
    if outwards:
        low, high = step * math.floor(low / step + 1e-6), step * math.ceil(high / step - 1e-6)
    marks = [step * n for n in range(math.ceil(low / step - 1e-6), math.floor(high / step + 1e-6) + 1)]
    if low == 1.0 and low not in marks:  # counting begins there
        marks.insert(0, low)
    return _Scale(axis, low, high, [(mark, escape(axis.words(mark, step))) for mark in marks])


def _choose_step(least: float, steps: Sequence[float]) -> float:
    """The smallest of the steps that is not below the least; a multiple of the largest if all are."""
    if not steps:
        power = math.floor(math.log10(least))
        steps = [float(f"{factor}e{power}") for factor in (1, 2, 2.5, 5, 10)]
    return next((step for step in steps if step >= least * (1 - 1e-6)), steps[-1] * math.ceil(least / steps[-1]))


def _write_power(exponent: int) -> str:
    if -2 <= exponent <= 3:
        return f"{10.0**exponent:g}"
    return f'10<tspan dy="-5" font-size="9">{exponent}</tspan>'


def _width_of(words: str) -> int:
    """About how many pixels words take."""
    return 7 * len(re.sub("<[^>]*>", "", words))


@dataclass(frozen=True)
class _Layout:
    """Where everything is in the picture."""

    across: _Scale
    up: _Scale
    width: int
    height: int
    top: int = 26
    right: int = 20

    @property
    def left(self) -> int:
        return 12 + max((_width_of(words) for _, words in self.up.marks), default=0)

    @property
    def base(self) -> int:
        return self.height - (40 if self.across.axis.label else 28)

    @property
    def end(self) -> int:
        last = self.across.marks[-1][1] if self.across.marks else ""
        return self.width - max(self.right, _width_of(last) // 2)

    def x(self, value: float) -> float:
        return round(self.left + self.across.share(value) * (self.end - self.left), 1)

    def y(self, value: float) -> float:
        return round(self.base - self.up.share(value) * (self.base - self.top), 1)


def _draw_labels(layout: _Layout) -> str:
    pieces = [f'<text x="0" y="10">{escape(layout.up.axis.label)}</text>']
    for value, words in layout.up.marks:
        y = layout.y(value)
        pieces.append(f'<line class="grid" x1="{layout.left}" x2="{layout.end}" y1="{y}" y2="{y}"/>')
        pieces.append(f'<text x="{layout.left - 8}" y="{y + 4}" text-anchor="end">{words}</text>')
    pieces += [
        f'<text x="{layout.x(value)}" y="{layout.base + 18}" text-anchor="middle">{words}</text>'
        for value, words in layout.across.marks
    ]
    if layout.across.axis.label:
        name = escape(layout.across.axis.label)
        pieces.append(f'<text x="{layout.end}" y="{layout.height - 4}" text-anchor="end">{name}</text>')
    return "".join(pieces)


def _draw_band(layout: _Layout, start: float, end: float) -> str:
    left, right = layout.x(start), layout.x(end)
    return (
        f'<rect class="area second" x="{left}" y="{layout.top}" width="{max(1.5, round(right - left, 1))}" '
        f'height="{layout.base - layout.top}"/>'
    )


def _draw_level(layout: _Layout, height: float, kind: str) -> str:
    y = layout.y(height)
    return f'<line class="{kind}" x1="{layout.left}" x2="{layout.end}" y1="{y}" y2="{y}"/>' if math.isfinite(y) else ""


def _draw_series(layout: _Layout, series: Series, kind: str) -> str:
    pairs = [(layout.x(x), layout.y(y)) for x, y in zip(series.x, series.y, strict=True)]
    places = [(x, y) for x, y in pairs if math.isfinite(x) and math.isfinite(y)]
    dots = "".join(f'<circle class="{kind}" cx="{x}" cy="{y}" r="3.2"/>' for x, y in places)
    if series.style == "dots" or not places:
        return dots
    path = " ".join(f"{x},{y}" for x, y in places)
    line = f'<polyline class="line {kind}" style="fill:none" points="{path}"/>'
    if series.style == "area":
        corners = f"{places[0][0]},{layout.base} {path} {places[-1][0]},{layout.base}"
        return f'<polygon class="area {kind}" points="{corners}"/>{line}'
    return line + dots if series.style == "marked" else line


def _draw_legend(names: Sequence[str], levels: Sequence[str]) -> str:
    keys = [*zip(names, cycle(COLOURS), strict=False), *zip(levels, cycle(LEVELS), strict=False)]
    items = "".join(f'<i class="{kind}">{escape(name)}</i>' for name, kind in keys if name)
    return f'<p class="legend">{items}</p>' if items else ""
