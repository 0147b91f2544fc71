"""Reports as single HTML pages: text, tables, pictures and curves in one file that needs nothing else.

Every function returns a piece of HTML; all text is escaped on the way in, pictures are inlined as data URIs.
"""

import math
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._validation import require

Array = NDArray[Any]

STYLE = """
:root { color-scheme: light dark; --paper: #fbfaf8; --ink: #1d2126; --faint: #6a717b; --line: #dfdcd6;
  --panel: #ffffff; --first: #c2541b; --second: #2f6f9f; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e6e4df; --faint: #98a0a9; --line: #2c3237;
  --panel: #1b1f23; --first: #f08b52; --second: #74b3e0; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 17px/1.6 Charter, "Bitstream Charter",
  "Iowan Old Style", Cambria, Georgia, serif; -webkit-text-size-adjust: 100%; }
main { max-width: 68rem; margin: 0 auto; padding: 3.5rem 1.5rem 4rem; }
h1 { font-size: clamp(2rem, 5vw, 3rem); line-height: 1.1; letter-spacing: -0.02em; margin: 0 0 1rem; }
h2 { font-size: 1.35rem; line-height: 1.25; margin: 3.2rem 0 0.6rem; }
p { max-width: 42rem; margin: 0.6rem 0; }
.lead { font-size: 1.2rem; color: var(--faint); }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 1px; margin: 2rem 0 0;
  background: var(--line); border: 1px solid var(--line); border-radius: 10px; overflow: hidden; }
.figures div { background: var(--panel); padding: 1rem 1.2rem; }
.figures b { display: block; font-size: 1.75rem; line-height: 1.2; font-weight: 600;
  font-variant-numeric: tabular-nums; }
.figures span, figcaption, th, .plot text, .legend, .strip span, code, td { font-family: ui-sans-serif, system-ui,
  -apple-system, "Segoe UI", Inter, Roboto, sans-serif; }
.figures span, figcaption, .legend { display: block; font-size: 0.82rem; line-height: 1.45; color: var(--faint); }
figure { margin: 1.4rem 0; }
figcaption { margin-top: 0.6rem; max-width: 46rem; }
img { display: block; width: 100%; height: auto; border-radius: 5px; }
.wide { overflow-x: auto; }
.strip { display: grid; gap: 6px; min-width: 36rem; }
.strip span { align-self: end; font-size: 0.8rem; line-height: 1.3; color: var(--faint); padding-bottom: 2px; }
.strip .moment { align-self: center; padding-right: 0.6rem; font-variant-numeric: tabular-nums; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 0.35rem 1.6rem; margin: 1rem 0; }
.facts dt, .facts dd { margin: 0; font: 0.92rem/1.45 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Inter, Roboto,
  sans-serif; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.facts dt { color: var(--faint); }
table { border-collapse: collapse; width: 100%; font-size: 0.95rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 0.5rem 0.9rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { font-size: 0.82rem; font-weight: 500; color: var(--faint); }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
tr.chosen td { font-weight: 650; color: var(--first); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 0 2.5rem; }
.plot { display: block; width: 100%; height: auto; overflow: visible; }
.plot text { font-size: 12px; fill: var(--faint); }
.plot .grid { stroke: var(--line); stroke-width: 1; }
.plot .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.first { stroke: var(--first); fill: var(--first); color: var(--first); }
.second { stroke: var(--second); fill: var(--second); color: var(--second); }
.plot circle { stroke: none; }
.plot .area { stroke: none; opacity: 0.14; }
.plot.long { min-width: 36rem; }
.legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1.2rem; margin: 0.4rem 0 0; max-width: none; }
.legend i { font-style: normal; }
.formula { font-size: 1.2rem; margin: 1.1rem 0; max-width: none; }
code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 0.86em;
  background: var(--panel); border: 1px solid var(--line); border-radius: 5px; padding: 0.15em 0.45em;
  overflow-wrap: anywhere; }
footer { margin-top: 3.5rem; padding-top: 1.2rem; border-top: 1px solid var(--line); color: var(--faint);
  font-size: 0.9rem; }
"""


def page(title: str, *parts: str) -> str:
    """Return a whole page made of the parts."""
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
    )
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body><main>\n{body}\n</main></body></html>\n'


def heading(text: str) -> str:
    """Return the title of a section."""
    return f"<h2>{escape(text)}</h2>"


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph; `kind` names a class of the style sheet, such as "lead"."""
    return f'<p class="{escape(kind)}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def key_figures(figures: Mapping[str, str]) -> str:
    """Return a row of large numbers, each with a few words on what it is."""
    cells = "".join(f"<div><b>{escape(value)}</b><span>{escape(name)}</span></div>" for name, value in figures.items())
    return f'<div class="figures">{cells}</div>'


def table(head: Sequence[str], rows: Sequence[Sequence[str]], chosen: int = 0) -> str:
    """Return a table; the row number `chosen` stands out."""
    titles = "".join(f'<th scope="col">{escape(title)}</th>' for title in head)
    lines = "".join(
        f"<tr{' class=chosen' if number == chosen else ''}>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
        for number, row in enumerate(rows)
    )
    return f'<div class="wide"><table><thead><tr>{titles}</tr></thead><tbody>{lines}</tbody></table></div>'


def facts(pairs: Mapping[str, str]) -> str:
    """Return names and what they stand for, one below the other."""
    lines = "".join(f"<dt>{escape(name)}</dt><dd>{escape(words)}</dd>" for name, words in pairs.items())
    return f'<dl class="facts">{lines}</dl>'


def pixels(picture: Array) -> NDArray[np.uint8]:
    """Turn brightness or colour in [0, 1] into bytes."""
    return np.rint(255.0 * np.clip(picture, 0.0, 1.0)).astype(np.uint8)


def png(picture: Array) -> bytes:
    """Return a picture in [0, 1], grey or with 3 or 4 channels in its last axis, as a PNG file."""
    buffer = BytesIO()
    _image(picture).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def image(picture: Array, description: str) -> str:
    """Return a picture as an element of the page."""
    return f'<img src="{_data_uri("image/png", png(picture))}" alt="{escape(description)}">'


def photo(jpeg: bytes, description: str) -> str:
    """Return the content of a JPEG file as an element of the page."""
    return f'<img src="{_data_uri("image/jpeg", jpeg)}" alt="{escape(description)}">'


def film(pictures: Sequence[Array], still: Array, description: str, *, frames_per_second: float = 12.0) -> str:
    """Return a moving picture in a loop; readers who ask their system for less motion see the still."""
    first, *others = [_image(picture) for picture in pictures]
    buffer = BytesIO()
    duration = round(1000.0 / frames_per_second)
    first.save(buffer, "WEBP", save_all=True, append_images=others, duration=duration, loop=0, quality=75, method=2)
    quiet = _data_uri("image/png", png(still))
    moving = _data_uri("image/webp", buffer.getvalue())
    return (
        f'<picture><source media="(prefers-reduced-motion: reduce)" srcset="{quiet}">'
        f'<img src="{moving}" alt="{escape(description)}"></picture>'
    )


def figure(content: str, caption: str) -> str:
    """Return a piece of the page with a caption below it."""
    return f"<figure>{content}<figcaption>{escape(caption)}</figcaption></figure>"


def film_strip(columns: Mapping[str, Sequence[Array]], frames: Sequence[int]) -> str:
    """Return pictures in rows, one row for each frame, under the names of their columns."""
    return picture_rows(
        {
            name: [image(picture, f"{name}, frame {frame}") for picture, frame in zip(pictures, frames, strict=True)]
            for name, pictures in columns.items()
        }
    )


def picture_rows(columns: Mapping[str, Sequence[str]], labels: Sequence[str] = ()) -> str:
    """Return elements such as images in rows under the names of their columns; rows may have labels to their left."""
    corner = "<span></span>" if labels else ""
    titles = "".join(f"<span>{escape(name)}</span>" for name in columns)
    starts = [f'<span class="moment">{escape(label)}</span>' for label in labels]
    rows = list(zip(*columns.values(), strict=True))
    cells = "".join(start + "".join(row) for start, row in zip(starts or [""] * len(rows), rows, strict=True))
    grid = f"grid-template-columns: {'max-content ' if labels else ''}repeat({len(columns)}, 1fr)"
    return f'<div class="wide"><div class="strip" style="{grid}">{corner}{titles}{cells}</div></div>'


def side_by_side(*pictures: Array, gap: int = 3) -> Array:
    """Return pictures of the same height as one, with nothing (transparent pixels) between them."""
    return _joined(pictures, gap, axis=1)


def contact_sheet(columns: Mapping[str, Sequence[Array]], gap: int = 3) -> Array:
    """Return the pictures of a film strip as one."""
    rows = zip(*columns.values(), strict=True)
    return _joined([_joined(row, gap, axis=1) for row in rows], gap, axis=0)


@dataclass(frozen=True)
class Series:
    """Positive numbers to plot over their positions 1, 2, ..."""

    name: str
    values: Sequence[float]
    style: Literal["line", "dots"] = "line"


def log_plot(series: Sequence[Series], *, x_label: str, y_label: str) -> str:
    """Return curves, at most two, on a logarithmic scale as inline SVG with a legend.

    Numbers that have no logarithm are left out.
    """
    shown = [[(i, math.log10(v)) for i, v in enumerate(s.values, 1) if 0 < v < math.inf] for s in series]
    everything = [point for points in shown for point in points] or [(1, 0.0)]
    low, high = math.floor(min(y for _, y in everything)), math.ceil(max(y for _, y in everything))
    frame = _Frame(max(x for x, _ in everything), low, max(high, low + 1))
    marks = [
        _mark(frame, points, s.style, kind) for points, s, kind in zip(shown, series, ("first", "second"), strict=False)
    ]
    legend = "".join(
        f'<i class="{kind}">● {escape(s.name)}</i>' for s, kind in zip(series, ("first", "second"), strict=False)
    )
    description = escape(f"{y_label} over {x_label}")
    return (
        f'<svg class="plot" viewBox="0 0 {frame.width} {frame.height}" role="img" aria-label="{description}">'
        f"{_axes(frame, x_label, y_label)}{''.join(reversed(marks))}</svg>"
        f'<p class="legend">{legend}</p>'
    )


@dataclass(frozen=True)
class _Frame:
    """Places of numbers in a plot."""

    last: int
    low: int
    high: int
    width: int = 480
    height: int = 270
    left: int = 44
    top: int = 24
    right: int = 8
    bottom: int = 40

    def x(self, position: float) -> float:
        share = (position - 1) / max(self.last - 1, 1)
        return round(self.left + share * (self.width - self.left - self.right), 1)

    def y(self, exponent: float) -> float:
        share = (self.high - exponent) / (self.high - self.low)
        return round(self.top + share * (self.height - self.top - self.bottom), 1)


def _axes(frame: _Frame, x_label: str, y_label: str) -> str:
    end, base = frame.width - frame.right, frame.height - frame.bottom
    step = max(1, math.ceil((frame.high - frame.low) / 6))
    pieces = [f'<text x="0" y="10">{escape(y_label)}</text>']
    for exponent in range(frame.low, frame.high + 1, step):
        y = frame.y(exponent)
        pieces.append(f'<line class="grid" x1="{frame.left}" x2="{end}" y1="{y}" y2="{y}"/>')
        pieces.append(f'<text x="{frame.left - 8}" y="{y + 4}" text-anchor="end">{_power(exponent)}</text>')
    pieces += [
        f'<text x="{frame.x(position)}" y="{base + 18}" text-anchor="middle">{position}</text>'
        for position in sorted({1, *_round_positions(frame.last)})
    ]
    pieces.append(f'<text x="{end}" y="{frame.height - 4}" text-anchor="end">{escape(x_label)}</text>')
    return "".join(pieces)


def _power(exponent: int) -> str:
    if -2 <= exponent <= 3:
        return f"{10.0**exponent:g}"
    return f'10<tspan dy="-5" font-size="9">{exponent}</tspan>'


def _round_positions(last: int) -> range:
    """Return about five round numbers up to the last position."""
    rough = max(last / 5, 1)
    unit = 10 ** math.floor(math.log10(rough))
    step = next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= rough)
    return range(step, last + 1, step)


def _mark(frame: _Frame, points: Sequence[tuple[int, float]], style: str, kind: str) -> str:
    places = [(frame.x(x), frame.y(y)) for x, y in points]
    if style == "dots":
        return "".join(f'<circle class="{kind}" cx="{x}" cy="{y}" r="3.2"/>' for x, y in places)
    line = " ".join(f"{x},{y}" for x, y in places)
    return f'<polyline class="line {kind}" style="fill:none" points="{line}"/>'


def _image(picture: Array) -> Any:
    return require("PIL.Image", "cli").fromarray(pixels(picture))


def _data_uri(media_type: str, content: bytes) -> str:
    return f"data:{media_type};base64,{b64encode(content).decode()}"


def _joined(pictures: Sequence[Array], gap: int, axis: int) -> Array:
    opaque = [_with_opacity(picture) for picture in pictures]
    shape = list(opaque[0].shape)
    shape[axis] = gap
    nothing = np.zeros(shape, dtype=opaque[0].dtype)
    pieces = [piece for picture in opaque for piece in (nothing, picture)][1:]
    return np.concatenate(pieces, axis=axis)


def _with_opacity(picture: Array) -> Array:
    """Return red, green, blue and opacity of a grey, a coloured or already such a picture."""
    if picture.ndim == 2:
        picture = np.repeat(picture[..., None], 3, axis=2)
    if picture.shape[2] == 3:
        picture = np.concatenate([picture, np.ones_like(picture[..., :1])], axis=2)
    return picture
