"""The page on which a song and its stems can be heard and seen, and the words and pictures on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ... import __version__
from ..._types import Array
from ...media import MediaError
from ...media.images import encode_jpeg
from ...media.write_sound import encode_sound
from ...report.numbers_in_words import clock, share
from ...report.pieces import data_uri, facts, heading, page, paragraph, player
from ...report.plots import Axis, shades
from ...store import write_atomically
from ._excerpt import LENGTH, Excerpt
from .stft import Frames, Transform

if TYPE_CHECKING:
    from .songs import SeparatedSong

_COLOURS = np.array(
    [[13, 8, 35], [62, 18, 105], [128, 37, 125], [196, 60, 99], [242, 120, 75], [252, 189, 110], [252, 246, 200]]
)
"""Of a spectrogram, from the darkest to the brightest."""


@dataclass(frozen=True)
class SongPage:
    """How a song looks and sounds on its page."""

    depth: float = 70.0
    """Decibels from the brightest to the darkest of a spectrogram."""
    most_columns: int = 900
    """Pixels that a spectrogram is wide at most."""
    highest: float = 8000.0
    """Hertz up to which spectra are shown: those that decide."""
    peak: float = 0.95
    """Loudest sample of a player; lossy formats may add a little."""
    suffixes: tuple[str, ...] = (".mp3", ".flac", ".wav")
    """Formats of players, of which the first is taken that holds such a sound; every browser plays them."""


PAGE = SongPage()


def report_page(song: "SeparatedSong") -> str:
    """The whole page, with sounds and pictures in it.

    Parameters
    ----------
    song : SeparatedSong
        A song with an excerpt, which `separate` keeps where a report is wanted.

    Returns
    -------
    str
        HTML that needs no other file.
    """
    if song.excerpt is None:
        raise ValueError("A report needs sounds to play; separate the song with report=True.")
    words = song.summary_text()
    end = [paragraph(f"The song ends early: {song.incomplete}")] if song.incomplete is not None else []
    return page(
        f"{song.source.name}: voice and music",
        f"<h1>{escape(song.source.name)}</h1>",
        paragraph(f"{words['song']}, separated into voice and music.", "lead"),
        *end,
        paragraph(_which(song.excerpt, song.seconds)),
        paragraph(f"Pictures: brighter is louder, black {PAGE.depth:g} dB below the loudest moment of all three."),
        *_sounds(song.excerpt),
        heading("In numbers"),
        facts(words),
        f"<footer>Made by unmingle {__version__}. Voice and music add up to the mixture.</footer>",
    )


def write_report(song: "SeparatedSong", path: str | PathLike[str]) -> Path:
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
    with write_atomically(place) as temporary:
        temporary.write_text(report_page(song), encoding="utf-8")
    return place


def _which(excerpt: Excerpt, seconds: float) -> str:
    """Tell which part of the song is on the page."""
    if excerpt.whole:
        return "Below is the whole song."
    start, end = (clock(time) for time in (excerpt.start, excerpt.start + excerpt.seconds))
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
        sound, suffix = _encoded(samples, excerpt.rate, min(1.0, PAGE.peak / peak) if peak else 1.0)
        picture = data_uri("image/jpeg", encode_jpeg(pictures[name], quality=85))
        pieces += [
            heading(name.capitalize()),
            player(sound, suffix, f"{name} of the excerpt"),
            _spectrogram(picture, name, excerpt, min(PAGE.highest, excerpt.rate / 2)),
        ]
    return pieces


def _encoded(samples: Array, rate: int, gain: float) -> tuple[bytes, str]:
    """The content of a sound file, and its suffix."""
    for suffix in PAGE.suffixes[:-1]:
        try:
            return encode_sound(samples, rate, suffix, gain=gain), suffix
        except MediaError:  # such a rate it does not hold
            continue
    return encode_sound(samples, rate, PAGE.suffixes[-1], gain=gain), PAGE.suffixes[-1]


def _spectrogram(picture: str, name: str, excerpt: Excerpt, highest: float) -> str:
    across = Axis("seconds from the start of the excerpt" if not excerpt.whole else "seconds")
    return shades(picture, across, Axis("kHz"), (excerpt.seconds, highest / 1000), f"spectrogram of the {name}")


def summary_text(song: "SeparatedSong") -> dict[str, str]:
    """What is worth knowing of a separated song, each line with its name."""
    channels = {1: "mono", 2: "stereo"}.get(song.channels, f"{song.channels} channels")
    words = {
        "song": f"{clock(song.seconds, 1)} of {channels} sound at {song.rate} Hz",
        "method": f"{song.method.label}: {song.method.summary}",
        "voice": f"{share(song.voice_share)} of the energy",
        "high-pass": "none" if song.high_pass is None else f"no voice below {song.high_pass:g} Hz",
        "gain": "1, the stems are as loud as in the song"
        if song.gain == 1.0
        else f"{song.gain:.4g} for all stems alike, so that none is clipped",
    }
    if song.method.streams:
        latency = Frames.of(song.rate).span
        words["latency"] = f"{1000 * latency / song.rate:.0f} ms as a stream, {latency} samples"
    return words


def spectrograms(sounds: Mapping[str, Array], rate: float) -> dict[str, Array]:
    """Pictures (bins, columns, 3) of sounds (n, channels) up to 8 kHz, high frequencies up, at a common scale.

    Brighter is louder; black is 70 dB below the loudest moment of all.

    Parameters
    ----------
    sounds : mapping of str to array of shape (n, channels)
        Sounds by name.
    rate : float
        Samples a second.

    Returns
    -------
    dict of str to uint8 array
    """
    frames = Frames.of(rate)
    levels = {name: _decibels(samples, frames) for name, samples in sounds.items()}
    top = max(float(level.max()) for level in levels.values())
    return {name: _coloured(level, top) for name, level in levels.items()}


def _decibels(samples: Array, frames: Frames) -> Array:
    """Power of the frames in decibels, (bins, columns), the lowest bin first; at least one column."""
    transform = Transform.of(frames, 1, np.float32)
    end = transform.silence(frames.window - len(samples) % frames.hop)
    signal = np.concatenate([transform.silence_before(), samples.mean(axis=1, keepdims=True), end])
    spectra = transform.analyse(signal, transform.count(signal))
    power = np.abs(spectra[:, 0, : frames.looked_at]).T ** 2
    together = -(-power.shape[1] // PAGE.most_columns)
    power = power[:, : power.shape[1] // together * together]
    power = power.reshape(len(power), -1, together).mean(axis=2)
    return 10.0 * np.log10(np.maximum(power, 1e-30))


def _coloured(level: Array, top: float) -> Array:
    """A picture of levels, high frequencies up."""
    shares = np.clip((level[::-1] - top) / PAGE.depth + 1.0, 0.0, 1.0)
    steps = np.linspace(0.0, 1.0, len(_COLOURS))
    return np.stack([np.interp(shares, steps, channel) for channel in _COLOURS.T], axis=-1).round().astype(np.uint8)
