"""The report of the demo."""

from os import PathLike
from pathlib import Path

from ... import __version__, store
from ...report import pieces
from ...report.pictures import contact_sheet, png
from ._demo import Demo
from ._song import song_section
from ._street_page import solved_section, street_pictures, street_section
from ._table_page import table_section


def write_report(demo: Demo, folder: str | PathLike[str]) -> Path:
    """Write `report.html` and, for use elsewhere, its film strip as `film_strip.png`; return the path of the report."""
    folder = Path(folder)
    columns = street_pictures(demo.street)
    with store.write_atomically(folder / "film_strip.png") as aside:
        aside.write_bytes(png(contact_sheet(columns)))
    path = folder / "report.html"
    page = pieces.page(
        "What repeats, what stands out",
        "<h1>What repeats, what stands out</h1>",
        pieces.paragraph(_LEAD, "lead"),
        *street_section(demo.street, columns),
        *table_section(demo.table),
        *song_section(demo.song),
        *solved_section(demo.street),
        f"<footer>Made by unmingle {__version__} with <code>{demo.command}</code></footer>",
    )
    with store.write_atomically(path) as aside:
        aside.write_text(page, encoding="utf-8")
    return path


_LEAD = (
    "A film, a table and a song. All are made, so that the truth is known; nothing was trained on them, and no "
    "threshold of ours was set by hand."
)
