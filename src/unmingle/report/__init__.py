"""Reports as single HTML pages: text, tables, pictures and curves in one file that needs nothing else.

Functions return pieces of HTML, unless they say otherwise.
"""

from ._curves import WHOLE, Axis, Series, curves
from ._page import facts, figure, heading, key_figures, page, paragraph, style_sheet, table
from ._pictures import (
    contact_sheet,
    film,
    film_strip,
    image,
    photo,
    picture_rows,
    pixels,
    png,
    side_by_side,
    titled_sheet,
)

__all__ = [
    "WHOLE",
    "Axis",
    "Series",
    "contact_sheet",
    "curves",
    "facts",
    "figure",
    "film",
    "film_strip",
    "heading",
    "image",
    "key_figures",
    "page",
    "paragraph",
    "photo",
    "picture_rows",
    "pixels",
    "png",
    "side_by_side",
    "style_sheet",
    "table",
    "titled_sheet",
]
