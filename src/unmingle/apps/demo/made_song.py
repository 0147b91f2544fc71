"""A made song with known voice and music, separated by robust PCA, to be heard on the page."""

import io
import wave
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from ..._types import Float32Array
from ...metrics import nsdr
from ...report.pictures import image, picture_rows
from ...report.pieces import figure, heading, paragraph, player
from ...synth import Song, song
from ..audio import Stems, split
from ..audio.report import spectrograms

_SECONDS = 8.0
"""Length of the song."""


@dataclass(frozen=True, eq=False)
class SongDemo:
    """A song, its parts, and how much nearer to the truth than the mixture they are."""

    song: Song
    stems: Stems
    gains: tuple[float, float]
    """Decibels, of voice and music."""
    seconds: float


def separate_song(seed: int) -> SongDemo:
    """Make the song and separate it; nothing is trained."""
    made = song(_SECONDS, random_state=seed)
    split(made.mixture[: made.rate], made.rate, method="pcp")  # compiles what is not compiled yet
    begin = perf_counter()
    stems = split(made.mixture, made.rate, method="pcp")
    seconds = perf_counter() - begin
    voice, music = nsdr(np.stack([made.voice, made.music]), np.stack(stems), made.mixture)
    return SongDemo(made, stems, (float(voice), float(music)), seconds)


def summarise_song(demo: SongDemo) -> dict[str, float]:
    """The results in numbers."""
    return {"length": _SECONDS, "voice_gain": demo.gains[0], "music_gain": demo.gains[1], "seconds": demo.seconds}


def write_song(demo: SongDemo) -> list[str]:
    """The part of the page on the song, with players."""
    parts = {"the song": demo.song.mixture, "voice": demo.stems.voice, "music": demo.stems.music}
    pictures = spectrograms({name: samples[:, None] for name, samples in parts.items()}, demo.song.rate)
    columns = {
        name: [
            image(pictures[name] / 255.0, f"spectrogram of {name}"),
            player(encode_wav(samples, demo.song.rate), ".wav", name),
        ]
        for name, samples in parts.items()
    }
    text = (
        "The same with sound. A band repeats its chords, so its sound repeats; a voice hardly repeats itself. Listen: "
        f"the voice is {demo.gains[0]:.1f} dB nearer to the true voice than the song is, the music {demo.gains[1]:.1f} "
        f"dB nearer to the true music (10 dB would be a tenth of the error). It took {demo.seconds:.1f} s for "
        f"{_SECONDS:g} seconds, by robust PCA and nothing else. For real songs unmingle brings a trained network: "
        "unmingle audio song.mp3 -o stems."
    )
    caption = "Brighter is louder; time goes to the right, pitch upwards."
    return [
        heading("A song: the voice, and the music without it"),
        paragraph(text),
        figure(picture_rows(columns), caption),
    ]


def encode_wav(samples: Float32Array, rate: int) -> bytes:
    """The content of a WAV file, 16 bits; the standard library suffices for it."""
    content = io.BytesIO()
    with wave.open(content, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((32767 * np.clip(samples, -1, 1)).round().astype("<i2").tobytes())
    return content.getvalue()
