"""The page on which a song and its stems can be heard and seen."""

from html import escape
from os import PathLike, fspath
from pathlib import Path

import numpy as np

from ... import __version__, report
from ..._types import AnyArray
from ...media import MediaError
from ...media.images import encode_jpeg
from ...media.write_sound import encode_sound
from ...store import write_atomically
from ._excerpt import LENGTH, Excerpt
from ._files import SeparatedSong
from ._spectrogram import DEPTH, spectrograms

_HIGHEST = 8000.0
"""Hertz up to which spectra are shown: those that decide."""
_PEAK = 0.95
"""Loudest sample of a player; lossy formats may add a little."""
_SUFFIXES = (".mp3", ".flac", ".wav")
"""Formats of players, the first that holds such a sound; every browser plays them."""


def report_page(song: SeparatedSong) -> str:
    """The whole page, with sounds and pictures in it.

    Parameters
    ----------
    song : SeparatedSong
        A song with an excerpt: `separate_file` with ``excerpt=True`` keeps it.

    Returns
    -------
    str
        HTML that needs no other file.
    """
    if song.excerpt is None:
        raise ValueError("A report needs sounds to play; separate the file with excerpt=True.")
    facts = song.facts
    end = [report.paragraph(f"The song ends early: {song.incomplete}")] if song.incomplete is not None else []
    return report.page(
        f"{song.source.name}: voice and music",
        f"<h1>{escape(song.source.name)}</h1>",
        report.paragraph(f"{facts['song']}, taken apart into voice and music.", "lead"),
        *end,
        report.paragraph(_which(song.excerpt, song.seconds)),
        report.paragraph(f"Pictures: brighter is louder, black {DEPTH:g} dB below the loudest moment of all three."),
        *_sounds(song.excerpt),
        report.heading("In numbers"),
        report.facts(facts),
        f"<footer>Made by unmingle {__version__}. Voice and music add up to the mixture.</footer>",
    )


def write_report(song: SeparatedSong, path: str | PathLike[str]) -> Path:
    """Write the page of a song; an existing file is replaced once the new one is complete.

    Parameters
    ----------
    song : SeparatedSong
        As `report_page` takes it.
    path : path
        Where to.

    Returns
    -------
    Path
        The file.
    """
    place = Path(fspath(path))
    with write_atomically(place) as aside:
        aside.write_text(report_page(song), encoding="utf-8")
    return place


def _which(excerpt: Excerpt, seconds: float) -> str:
    """Tell which part of the song is on the page."""
    if excerpt.whole:
        return "Below is the whole song."
    start, end = (report.clock(time) for time in (excerpt.start, excerpt.start + excerpt.seconds))
    return (
        f"Below are {LENGTH:g} of {seconds:.0f} seconds, from {start} to {end}: where the voice is strongest. "
        "The files of the stems hold the whole song."
    )


def _sounds(excerpt: Excerpt) -> list[str]:
    """A player and a spectrogram of each part, at a common scale."""
    stems = {"voice": excerpt.voice, "music": excerpt.music}
    parts = {"mixture": excerpt.voice + excerpt.music, **stems}
    if excerpt.voice.shape[1] > 2:  # players have two channels at most
        parts = {name: samples.mean(axis=1, keepdims=True) for name, samples in parts.items()}
    peak = max(float(np.abs(samples).max(initial=0.0)) for samples in parts.values())
    pictures = spectrograms(parts, excerpt.rate)
    pieces = []
    for name, samples in parts.items():
        sound, suffix = _encoded(samples, excerpt.rate, min(1.0, _PEAK / peak) if peak else 1.0)
        picture = report.data_uri("image/jpeg", encode_jpeg(pictures[name], quality=85))
        pieces += [
            report.heading(name.capitalize()),
            report.player(sound, suffix, f"{name} of the excerpt"),
            _spectrogram(picture, name, excerpt, min(_HIGHEST, excerpt.rate / 2)),
        ]
    return pieces


def _encoded(samples: AnyArray, rate: int, gain: float) -> tuple[bytes, str]:
    """The content of a sound file, and its suffix."""
    for suffix in _SUFFIXES[:-1]:
        try:
            return encode_sound(samples, rate, suffix, gain=gain), suffix
        except MediaError:  # such a rate it does not hold
            continue
    return encode_sound(samples, rate, _SUFFIXES[-1], gain=gain), _SUFFIXES[-1]


def _spectrogram(picture: str, name: str, excerpt: Excerpt, highest: float) -> str:
    across = report.Axis("seconds from the start of the excerpt" if not excerpt.whole else "seconds")
    return report.shades(
        picture, across, report.Axis("kHz"), (excerpt.seconds, highest / 1000), f"spectrogram of the {name}"
    )
