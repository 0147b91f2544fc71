"""Pictures, films and strips of them, inlined as data URIs."""

from collections.abc import Mapping, Sequence
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from .._types import AnyArray, BoolArray, ByteArray, Float32Array
from .._validation import require
from .pieces import data_uri

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage

FALSE_ALARM, MISS = (0.94, 0.5, 0.2), (0.25, 0.55, 0.85)
"""Red, green and blue of what a mask has wrong: orange for a false alarm, blue for a miss."""


def pixels(picture: AnyArray) -> ByteArray:
    """Turn brightness or colour in [0, 1] into bytes."""
    return np.rint(255.0 * np.clip(picture, 0.0, 1.0)).astype(np.uint8)


def png(picture: AnyArray) -> bytes:
    """Return a picture in [0, 1], grey or with 3 or 4 channels in its last axis, as a PNG file."""
    buffer = BytesIO()
    _to_pillow(picture).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def image(picture: AnyArray, description: str) -> str:
    """Return a picture as an element of the page."""
    return f'<img src="{data_uri("image/png", png(picture))}" alt="{escape(description)}">'


def photo(jpeg: bytes, description: str) -> str:
    """Return the content of a JPEG file as an element of the page."""
    return f'<img src="{data_uri("image/jpeg", jpeg)}" alt="{escape(description)}">'


def film(pictures: Sequence[AnyArray], still: AnyArray, description: str, *, frames_per_second: float = 12.0) -> str:
    """Return a moving picture in a loop; readers who ask their system for less motion see the still."""
    first, *others = [_to_pillow(picture) for picture in pictures]
    buffer = BytesIO()
    duration = round(1000.0 / frames_per_second)
    first.save(buffer, "WEBP", save_all=True, append_images=others, duration=duration, loop=0, quality=75, method=2)
    quiet = data_uri("image/png", png(still))
    moving = data_uri("image/webp", buffer.getvalue())
    return (
        f'<picture><source media="(prefers-reduced-motion: reduce)" srcset="{quiet}">'
        f'<img src="{moving}" alt="{escape(description)}"></picture>'
    )


def film_strip(columns: Mapping[str, Sequence[AnyArray]], frames: Sequence[int]) -> str:
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


def judged_mask(mask: BoolArray, truth: BoolArray) -> Float32Array:
    """Return a mask as a picture: white is right, orange a false alarm, blue a miss."""
    picture = np.zeros((*mask.shape, 3), dtype=np.float32)
    picture[mask & truth] = 1.0
    picture[mask & ~truth] = FALSE_ALARM
    picture[~mask & truth] = MISS
    return picture


def side_by_side(*pictures: AnyArray, gap: int = 3) -> AnyArray:
    """Return pictures of the same height as one, with nothing (transparent pixels) between them."""
    return _join(pictures, gap, axis=1)


def contact_sheet(columns: Mapping[str, Sequence[AnyArray]], gap: int = 3) -> AnyArray:
    """Return the pictures of a film strip as one."""
    rows = zip(*columns.values(), strict=True)
    return _join([_join(row, gap, axis=1) for row in rows], gap, axis=0)


def titled_sheet(columns: Mapping[str, Sequence[AnyArray]], *, enlarge: int = 2, gap: int = 6) -> AnyArray:
    """Return the pictures of a film strip as one on white paper, larger by a factor, under the names of their columns.

    The names are written as large as the narrowest column allows.
    """
    draw, fonts = require("PIL.ImageDraw", "cli"), require("PIL.ImageFont", "cli")
    large = {name: [_enlarge(picture, enlarge) for picture in pictures] for name, pictures in columns.items()}
    sheet = _to_pillow(contact_sheet(large, gap))
    widths = [pictures[0].shape[1] for pictures in large.values()]
    longest = max(fonts.load_default(16).getlength(name) for name in columns)
    size = max(1, int(min(16, 16 * min(widths) / longest)))
    head = 2 * size
    paper = require("PIL.Image", "cli").new("RGB", (sheet.width + 2 * gap, sheet.height + head + gap), "white")
    paper.paste(sheet, (gap, head), sheet)
    left = gap
    for name, width in zip(columns, widths, strict=True):
        middle = (left + width / 2, head - gap)
        draw.Draw(paper).text(middle, name, fill="black", font=fonts.load_default(size), anchor="ms")
        left += width + gap
    return np.asarray(paper) / 255.0


def _enlarge(picture: AnyArray, factor: int) -> AnyArray:
    return picture.repeat(factor, axis=0).repeat(factor, axis=1)


def _to_pillow(picture: AnyArray) -> "PillowImage":
    return require("PIL.Image", "cli").fromarray(pixels(picture))


def _join(pictures: Sequence[AnyArray], gap: int, axis: int) -> AnyArray:
    opaque = [_add_opacity(picture) for picture in pictures]
    shape = list(opaque[0].shape)
    shape[axis] = gap
    nothing = np.zeros(shape, dtype=opaque[0].dtype)
    pieces = [piece for picture in opaque for piece in (nothing, picture)][1:]
    return np.concatenate(pieces, axis=axis)


def _add_opacity(picture: AnyArray) -> AnyArray:
    """Return red, green, blue and opacity of a grey, a coloured or already such a picture."""
    if picture.ndim == 2:
        picture = np.repeat(picture[..., None], 3, axis=2)
    if picture.shape[2] == 3:
        picture = np.concatenate([picture, np.ones_like(picture[..., :1])], axis=2)
    return picture
