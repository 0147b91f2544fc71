"""Sounds that can be heard on a page, inlined as data URIs."""

from html import escape

from ._pictures import data_uri

MEDIA_TYPES = {
    ".flac": "audio/flac",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".wav": "audio/wav",
}
"""Of sound files, by their suffixes."""


def player(sound: bytes, suffix: str, description: str) -> str:
    """Return a player for the content of a sound file with such a suffix."""
    source = data_uri(MEDIA_TYPES[suffix], sound)
    return f'<audio controls preload="metadata" aria-label="{escape(description)}" src="{source}"></audio>'
