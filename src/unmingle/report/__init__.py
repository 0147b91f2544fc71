"""Reports as single HTML pages: text, tables, pictures, sounds and curves in one file that needs nothing else.

Functions return pieces of HTML, unless they say otherwise.
"""

from ._curves import WHOLE, Axis, Series, curves, shades
from ._page import facts, figure, heading, key_figures, page, paragraph, style_sheet, table
from ._pictures import (
    contact_sheet,
    data_uri,
    film,
    film_strip,
    image,
    judged_mask,
    photo,
    picture_rows,
    pixels,
    png,
    side_by_side,
    titled_sheet,
)
from ._players import player
from ._words import clock, counted, share

__all__ = [
    "WHOLE",
    "Axis",
    "Series",
    "clock",
    "contact_sheet",
    "counted",
    "curves",
    "data_uri",
    "facts",
    "figure",
    "film",
    "film_strip",
    "heading",
    "image",
    "judged_mask",
    "key_figures",
    "page",
    "paragraph",
    "photo",
    "picture_rows",
    "pixels",
    "player",
    "png",
    "shades",
    "share",
    "side_by_side",
    "style_sheet",
    "table",
    "titled_sheet",
]
