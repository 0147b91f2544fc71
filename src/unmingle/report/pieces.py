"""Pages, and the pieces of HTML they are made of: text, tables, figures, sounds; all text is escaped on the way in."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files

MEDIA_TYPES = {
    ".flac": "audio/flac",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".wav": "audio/wav",
}
"""Media types of sound files, by their suffixes."""


@cache
def style_sheet() -> str:
    """Return the rules of every page: its colours, its fonts, and how its pieces look."""
    return files(__package__).joinpath("style.css").read_text(encoding="utf-8")


def page(title: str, *parts: str) -> str:
    """Return a whole page made of the parts."""
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>\n{style_sheet()}</style>"
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


def figure(content: str, caption: str) -> str:
    """Return a piece of the page with a caption below it."""
    return f"<figure>{content}<figcaption>{escape(caption)}</figcaption></figure>"


def player(sound: bytes, suffix: str, description: str) -> str:
    """Return a player for the content of a sound file with such a suffix."""
    source = data_uri(MEDIA_TYPES[suffix], sound)
    return f'<audio controls preload="metadata" aria-label="{escape(description)}" src="{source}"></audio>'


def data_uri(media_type: str, content: bytes) -> str:
    """Return the content of a file as an address that needs no file."""
    return f"data:{media_type};base64,{b64encode(content).decode()}"
