"""Voice and music of songs: the second table of the paper, and what goes beyond it."""

from ._clips import Clip, KnownSong, find_clips
from ._run import reproduce_audio

__all__ = ["Clip", "KnownSong", "find_clips", "reproduce_audio"]
