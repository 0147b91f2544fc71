"""A separated song in words: the same in the terminal and in the report."""

from typing import TYPE_CHECKING

from ... import report
from ._stft import Frames

if TYPE_CHECKING:
    from ._files import SeparatedSong


def song_facts(song: "SeparatedSong") -> dict[str, str]:
    """What is worth knowing of a separated song, each line with its name."""
    channels = {1: "mono", 2: "stereo"}.get(song.channels, f"{song.channels} channels")
    told = {
        "song": f"{report.clock(song.seconds, 1)} of {channels} sound at {song.rate} Hz",
        "method": f"{song.method.label}: {song.method.summary}",
        "voice": f"{report.share(song.voice_share)} of the energy",
        "high-pass": "none" if song.high_pass is None else f"no voice below {song.high_pass:g} Hz",
        "gain": "1, the stems are as loud as in the song"
        if song.gain == 1.0
        else f"{song.gain:.4g} for all stems alike, so that none is clipped",
    }
    if song.method.streams:
        latency = Frames.of(song.rate).span
        told["latency"] = f"{1000 * latency / song.rate:.0f} ms as a stream, {latency} samples"
    return told
