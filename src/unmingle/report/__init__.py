"""Reports as single HTML pages: text, tables, pictures, sounds and curves in one file that needs nothing else.

Functions return pieces of HTML, unless they say otherwise.
"""

from .numbers_in_words import clock, counted, share
from .pictures import (
    contact_sheet,
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
from .pieces import data_uri, facts, figure, heading, key_figures, page, paragraph, player, style_sheet, table
from .plots import WHOLE, Axis, Series, curves, shades

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
