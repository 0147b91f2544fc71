"""Separate a song
==================

Separate a song into voice and music: exactly, as a stream, and with the help of a passage without voice.

Run it with ``python examples/separate_a_song.py [FOLDER]``; with a folder, the song and its stems are written there as
MP3 files to listen to, with their spectrograms (needs ``pip install av soundfile pillow``).
"""

import sys
from pathlib import Path

import numpy as np

from unmingle import metrics
from unmingle.apps import audio
from unmingle.apps.audio.report import spectrograms
from unmingle.synth import song

# Any samples would do, such as unmingle.media.read_sound("song.mp3"); this song knows its stems. Its voice is not that
# of a person: methods that learn from the song itself suit it better than the default, a network that knows people.
made = song(12.0, random_state=2)
truth = np.stack([made.voice, made.music])


def tell(name: str, stems: audio.Stems) -> None:
    """How many decibels the voice has gained over the song as it is."""
    gained = metrics.nsdr(truth, np.stack(stems), made.mixture)
    print(f"{name:34s} voice {gained[0]:+5.1f} dB, music {gained[1]:+5.1f} dB")


exact = audio.split(made.mixture, made.rate, method="pcp")
tell("exact robust PCA", exact)
tell("robust NMF", audio.split(made.mixture, made.rate, method="nmf"))

# A stream: blocks of any length in, as many samples out, a little later.
stream = audio.Stream(made.rate, method="adapt")
blocks = [stream.push(made.mixture[i : i + 512]) for i in range(0, made.mixture.size, 512)]
blocks.append(stream.flush())
live = audio.Stems(*(np.concatenate(parts)[stream.latency :] for parts in zip(*blocks, strict=True)))
tell(f"as a stream, {1000 * stream.latency / made.rate:.0f} ms late", live)

# Nobody sings in the first bar: learn the music from it.
bar = 4 * made.beat
tell("knowing where nobody sings", audio.split(made.mixture, made.rate, method="adapt", no_voice=(0.0, bar)))

print(f"\nstems add up to the song to {np.abs(exact.voice + exact.music - made.mixture).max():.0e}")

if len(sys.argv) > 1:
    from unmingle.media.write_sound import encode_sound
    from unmingle.report.pictures import png, titled_sheet

    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    sounds = {"song": made.mixture, "song.voice": exact.voice, "song.music": exact.music}
    for name, sound in sounds.items():
        (folder / f"{name}.mp3").write_bytes(encode_sound(sound, made.rate))
    pictures = spectrograms({name: sound[:, None] for name, sound in sounds.items()}, made.rate)
    sheet = titled_sheet({name: [picture[-300:, ::2] / 255] for name, picture in pictures.items()}, enlarge=1)
    (folder / "song.png").write_bytes(png(sheet))
    print(f"listen to {folder}/song.mp3, song.voice.mp3 and song.music.mp3, and look at song.png")
